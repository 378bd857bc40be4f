/* broker.c - see broker.h. Called by daemon.c and process.c. */
#include "supervisor/paiged/process/broker.h"
#include "common/base/alloc.h"

#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "supervisor/paiged/process/broker_connect.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Interrupts a connect that blocks; means nothing to anybody else. */
#define DEADLINE_SIGNAL SIGRTMIN
#define REFUSALS_PAUSE_MS 1000

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* A worker that may ask. The thread's, but for the list. */
struct asker {
	LIST_ENTRY(asker) link;
	int listener, pidfd;
	struct broker_rules rules;
};

/* How many there were, and what the last one was. */
struct refusals {
	unsigned count;
	int error;
	enum worker_id worker;
	char path[sizeof(struct sockaddr_un)];
};

struct broker {
	pthread_t thread;
	bool runs;
	int epoll_fd;
	int wake_fd; /* readable: the thread ends */
	timer_t deadline;
	struct seccomp_notif *call;
	struct seccomp_notif_resp *reply;
	struct seccomp_notif_sizes sizes;
	int refused_fd;		       /* readable: something was refused and not told */
	struct event *telling, *pause; /* one of them waits */
	pthread_mutex_t lock;	       /* of what follows */
	LIST_HEAD(, asker) askers;
	struct refusals refused; /* since it was told last */
};

/* ---- what the kernel lets us do ---- */

/* A filter for all threads that has a listener. */
static bool kernel_has_listeners(void)
{
	const unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC |
				    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    SECCOMP_FILTER_FLAG_TSYNC_ESRCH;

	/* EFAULT: it knows the flags and misses the filter. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 &&
	       errno == EFAULT;
}

static bool may_look_into(pid_t child, int fd)
{
	static const char here = 'x';
	char there = 0;
	struct iovec to = {&there, 1}, from = {(void *)(uintptr_t)&here, 1};
	AUTO_FD pidfd = pidfd_open(child, 0);
	AUTO_FD taken = pidfd < 0 ? -1 : pidfd_getfd(pidfd, fd, 0);

	return taken >= 0 && process_vm_readv(child, &to, 1, &from, 1, 0) == 1 &&
	       there == here;
}

bool broker_may_look_into(int pidfd)
{
	/* The kernel asks for the right before it looks for the descriptor. */
	AUTO_FD fd = pidfd_getfd(pidfd, STDIN_FILENO, 0);

	return fd >= 0 || errno != EPERM;
}

/* Yama and containers can forbid it. */
static bool may_look_into_children(int fd)
{
	pid_t parent = getpid(), child = fork();
	bool may;

	if (child == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
			for (;;)
				pause();
		_exit(0);
	}
	if (child < 0)
		return false;
	may = may_look_into(child, fd);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return may;
}

/* ---- one call of a worker ---- */

/* Of the worker's memory, once. Its length, or -errno. */
static int copy_address(const struct seccomp_notif *call, struct sockaddr_storage *to)
{
	const uint32_t len = (uint32_t)call->data.args[2];
	struct iovec here = {to, len};
	struct iovec there = {(void *)(uintptr_t)call->data.args[1], len};

	if (len < sizeof(to->ss_family) || len > sizeof(*to))
		return -EINVAL;
	if (process_vm_readv((pid_t)call->pid, &here, 1, &there, 1, 0) == (ssize_t)len)
		return (int)len;
	return errno == EPERM ? -EPERM : -EFAULT;
}

/* The loop logs it. */
static void note_refusal(struct broker *b, const struct asker *w,
	const struct sockaddr_storage *to, int error)
{
	const struct sockaddr_un *a = (const struct sockaddr_un *)to;
	bool first;

	pthread_mutex_lock(&b->lock);
	first = b->refused.count == 0;
	b->refused = (struct refusals){b->refused.count + 1, error, w->rules.self, {0}};
	if (a->sun_family == AF_UNIX)
		memcpy(b->refused.path, a->sun_path, sizeof(a->sun_path));
	pthread_mutex_unlock(&b->lock);
	/* It cannot fail: the loop takes what was added before. */
	if (first)
		(void)eventfd_write(b->refused_fd, 1);
}

static void set_deadline(struct broker *b, long ms)
{
	const struct timespec every = {ms / 1000, ms % 1000 * 1000000};

	/* Again and again: the first signal may come before connect waits. */
	(void)timer_settime(b->deadline, 0, &(struct itimerspec){every, every}, NULL);
}

/* 0 or -errno for the worker. */
static int serve(struct broker *b, struct asker *w, const struct seccomp_notif *call)
{
	struct sockaddr_storage to = {0};
	int len = copy_address(call, &to);
	AUTO_FD fd = -1;
	int error;

	if (len < 0)
		return len;
	fd = pidfd_getfd(w->pidfd, (int)call->data.args[0], 0);
	if (fd < 0)
		return -errno;
	/* What was read is the worker's when it still waits. */
	if (ioctl(w->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) != 0)
		return -EINTR;
	set_deadline(b, BROKER_CONNECT_MS);
	error = broker_connect(&w->rules, fd, &to, (socklen_t)len);
	set_deadline(b, 0);
	if (error == -EPERM || error == -BROKER_TOO_MANY)
		note_refusal(b, w, &to, -error);
	return error == -EINTR ? -ETIMEDOUT : error;
}

/* False when no more will come. */
static bool answer(struct broker *b, struct asker *w)
{
	memset(b->call, 0, b->sizes.seccomp_notif);
	memset(b->reply, 0, b->sizes.seccomp_notif_resp);
	if (ioctl(w->listener, SECCOMP_IOCTL_NOTIF_RECV, b->call) != 0)
		return errno == EINTR || errno == ENOENT; /* it waits no more */
	b->reply->id = b->call->id;
	b->reply->error = b->call->data.nr == SYS_connect ? serve(b, w, b->call) : -EPERM;
	(void)ioctl(w->listener, SECCOMP_IOCTL_NOTIF_SEND, b->reply);
	return true;
}

/* ---- the thread ---- */

static void asker_free(struct broker *b, struct asker *w)
{
	pthread_mutex_lock(&b->lock);
	LIST_REMOVE(w, link);
	pthread_mutex_unlock(&b->lock);
	/* Closing is not enough: a child that is being launched has it open, too. */
	(void)epoll_ctl(b->epoll_fd, EPOLL_CTL_DEL, w->listener, NULL);
	close(w->listener);
	close(w->pidfd);
	free(w);
}

static void *run(void *arg)
{
	struct broker *b = arg;
	struct sigevent by_signal = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = DEADLINE_SIGNAL};
	struct epoll_event event;
	sigset_t mask;

	sigfillset(&mask);
	sigdelset(&mask, DEADLINE_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	by_signal.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &by_signal, &b->deadline) != 0)
		abort();
	for (;;) {
		/* One at a time: the kernel puts it behind the others. */
		int n = epoll_wait(b->epoll_fd, &event, 1, -1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !event.data.ptr)
			break;
		if (!(event.events & EPOLLIN) || !answer(b, event.data.ptr))
			asker_free(b, event.data.ptr);
	}
	timer_delete(b->deadline);
	return NULL;
}

/* ---- on the loop ---- */

/* Takes what was refused. */
static struct refusals take_refusals(struct broker *b)
{
	struct refusals taken;
	eventfd_t added;

	(void)eventfd_read(b->refused_fd, &added);
	pthread_mutex_lock(&b->lock);
	taken = b->refused;
	b->refused.count = 0;
	pthread_mutex_unlock(&b->lock);
	return taken;
}

/* Told at once, and then not before the end of a pause: a worker that was taken over must
 * not fill the log. */
static void on_telling(EVENT_UNUSED, void *arg)
{
	struct broker *b = arg;
	struct refusals refused = take_refusals(b);

	if (refused.count > 0)
		log_warn("a worker tried to connect to what it may not, or too often",
			"name", "%s", worker_infos[refused.worker].name, "path", "%s",
			refused.path, "error", "%s", strerror(refused.error), "times",
			"%u", refused.count, NULL);
	event_add_ms(b->pause, REFUSALS_PAUSE_MS);
}

static void on_pause_over(EVENT_UNUSED, void *arg)
{
	struct broker *b = arg;

	event_add(b->telling, NULL);
}

int broker_take(struct broker *b, const struct broker_client *client)
{
	struct asker *w = xcalloc(1, sizeof(*w));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = w};
	int error;

	w->listener = client->listener;
	w->pidfd = client->pidfd;
	w->rules.self = client->worker;
	w->rules.uses_network = client->uses_network;
	snprintf(w->rules.runtime_dir, sizeof(w->rules.runtime_dir), "%s",
		client->runtime_dir);
	pthread_mutex_lock(&b->lock);
	LIST_INSERT_HEAD(&b->askers, w, link);
	pthread_mutex_unlock(&b->lock);
	/* From here on it is the thread's. */
	if (epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, w->listener, &event) == 0)
		return 0;
	error = -errno;
	asker_free(b, w);
	return error;
}

static void on_deadline(int signal)
{
	(void)signal;
}

static bool prepare(struct broker *b, struct event_base *base)
{
	const struct sigaction deadline = {.sa_handler = on_deadline};
	struct epoll_event wake = {.events = EPOLLIN};

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &b->sizes) != 0)
		return false;
	b->call = calloc(1, b->sizes.seccomp_notif + sizeof(*b->call));
	b->reply = calloc(1, b->sizes.seccomp_notif_resp + sizeof(*b->reply));
	b->wake_fd = eventfd(0, EFD_CLOEXEC);
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	b->refused_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->telling = event_new(base, b->refused_fd, EV_READ, on_telling, b);
	b->pause = evtimer_new(base, on_pause_over, b);
	return b->call && b->reply && b->wake_fd >= 0 && b->epoll_fd >= 0 &&
	       b->refused_fd >= 0 && b->telling && b->pause &&
	       event_add(b->telling, NULL) == 0 && kernel_has_listeners() &&
	       may_look_into_children(b->wake_fd) &&
	       epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, b->wake_fd, &wake) == 0 &&
	       sigaction(DEADLINE_SIGNAL, &deadline, NULL) == 0;
}

struct broker *broker_new(struct event_base *base)
{
	struct broker *b = xcalloc(1, sizeof(*b));

	b->epoll_fd = b->wake_fd = b->refused_fd = -1;
	pthread_mutex_init(&b->lock, NULL);
	b->runs = prepare(b, base) && pthread_create(&b->thread, NULL, run, b) == 0;
	if (b->runs)
		return b;
	broker_free(b);
	return NULL;
}

void broker_free(struct broker *b)
{
	const uint64_t one = 1;

	if (!b)
		return;
	if (b->runs && write(b->wake_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(b->thread, NULL);
	while (!LIST_EMPTY(&b->askers))
		asker_free(b, LIST_FIRST(&b->askers));
	if (b->telling)
		event_free(b->telling);
	if (b->pause)
		event_free(b->pause);
	if (b->refused_fd >= 0)
		close(b->refused_fd);
	if (b->wake_fd >= 0)
		close(b->wake_fd);
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	pthread_mutex_destroy(&b->lock);
	free(b->call);
	free(b->reply);
	free(b);
}

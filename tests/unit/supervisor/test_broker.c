/* What the broker lets a worker reach. */
#include "common/base/clock.h"
#include "common/base/pass_fd.h"
#include "common/confine/confine.h"
#include "supervisor/paiged/process/broker.h"
#include "supervisor/paiged/process/broker_connect.h"
#include "tests/check_run.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *path, *name; /* NULL: refused */
} paths[] = {
	{"/run/p/gateway/rep", "rep"},
	{"/run/p/gateway/..rep", "..rep"},
	{"/run/p/store/rep", "rep"},
	{"/run/p/store/pub", "pub"},
	{"/run/p/store/other", NULL},
	{"/run/p/store/.", NULL},
	{"/run/p/gateway", NULL},
	{"/run/p/gateway/", NULL},
	{"/run/p/gateway/.", NULL},
	{"/run/p/gateway/..", NULL},
	{"/run/p/gateway//rep", NULL},
	{"/run/p/gateway/a/rep", NULL},
	{"/run/p/gateway/../ctl.sock", NULL},
	{"/run/p/gateways/rep", NULL},
	{"/run/p/ctl.sock", NULL},
	{"/run/p/./gateway/rep", NULL},
	{"run/p/gateway/rep", NULL},
	{"/", NULL},
	{"", NULL},
};

START_TEST(allows_sockets_in_folders)
{
	const struct broker_rules rules = {
		.self = WORKER_GATEWAY, .runtime_dir = "/run/p"};
	enum worker_id other;
	const char *name = broker_allowed(&rules, paths[_i].path, &other);
	char path[108];

	if (paths[_i].name) {
		ck_assert_ptr_nonnull(name);
		snprintf(path, sizeof(path), "/run/p/%s/%s", worker_infos[other].name,
			paths[_i].name);
		ck_assert_str_eq(path, paths[_i].path);
		ck_assert_str_eq(name, paths[_i].name);
	} else {
		ck_assert_msg(!name, "%s: %s", paths[_i].path, name);
	}
}
END_TEST

/* Who calls whom and who hears whom, beside itself. */
static const struct {
	enum worker_id self, other;
	bool calls, hears;
} ways[] = {
	{WORKER_GATEWAY, WORKER_STORE, true, true},
	{WORKER_GATEWAY, WORKER_AGENT, true, true},
	{WORKER_STORE, WORKER_FSWATCH, true, false},
	{WORKER_STORE, WORKER_GATEWAY, false, false},
	{WORKER_FSWATCH, WORKER_STORE, true, true},
	{WORKER_FSWATCH, WORKER_LLM, false, false},
	{WORKER_LLM, WORKER_FSWATCH, true, false},
	{WORKER_OBSERVER, WORKER_FSWATCH, false, true},
	{WORKER_OBSERVER, WORKER_GUARD_ENGINE, false, false},
	{WORKER_GUARD_ENGINE, WORKER_STORE, true, false},
	{WORKER_GUARD_ENGINE, WORKER_AGENT, false, false},
	{WORKER_AGENT, WORKER_STORE, false, false},
};

START_TEST(allows_whom_a_worker_calls_or_hears)
{
	struct broker_rules rules = {.self = ways[_i].self, .runtime_dir = "/run/p"};
	const char *name = worker_infos[ways[_i].other].name;
	enum worker_id other;
	char path[108];

	snprintf(path, sizeof(path), "/run/p/%s/rep", name);
	ck_assert_msg(!!broker_allowed(&rules, path, &other) == ways[_i].calls,
		"%s as %s", path, worker_infos[rules.self].name);
	snprintf(path, sizeof(path), "/run/p/%s/pub", name);
	ck_assert_msg(!!broker_allowed(&rules, path, &other) == ways[_i].hears,
		"%s as %s", path, worker_infos[rules.self].name);
}
END_TEST

/* ---- with sockets ---- */

static char place[] = "/tmp/paige-broker-XXXXXX";
static struct broker_rules rules = {.self = WORKER_STORE};
static char own_folder[108];
static int listening[3];

static int listen_at(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", place, path);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	return fd;
}

static void make_place(void)
{
	char path[108], target[108];

	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(rules.runtime_dir, sizeof(rules.runtime_dir), "%s", place);
	snprintf(own_folder, sizeof(own_folder), "%s/store", place);
	ck_assert_int_eq(mkdir(own_folder, 0700), 0);
	listening[0] = listen_at("store/rep");
	listening[1] = listen_at("foreign");
	listening[2] = listen_at("store/pub");
	snprintf(path, sizeof(path), "%s/store/link", place);
	snprintf(target, sizeof(target), "%s/foreign", place);
	ck_assert_int_eq(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/store/own-link", place);
	ck_assert_int_eq(symlink("rep", path), 0);
	snprintf(path, sizeof(path), "%s/store/folder", place);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void remove_place(void)
{
	static const char *const names[] = {"store/rep", "store/pub", "foreign",
		"store/link", "store/own-link", "store/folder", "store/full", "store",
		""};
	char path[108];

	for (int i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", place, names[i]);
		(void)remove(path);
	}
	close(listening[0]);
	close(listening[1]);
	close(listening[2]);
	strcpy(place, "/tmp/paige-broker-XXXXXX");
}

static const struct {
	const char *name;
	int expect;
} sockets[] = {
	{"store/rep", 0},
	{"store/absent", -ENOENT},
	{"store/folder", -ECONNREFUSED},
	{"store/link", -EPERM},
	{"store/own-link", -EPERM},
	{"foreign", -EPERM},
};

START_TEST(connects_to_sockets_alone)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_storage to = {.ss_family = AF_UNIX};
	struct sockaddr_un *a = (struct sockaddr_un *)&to;

	snprintf(a->sun_path, sizeof(a->sun_path), "%s/%s", place, sockets[_i].name);
	ck_assert_int_eq(broker_connect(&rules, fd, &to, sizeof(*a)), sockets[_i].expect);
	close(fd);
}
END_TEST

static int try_as(int domain, const struct sockaddr_storage *to, socklen_t len)
{
	int fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = broker_connect(&rules, fd, to, len);

	close(fd);
	return r;
}

START_TEST(refuses_other_addresses)
{
	struct sockaddr_storage to = {.ss_family = AF_UNIX};
	struct sockaddr_un *a = (struct sockaddr_un *)&to;
	struct sockaddr_in *ip = (struct sockaddr_in *)&to;

	/* No name, an abstract one, one that is longer than a path can be. */
	ck_assert_int_eq(try_as(AF_UNIX, &to, sizeof(sa_family_t)), -EPERM);
	memcpy(a->sun_path, "\0abstract", 9);
	ck_assert_int_eq(try_as(AF_UNIX, &to, sizeof(sa_family_t) + 9), -EPERM);
	ck_assert_int_eq(try_as(AF_UNIX, &to, sizeof(*a) + 1), -EPERM);
	/* An address of IP, which only those who use the network may name. */
	memset(&to, 0, sizeof(to));
	ip->sin_family = AF_INET;
	ip->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ip->sin_port = htons(9);
	ck_assert_int_eq(try_as(AF_INET, &to, sizeof(*ip)), -EPERM);
	ck_assert_int_eq(try_as(AF_UNIX, &to, sizeof(*ip)), -EPERM);
	rules.uses_network = true;
	ck_assert_int_ne(try_as(AF_INET, &to, sizeof(*ip)), -EPERM);
	ck_assert_int_eq(try_as(AF_UNIX, &to, sizeof(*ip)), -EPERM);
	rules.uses_network = false;
	ck_assert_int_eq(broker_connect(&rules, 0, &to, sizeof(*ip)), -ENOTSOCK);
}
END_TEST

/* ---- a confined process and the whole broker ---- */

/* The connected socket, or -errno. */
static int connected(const char *name, int flags)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0), error;
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", place, name);
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static int connect_as(const char *name, int flags)
{
	int fd = connected(name, flags);

	return fd < 0 ? -fd : 0;
}

/* Somebody who comes again after a pause, as nng does. */
static int connected_soon(const char *name)
{
	int fd = -BROKER_TOO_MANY;

	for (int i = 0; i < 1000 && fd == -BROKER_TOO_MANY; i++) {
		fd = connected(name, SOCK_NONBLOCK);
		if (fd == -BROKER_TOO_MANY)
			usleep(5000);
	}
	return fd;
}

/* As try_all. Connections that are kept are few; those that ended count no more. */
static int try_often(void)
{
	int kept[BROKER_CONNECTIONS_MAX], count = 0, fd;

	for (int i = 0; i < 20 * BROKER_CONNECTIONS_MAX; i++) {
		fd = connected("store/pub", SOCK_NONBLOCK);
		if (fd >= 0 && count < BROKER_CONNECTIONS_MAX)
			kept[count++] = fd;
		else if (fd != -BROKER_TOO_MANY)
			return 10;
	}
	if (count != BROKER_CONNECTIONS_MAX)
		return 11;
	/* One socket is not filled by another. */
	if (connect_as("store/rep", SOCK_NONBLOCK) != 0)
		return 12;
	close(kept[0]);
	kept[0] = connected_soon("store/pub");
	if (kept[0] < 0 || connect_as("store/pub", SOCK_NONBLOCK) != BROKER_TOO_MANY)
		return 13;
	while (count > 0)
		close(kept[--count]);
	for (int i = 0; i < 10 * BROKER_CONNECTIONS_MAX; i++) {
		fd = connected_soon("store/pub");
		if (fd < 0)
			return 14;
		close(fd);
		/* The socket has room for what nobody accepts. */
		close(accept(listening[2], NULL, NULL));
	}
	return 0;
}

/* The number of the first thing that is not as it should be; 0 for none. */
static int try_all(void)
{
	struct mono begun = clock_mono();
	int64_t ms;

	/* Nobody accepts and there is no room: it would block for ever. */
	if (connect_as("store/full", 0) != ETIMEDOUT)
		return 1;
	ms = mono_diff_ms(clock_mono(), begun);
	if (ms < BROKER_CONNECT_MS - 100 || ms > 20 * BROKER_CONNECT_MS)
		return 2;
	if (connect_as("store/rep", SOCK_NONBLOCK) != 0 ||
		connect_as("store/rep", 0) != 0)
		return 3;
	/* The kernel lets nobody look into it. */
	if (prctl(PR_SET_DUMPABLE, 0) != 0 || connect_as("store/rep", 0) != EPERM ||
		prctl(PR_SET_DUMPABLE, 1) != 0 || connect_as("store/rep", 0) != 0)
		return 8;
	if (connect_as("foreign", 0) != EPERM || connect_as("store/link", 0) != EPERM)
		return 4;
	if (connect(999, (const struct sockaddr *)&begun, 16) == 0 || errno != EBADF)
		return 5;
	if (syscall(SYS_connect, listening[0], (void *)8, 16) == 0 || errno != EFAULT)
		return 6;
	if (connect(listening[0], (const struct sockaddr *)&begun, 1) == 0 ||
		errno != EINVAL)
		return 7;
	return try_often();
}

/* In the child: confined as a worker is, which gives its listener away. */
static _Noreturn void be_confined(int control)
{
	const struct confinement nothing = {0};
	const struct confine_sockets own = {.own = own_folder};
	char go = 'g';
	int connects, full = listen_at("store/full");

	if (listen(full, 0) != 0)
		_exit(20);
	while (connect_as("store/full", SOCK_NONBLOCK) == 0)
		;
	confine_apply(&nothing, &own, &connects);
	if (connects < 0 || !pass_fd(control, (struct iovec){&go, 1}, connects))
		_exit(21);
	close(connects);
	if (read(control, &go, 1) != 1)
		_exit(22);
	_exit(try_all());
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_LEN(sizeof(int))};

	ck_assert_int_eq(recvmsg(socket, &message, MSG_CMSG_CLOEXEC), 1);
	return passed_fd(&message);
}

static int count_timer(
	const struct event_base *base, const struct event *event, void *count)
{
	(void)base;
	if (event_get_events(event) & EV_TIMEOUT ||
		event_pending(event, EV_TIMEOUT, NULL))
		++*(int *)count;
	return 0;
}

static int timers_of(struct event_base *base)
{
	int count = 0;

	event_base_foreach_event(base, count_timer, &count);
	return count;
}

/* Root may look into any process, and would not see what others see. */
static void give_up_ptrace(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	const uint32_t others = ~(UINT32_C(1) << CAP_SYS_PTRACE);

	ck_assert_int_eq(syscall(SYS_capget, &header, data), 0);
	data[0].effective &= others;
	data[0].permitted &= others;
	ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
}

static void let_it_be_dumpable(int control, int dumpable)
{
	char byte = (char)dumpable;

	ck_assert_int_eq(write(control, &byte, 1), 1);
	ck_assert_int_eq(read(control, &byte, 1), 1);
}

/* What was allowed is forbidden while both run, and allowed again. */
START_TEST(tells_into_whom_it_may_look)
{
	int control[2], pidfd;
	bool at_first;
	char dumpable;
	pid_t pid;

	give_up_ptrace();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
	pid = fork();
	if (pid == 0) {
		close(control[0]);
		while (read(control[1], &dumpable, 1) == 1 &&
			prctl(PR_SET_DUMPABLE, dumpable) == 0 &&
			write(control[1], &dumpable, 1) == 1)
			;
		_exit(0);
	}
	pidfd = pidfd_open(pid, 0);
	at_first = broker_may_look_into(pidfd); /* the machine may forbid it */
	let_it_be_dumpable(control[0], 0);
	ck_assert(!broker_may_look_into(pidfd));
	let_it_be_dumpable(control[0], 1);
	ck_assert_int_eq(broker_may_look_into(pidfd), at_first);
	close(control[0]);
	close(control[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(pidfd);
}
END_TEST

START_TEST(connects_for_a_confined_process)
{
	struct event_base *base = event_base_new();
	struct broker *broker;
	int control[2], status;
	pid_t pid;

	give_up_ptrace();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
	pid = fork();
	if (pid == 0)
		be_confined(control[1]);
	broker = broker_new(base);
	if (broker) {
		struct broker_client client = {.worker = WORKER_STORE,
			.listener = receive_fd(control[0]),
			.pidfd = pidfd_open(pid, 0),
			.runtime_dir = place};

		ck_assert_int_eq(broker_take(broker, &client), 0);
		ck_assert_int_eq(timers_of(base), 0); /* nothing to tell: no wake */
		ck_assert_int_eq(write(control[0], "g", 1), 1);
	} else {
		/* This kernel does not let us. */
		kill(pid, SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, broker ? 0 : SIGKILL);
	if (broker) {
		/* What was refused is told at once, then there is a pause. */
		ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
		ck_assert_int_eq(timers_of(base), 1);
		ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
		ck_assert_int_eq(timers_of(base), 0);
	}
	broker_free(broker);
	event_base_free(base);
}
END_TEST

int main(void)
{
	TCase *pure = tcase_create("rules"), *tc = tcase_create("sockets");

	check_add_table(pure, allows_sockets_in_folders, paths);
	check_add_table(pure, allows_whom_a_worker_calls_or_hears, ways);
	tcase_add_checked_fixture(tc, make_place, remove_place);
	check_add_table(tc, connects_to_sockets_alone, sockets);
	tcase_add_test(tc, refuses_other_addresses);
	tcase_add_test(tc, tells_into_whom_it_may_look);
	tcase_add_test(tc, connects_for_a_confined_process);
	tcase_set_timeout(tc, 60);
	return check_run(pure, tc);
}

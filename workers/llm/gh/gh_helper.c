/* gh_helper.c - paige-gh (gh_helper.h). One thread, one loop. */
#include "workers/llm/gh/gh_helper.h"
#include "common/base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "gh"
/* The kernel pads what it hands over, so that one more than asked for fits in. */
#define FDS_ROOM (GH_REQUEST_FDS + 1)

enum { TO_OUT, TO_ERR, TO_CONTROL };

struct run {
	pid_t pid; /* 0: free */
	int pidfd;
	int control_fd; /* -1: nobody wants to know how it ends */
};

static struct run runs[GH_RUNS_MAX];

static void tell(int control_fd, int32_t result)
{
	ssize_t done =
		send(control_fd, &result, sizeof(result), MSG_DONTWAIT | MSG_NOSIGNAL);

	(void)done; /* nobody waits any more */
}

/* In the child; tells why it failed and ends. */
static _Noreturn void become(
	char **words, const int fds[GH_REQUEST_FDS], int problem_fd, pid_t parent)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	static char program[] = PROGRAM;
	int input, error;
	ssize_t done;

	for (int signal = 1; signal < NSIG; signal++)
		(void)sigaction(signal, &by_default, NULL);
	input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
		getppid() == parent && input >= 0 && dup2(input, 0) == 0 &&
		dup2(fds[TO_OUT], 1) == 1 && dup2(fds[TO_ERR], 2) == 2 &&
		chdir(words[0]) == 0) {
		words[0] = program;
		execvp(PROGRAM, words);
	}
	error = errno;
	done = write(problem_fd, &error, sizeof(error));
	(void)done;
	_exit(127);
}

/* Returns when gh runs: then 0, else -errno. */
static int start(struct run *run, char **words, const int fds[GH_REQUEST_FDS])
{
	pid_t parent = getpid(), pid;
	int problem[2], error = 0;
	ssize_t n;

	if (pipe2(problem, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become(words, fds, problem[1], parent);
	if (pid < 0)
		error = errno;
	close(problem[1]);
	while (pid > 0 && (n = read(problem[0], &error, sizeof(error))) < 0 &&
		errno == EINTR)
		;
	close(problem[0]);
	if (pid < 0)
		return -error;
	run->pidfd = error ? -1 : pidfd_open(pid, 0);
	if (run->pidfd < 0) {
		error = error ? error : errno;
		kill(-pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return -error;
	}
	run->pid = pid;
	run->control_fd = fds[TO_CONTROL];
	return 0;
}

/* gh can start other programs (aliases, extensions, a browser): only what the worker asks
 * of GitHub is run. Options are not looked at. */
static bool is_served(char *const *words)
{
	static const struct {
		const char *command, *part;
	} served[] = {{"issue", "list"}, {"issue", "view"}, {"api", "user"}};

	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		if (words[0] && words[1] && words[2] &&
			strcmp(words[1], served[i].command) == 0 &&
			strcmp(words[2], served[i].part) == 0)
			return true;
	return false;
}

/* The words of a request, NULL at the end; false when it is not one. */
static bool split(char *text, size_t len, char *words[GH_ARGUMENTS_MAX + 2])
{
	size_t count = 0;

	if (len == 0 || text[len - 1] != '\0')
		return false;
	for (size_t at = 0; at < len; at += strlen(text + at) + 1) {
		if (count > GH_ARGUMENTS_MAX)
			return false;
		words[count++] = text + at;
	}
	words[count] = NULL;
	return true;
}

static struct run *free_run(void)
{
	for (size_t i = 0; i < GH_RUNS_MAX; i++)
		if (runs[i].pid == 0)
			return &runs[i];
	return NULL;
}

/* One packet with its descriptors; -1 at the end of the socket. */
static ssize_t receive(char text[GH_REQUEST_MAX], int fds[FDS_ROOM], bool *whole)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FDS_ROOM * sizeof(int))];
	} space;
	struct iovec part = {.iov_base = text, .iov_len = GH_REQUEST_MAX};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = space.bytes,
		.msg_controllen = sizeof(space.bytes)};
	ssize_t n = recvmsg(GH_HELPER_FD, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	size_t bytes = 0;

	if (header && header->cmsg_type == SCM_RIGHTS) {
		bytes = header->cmsg_len - CMSG_LEN(0);
		memcpy(fds, CMSG_DATA(header), bytes);
	}
	*whole = bytes == GH_REQUEST_FDS * sizeof(int) &&
		 (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? n : -1;
}

/* False at the end of the socket. */
static bool serve(void)
{
	static char text[GH_REQUEST_MAX];
	int fds[FDS_ROOM] = {-1, -1, -1, -1};
	char *words[GH_ARGUMENTS_MAX + 2];
	struct run *run = free_run();
	bool whole, kept = false;
	ssize_t n = receive(text, fds, &whole);
	int error = -EINVAL;

	if (n <= 0)
		return n == 0;
	if (whole && split(text, (size_t)n, words) && is_served(words)) {
		error = run ? start(run, words, fds) : -EAGAIN;
		kept = error == 0;
	}
	if (error && fds[TO_CONTROL] >= 0)
		tell(fds[TO_CONTROL], error);
	for (int i = 0; i < FDS_ROOM; i++)
		if (fds[i] >= 0 && !(kept && i == TO_CONTROL))
			close(fds[i]);
	return true;
}

/* gh has ended: what it started must not outlive it, whatever it does with SIGTERM. Not
 * reaped yet, its number is surely its own. */
static void finish(struct run *run)
{
	int status = 0;

	kill(-run->pid, SIGKILL);
	while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(run->pidfd);
	if (run->control_fd >= 0) {
		tell(run->control_fd, status);
		close(run->control_fd);
	}
	run->pid = 0;
}

/* Nothing is ever sent on a control socket from there: what can be read is its end. */
static void give_up(struct run *run)
{
	kill(-run->pid, SIGKILL);
	close(run->control_fd);
	run->control_fd = -1;
}

static bool turn(void)
{
	struct pollfd fds[1 + 2 * GH_RUNS_MAX] = {{.fd = GH_HELPER_FD, .events = POLLIN}};

	for (int i = 0; i < GH_RUNS_MAX; i++) {
		bool used = runs[i].pid != 0;

		fds[1 + 2 * i] = (struct pollfd){
			.fd = used ? runs[i].control_fd : -1, .events = POLLIN};
		fds[2 + 2 * i] = (struct pollfd){
			.fd = used ? runs[i].pidfd : -1, .events = POLLIN};
	}
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return errno == EINTR;
	for (int i = 0; i < GH_RUNS_MAX; i++) {
		if (fds[2 + 2 * i].revents)
			finish(&runs[i]);
		else if (fds[1 + 2 * i].revents)
			give_up(&runs[i]);
	}
	return !fds[0].revents || serve();
}

int main(void)
{
	static const int not_ours[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
	sigset_t none;

	log_init("llm", LOG_LEVEL_INFO);
	if (fcntl(GH_HELPER_FD, F_SETFD, FD_CLOEXEC) < 0) {
		fputs("paige-gh is started by paige-llm. Run paiged instead; see "
		      "paiged(8).\n",
			stderr);
		return 64;
	}
	/* The worker decides when we end: the socket does then. */
	for (size_t i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++)
		signal(not_ours[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
		log_error("gh cannot be started safely", "error", "%s", strerror(errno),
			NULL);
		return 1;
	}
	while (turn())
		;
	for (size_t i = 0; i < GH_RUNS_MAX; i++)
		if (runs[i].pid != 0)
			kill(-runs[i].pid, SIGKILL);
	return 0;
}

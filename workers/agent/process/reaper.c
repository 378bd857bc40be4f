/* reaper.c - see reaper.h. One thread, no library but libc. */
#include "workers/agent/process/reaper.h"
#include "workers/agent/process/descendants.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLEAN_UP_PAUSE_MS 2
#define CLEAN_UP_ROUNDS 2000

struct reaper {
	pid_t agent; /* also its process group */
	int signal_fd;
	bool orphaned; /* the worker is gone */
	struct reaper_report report;
};

static _Noreturn void become(char *const *argv, int error_fd, pid_t parent)
{
	sigset_t none;
	ssize_t done;
	int error;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	error = errno;
	done = write(error_fd, &error, sizeof(error));
	(void)done;
	_exit(127);
}

/* Starts the agent. 0, or the errno of fork or exec. */
static int start(struct reaper *k, char *const *argv)
{
	pid_t self = getpid();
	int ends[2], error = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	k->agent = fork();
	if (k->agent == 0)
		become(argv, ends[1], self);
	if (k->agent < 0)
		error = errno;
	close(ends[1]);
	if (!error && read(ends[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(ends[0]);
	if (!error)
		(void)setpgid(k->agent, k->agent); /* whoever is first */
	return error;
}

/* The ends of the agent's streams must be the agent's alone. */
static void close_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

static void signal_agent(const struct reaper *k, int number)
{
	/* The leader is not reaped, so the group is its own. */
	(void)kill(-k->agent, number);
	if (number == SIGTERM)
		(void)kill(-k->agent, SIGCONT);
}

/* What the worker says; its end is TERM. */
static void take_command(struct reaper *k)
{
	char command = 0;
	ssize_t n = recv(REAPER_FD, &command, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		k->orphaned = true;
		signal_agent(k, SIGTERM);
	} else if (command == REAPER_INTERRUPT) {
		signal_agent(k, SIGINT);
	} else if (command == REAPER_TERMINATE) {
		signal_agent(k, SIGTERM);
	} else if (command == REAPER_KILL) {
		signal_agent(k, SIGKILL);
	}
}

/* Reaps whatever has ended; true when the agent itself has (it is left unreaped). */
static bool agent_ended(struct reaper *k)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)k->agent, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid == k->agent) {
		k->report.code = info.si_code == CLD_EXITED ? info.si_status : -1;
		k->report.signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
		return true;
	}
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
			info.si_pid == 0 || info.si_pid == k->agent)
			return false;
		(void)waitpid(info.si_pid, NULL, WNOHANG);
	}
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until the agent has ended. */
static void wait_for_agent(struct reaper *k)
{
	int64_t kill_at = 0;

	while (!agent_ended(k)) {
		struct pollfd fds[2] = {{.fd = k->signal_fd, .events = POLLIN},
			{.fd = k->orphaned ? -1 : REAPER_FD, .events = POLLIN}};
		struct signalfd_siginfo info;
		int wait_ms = -1;

		if (kill_at) {
			wait_ms = (int)(kill_at - now_ms());
			if (wait_ms <= 0) {
				signal_agent(k, SIGKILL);
				wait_ms = REAPER_ORPHAN_MS;
			}
		}
		if (poll(fds, 2, wait_ms) < 0 && errno != EINTR)
			signal_agent(k, SIGKILL);
		while (read(k->signal_fd, &info, sizeof(info)) == sizeof(info))
			if (info.ssi_signo == SIGTERM)
				signal_agent(k, SIGTERM);
		if (fds[1].revents)
			take_command(k);
		if (k->orphaned && !kill_at)
			kill_at = now_ms() + REAPER_ORPHAN_MS;
	}
}

/* Everything below goes, whatever group or session it is in. */
static void clean_up(const struct reaper *k)
{
	const struct timespec pause = {.tv_nsec = CLEAN_UP_PAUSE_MS * 1000000L};

	(void)kill(-k->agent, SIGKILL);
	(void)waitpid(k->agent, NULL, 0);
	for (int i = 0; i < CLEAN_UP_ROUNDS && descendants_end(NULL, 0) > 0; i++)
		nanosleep(&pause, NULL);
}

int reaper_main(char *const *argv)
{
	struct reaper k = {.report.code = -1};
	sigset_t all, wanted;
	ssize_t done;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	k.signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (k.signal_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
		fcntl(REAPER_FD, F_SETFD, FD_CLOEXEC) < 0 ||
		close_range(REAPER_FD, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return EXIT_FAILURE;
	k.report.start_error = start(&k, argv);
	close_streams();
	if (!k.report.start_error)
		wait_for_agent(&k);
	if (k.agent > 0)
		clean_up(&k);
	done = send(REAPER_FD, &k.report, sizeof(k.report), MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)done;
	return EXIT_SUCCESS;
}

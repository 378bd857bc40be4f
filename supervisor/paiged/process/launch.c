/* launch.c - see launch.h. */
#include "supervisor/paiged/process/launch.h"
#include "common/base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/close_range.h>

/* Descriptors are moved up here first, so that none is overwritten before it is in its
 * place. */
#define ABOVE_ALL 64
#define OPEN_FILES_MAX 65536

/* In the child. Only async-signal-safe calls. */
static _Noreturn void give_up(const struct launch_request *r, int control_fd)
{
	struct {
		struct worker_packet_header header;
		int32_t error;
	} packet;
	ssize_t done;

	packet.error = errno;
	packet.header = (struct worker_packet_header){.type = LAUNCH_FAILED,
		.body_bytes = sizeof(packet.error),
		.generation = r->generation};
	done = send(control_fd, &packet,
		offsetof(typeof(packet), error) + sizeof(packet.error),
		MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)done;
	_exit(127);
}

/* What was ignored or blocked here must not be so there. */
static void reset_signals(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int signal = 1; signal < NSIG; signal++)
		(void)sigaction(
			signal, &act, NULL); /* KILL, STOP and libc's own refuse */
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Under memory pressure the kernel should take a worker, which comes back, before the
 * supervisor. */
static void volunteer_for_oom(void)
{
	static const char score[] = "100";
	AUTO_FD fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, score, sizeof(score) - 1);
}

/* The soft limit is for programs with select(2); here there are none. */
static void raise_open_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur =
		files.rlim_max < OPEN_FILES_MAX ? files.rlim_max : OPEN_FILES_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

/* Puts every descriptor where worker.h says, closes all others. 0, or -1 with errno. */
static int place_fds(const struct launch_request *r, int control_fd)
{
	int from[WORKER_LISTEN_FD + LISTENER_MAX_FDS];
	int count = WORKER_LISTEN_FD + (int)r->listen_count;

	from[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
	from[1] = from[2] = r->log_fd;
	from[WORKER_CONTROL_FD] = control_fd;
	for (size_t i = 0; i < r->listen_count; i++)
		from[WORKER_LISTEN_FD + (int)i] = r->listen_fds[i];
	for (int i = 0; i < count; i++) {
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, ABOVE_ALL);
		if (from[i] < 0)
			return -1;
	}
	for (int i = 0; i < count; i++)
		if (dup2(from[i], i) < 0)
			return -1;
	return close_range((unsigned)count, ~0U, CLOSE_RANGE_CLOEXEC);
}

static _Noreturn void become(const struct launch_request *r, int control_fd, pid_t parent)
{
	char *const argv[] = {(char *)(uintptr_t)r->program, NULL};

	setsid();
	reset_signals();
	/* The end of fd 3 is the first sign that the supervisor is gone; this is the
	 * second. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
		give_up(r, control_fd);
	if (getppid() != parent)
		_exit(0);
	volunteer_for_oom();
	raise_open_files();
	umask(077);
	if (chdir(r->directory) != 0 || place_fds(r, control_fd) != 0)
		give_up(r, control_fd);
	execve(r->program, argv, r->environment);
	give_up(r, WORKER_CONTROL_FD);
}

int launch_worker(const struct launch_request *request, struct launched *out)
{
	pid_t parent = getpid();
	int ends[2];
	int pidfd;
	int error;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) !=
		0)
		return -errno;
	/* All signals that we take are blocked for good, so none can come between fork
	 * and exec. */
	pid = fork();
	if (pid == 0)
		become(request, ends[1], parent);
	error = errno;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -error;
	}
	/* The child is not reaped before this, so the number is still its own. */
	pidfd = pidfd_open(pid, 0);
	if (pidfd < 0) {
		error = errno;
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(ends[0]);
		return -error;
	}
	*out = (struct launched){.pid = pid, .pidfd = pidfd, .control_fd = ends[0]};
	return 0;
}

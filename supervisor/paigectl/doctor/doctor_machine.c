/* doctor_machine.c - what this machine offers: directories, limits, kernel, gh. See
 * doctor.h. */
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "supervisor/paigectl/doctor/doctor.h"

#include "common/base/clock.h"
#include "common/confine/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1024 * 1024)
#define FREE_WRONG_BYTES (20 * MIB)
#define FREE_NOTE_BYTES (500LL * MIB)
#define FILES_ENOUGH 1024
#define WATCHES_ENOUGH 65536
#define GH_MS 5000

extern char **environ;

/* ---- directories ---- */

/* The nearest directory that exists: DATA_DIR is made at the first start. */
static void existing_parent(char *path)
{
	struct stat st;
	char *slash;

	while (stat(path, &st) != 0 && (slash = strrchr(path, '/')) != NULL &&
		slash != path)
		*slash = '\0';
}

static void check_space(struct doctor *d, const char *path)
{
	struct statvfs fs;
	char text[32];
	int64_t left;

	if (statvfs(path, &fs) != 0) {
		doctor_say(d, FINDING_TROUBLE, "disk", NULL, "%s: %s", path,
			strerror(errno));
		return;
	}
	left = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
	terminal_bytes(left, text);
	doctor_say(d,
		left < FREE_WRONG_BYTES	 ? FINDING_TROUBLE
		: left < FREE_NOTE_BYTES ? FINDING_NOTE
					 : FINDING_FINE,
		"disk", "free some space, or nothing can be saved", "%s free for %s",
		text, path);
}

void doctor_directories(struct doctor *d)
{
	AUTO_FREE char *data = xstrdup(d->settings->data_dir);

	if (access(d->settings->project_dir, R_OK | W_OK | X_OK) == 0)
		doctor_say(d, FINDING_FINE, "project", NULL, "%s can be read and written",
			d->settings->project_dir);
	else if (d->settings->project_dir[0])
		doctor_say(d, FINDING_NOTE, "project", "saving from the editor will fail",
			"%s: %s", d->settings->project_dir, strerror(errno));
	existing_parent(data);
	if (access(data, R_OK | W_OK | X_OK) == 0)
		doctor_say(d, FINDING_FINE, "data", NULL, "%s can be %s",
			d->settings->data_dir,
			strcmp(data, d->settings->data_dir) == 0 ? "written" : "made");
	else
		doctor_say(d, FINDING_TROUBLE, "data",
			"set DATA_DIR to a directory that you can write", "%s: %s", data,
			strerror(errno));
	check_space(d, data);
}

/* ---- limits ---- */

/* A number from a file of /proc, or -1. */
static int64_t read_number(const char *path)
{
	char text[64];
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	return strtoll(text, NULL, 10);
}

void doctor_limits(struct doctor *d)
{
	int64_t watches = read_number("/proc/sys/fs/inotify/max_user_watches");
	int64_t instances = read_number("/proc/sys/fs/inotify/max_user_instances");
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		doctor_say(d,
			files.rlim_max < FILES_ENOUGH ? FINDING_TROUBLE : FINDING_FINE,
			"open files",
			"raise the limit: ulimit -n, or LimitNOFILE= of the unit",
			"at most %llu", (unsigned long long)files.rlim_max);
	doctor_say(d, watches < WATCHES_ENOUGH ? FINDING_NOTE : FINDING_FINE, "inotify",
		"each directory of the project needs a watch; directories without one "
		"are polled. Raise the limit: sysctl "
		"fs.inotify.max_user_watches=524288",
		"at most %" PRId64 " watches, %" PRId64 " instances for this user",
		watches, instances);
}

/* ---- the kernel ---- */

void doctor_kernel(struct doctor *d)
{
	int landlock = confine_landlock_abi();
	bool seccomp = access("/proc/sys/kernel/seccomp/actions_avail", R_OK) == 0;

	if (landlock > 0 && seccomp)
		doctor_say(d, FINDING_FINE, "confinement", NULL,
			"the kernel has Landlock (ABI %d) and seccomp", landlock);
	else
		doctor_say(d, FINDING_NOTE, "confinement",
			"workers keep rights that they do not need; use a kernel with "
			"Landlock and seccomp",
			"Landlock %s, seccomp %s", landlock > 0 ? "yes" : "no",
			seccomp ? "yes" : "no");
}

/* ---- gh ---- */

/* Runs gh with its output thrown away. The exit code, -1 when it cannot be run, -2 when
 * it takes too long. */
static int run_gh(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	struct pollfd p;
	siginfo_t info = {0};
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return -1;
	p = (struct pollfd){.fd = pidfd_open(pid, 0), .events = POLLIN};
	error = p.fd >= 0 && poll(&p, 1, GH_MS) == 1 ? 0 : -2;
	if (error)
		kill(pid, SIGKILL);
	(void)waitid(P_PID, (id_t)pid, &info, WEXITED);
	if (p.fd >= 0)
		close(p.fd);
	return error ? error : info.si_code == CLD_EXITED ? info.si_status : 1;
}

void doctor_gh(struct doctor *d)
{
	char *const version[] = {(char[]){"gh"}, (char[]){"--version"}, NULL};
	/* Looks at its own files only; prints the token, to nowhere. */
	char *const token[] = {(char[]){"gh"}, (char[]){"auth"}, (char[]){"token"}, NULL};
	int code = run_gh(version);

	if (code == -1 || code == 127) {
		doctor_say(d, FINDING_NOTE, "gh",
			"install it (https://cli.github.com) for GitHub issues",
			"the program gh is not found in PATH");
		return;
	}
	if (code != 0) {
		doctor_say(d, FINDING_NOTE, "gh",
			"run `gh --version` and see what is wrong",
			"gh does not run (%d)", code);
		return;
	}
	code = run_gh(token);
	doctor_say(d, code == 0 ? FINDING_FINE : FINDING_NOTE, "gh",
		"run `gh auth login` for GitHub issues",
		code == 0 ? "gh is installed and logged in"
			  : "gh is installed but not logged in");
}

/* orphans.c - see orphans.h. Called by daemon.c before it starts anything. */
#include "supervisor/paiged/process/orphans.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/file_io.h"
#include "proto/worker.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define ENVIRONMENT_MAX (256 * 1024)
#define ORPHANS_MAX 64

/* Reads /proc/<pid>/environ; empty when it is not ours to read or gone. */
static void read_environment(int pid, struct buf *out)
{
	char path[64];

	buf_clear(out);
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	(void)!file_read_named(AT_FDCWD, path, ENVIRONMENT_MAX, out);
}

static bool has_variable(struct str environment, const char *assignment)
{
	size_t n = strlen(assignment) + 1;

	for (size_t at = 0; at + n <= environment.len;) {
		const char *entry = environment.ptr + at;

		if (memcmp(entry, assignment, n) == 0)
			return true;
		at += strnlen(entry, environment.len - at) + 1;
	}
	return false;
}

/* Pidfds of the orphans, so that a reused number is never signalled. */
static size_t find(const char *runtime_dir, int pidfds[ORPHANS_MAX])
{
	AUTO_DIR *proc = opendir("/proc");
	AUTO_BUF environment = {0};
	struct dirent *entry;
	AUTO_FREE char *assignment = NULL;
	size_t count = 0;

	if (!proc)
		return 0;
	assignment = xasprintf("PAIGE_RUNTIME_DIR=%s", runtime_dir);
	while (count < ORPHANS_MAX && (entry = readdir(proc)) != NULL) {
		int pid = atoi(entry->d_name);
		int pidfd;

		if (pid <= 1 || pid == getpid())
			continue;
		pidfd = pidfd_open(pid, 0);
		if (pidfd < 0)
			continue;
		read_environment(pid, &environment);
		if (has_variable(buf_str(&environment), assignment))
			pidfds[count++] = pidfd;
		else
			close(pidfd);
	}
	return count;
}

static void signal_all(const int *pidfds, size_t count, int signal)
{
	for (size_t i = 0; i < count; i++)
		(void)pidfd_send_signal(pidfds[i], signal, NULL, 0);
}

/* Waits until all have ended; false when the time is up. */
static bool wait_for_all(const int *pidfds, size_t count, int64_t limit_ms)
{
	struct mono end = mono_add_ms(clock_mono(), limit_ms);

	for (size_t i = 0; i < count; i++) {
		struct pollfd p = {.fd = pidfds[i], .events = POLLIN};
		int64_t left = mono_diff_ms(end, clock_mono());

		if (poll(&p, 1, left > 0 ? (int)left : 0) != 1)
			return false;
	}
	return true;
}

size_t orphans_end(const char *runtime_dir)
{
	int pidfds[ORPHANS_MAX];
	size_t count = find(runtime_dir, pidfds);

	signal_all(pidfds, count, SIGTERM);
	signal_all(pidfds, count, SIGCONT);
	if (!wait_for_all(pidfds, count, WORKER_ORPHAN_MS)) {
		signal_all(pidfds, count, SIGKILL);
		(void)wait_for_all(pidfds, count, WORKER_ORPHAN_MS);
	}
	for (size_t i = 0; i < count; i++)
		close(pidfds[i]);
	return count;
}

/* descendants.c - see descendants.h. */
#include "workers/agent/process/descendants.h"
#include "common/base/file_io.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The parent of a process by /proc/<pid>/stat, 0 when it is gone. */
static pid_t parent_of(int proc_fd, const char *pid)
{
	char path[64], text[512];
	const char *bracket;
	AUTO_FD fd = -1;
	ssize_t n;
	int parent = 0;

	snprintf(path, sizeof(path), "%.20s/stat", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* The name stands in brackets and may hold anything. */
	bracket = strrchr(text, ')');
	if (!bracket || sscanf(bracket + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static bool is_in(pid_t pid, const pid_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == pid)
			return true;
	return false;
}

size_t descendants_end(const pid_t *keep, size_t keep_count)
{
	AUTO_DIR *proc = opendir("/proc");
	const pid_t self = getpid();
	const struct dirent *entry;
	size_t left = 0;

	if (!proc)
		return 0;
	while ((entry = readdir(proc)) != NULL) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 1 || parent_of(dirfd(proc), entry->d_name) != self ||
			is_in(pid, keep, keep_count))
			continue;
		/* A child that is not reaped keeps its number: no stranger is hit. */
		(void)kill(pid, SIGKILL);
		if (waitpid(pid, NULL, WNOHANG) != pid)
			left++;
	}
	return left;
}

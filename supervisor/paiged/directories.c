/* directories.c - see directories.h. */
#include "supervisor/paiged/directories.h"

#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "paige-config.h"
#include "proto/tables/workers.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int directories_make_data(const char *path, struct buf *problem)
{
	AUTO_FREE char *copy = xstrdup(path);
	int error = 0;

	for (char *at = copy + 1; !error; at++) {
		char end = *at;

		if (end != '/' && end != '\0')
			continue;
		*at = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			error = -errno;
		*at = end;
		if (!end)
			break;
	}
	if (!error && access(path, R_OK | W_OK | X_OK) != 0)
		error = -errno;
	if (error)
		buf_printf(problem,
			"DATA_DIR=%s cannot be made or written: %s. Give it a directory "
			"of "
			"your own.",
			path, strerror(-error));
	return error;
}

static bool is_our_directory(const char *path, struct stat *st)
{
	return lstat(path, st) == 0 && S_ISDIR(st->st_mode) && st->st_uid == geteuid();
}

/* Everybody may write to /tmp, and somebody else was first there: a name of which nobody
 * could know. paigectl finds it in the lock file. */
static int make_elsewhere(char path[DIRECTORIES_RUNTIME_SIZE], struct buf *problem)
{
	char other[DIRECTORIES_RUNTIME_SIZE];

	if (strncmp(path, "/tmp/", 5) == 0 &&
		snprintf(other, sizeof(other), "%s-XXXXXX", path) < (int)sizeof(other) &&
		mkdtemp(other)) {
		strcpy(path, other);
		return 0;
	}
	buf_printf(problem,
		"%s is not a directory of this user, and nothing of it is used. Remove "
		"it, or set XDG_RUNTIME_DIR to a directory of your own.",
		path);
	return -EPERM;
}

int directories_make_runtime(char path[DIRECTORIES_RUNTIME_SIZE], struct buf *problem)
{
	struct stat st;

	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		int error = -errno;

		buf_printf(problem,
			"cannot make the directory for sockets, %s: %s. Set "
			"XDG_RUNTIME_DIR to a directory of your own.",
			path, strerror(-error));
		return error;
	}
	if (!is_our_directory(path, &st))
		return make_elsewhere(path, problem);
	if ((st.st_mode & 077) != 0 && chmod(path, 0700) != 0) {
		buf_printf(problem, "%s is open to others and cannot be closed: %s", path,
			strerror(errno));
		return -EPERM;
	}
	return 0;
}

static void remove_sockets(const char *path)
{
	AUTO_DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISSOCK(st.st_mode))
			unlinkat(dirfd(dir), entry->d_name, 0);
	rmdir(path); /* systemd's own stays: it has more rights, or is not empty */
}

void directories_clear_runtime(const char *path)
{
	char folder[PATH_MAX];

	for (int i = 0; i < WORKER_COUNT; i++) {
		snprintf(folder, sizeof(folder), "%s/%s", path, worker_infos[i].name);
		remove_sockets(folder);
	}
	remove_sockets(path);
}

void directories_check_project(const char *path, struct buf *warning)
{
	int error = access(path, W_OK | X_OK) == 0 ? 0 : errno;

	if (!error)
		return;
	buf_printf(
		warning, "PROJECT_DIR=%s cannot be written: %s. ", path, strerror(error));
	if (error == EROFS)
		buf_printf(warning,
			"Where systemd started the daemon, its unit needs "
			"ReadWritePaths=%s",
			path);
	else
		buf_printf(warning, "Give it to the user of the daemon, %u",
			(unsigned)geteuid());
}

/* NULL when we do not run from a build tree. */
static char *find_in_build_tree(void)
{
	char self[PATH_MAX], probe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	AUTO_FREE char *workers = NULL;
	char *real;

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	workers = xasprintf("%s/../workers", self);
	real = realpath(workers, NULL);
	if (!real)
		return NULL;
	snprintf(probe, sizeof(probe), "%s/%s/paige-%s", real, worker_infos[0].name,
		worker_infos[0].name);
	if (access(probe, X_OK) == 0)
		return real;
	free(real);
	return NULL;
}

char *directories_find_programs(void)
{
	char *found = find_in_build_tree();

	return found ? found : xstrdup(PAIGE_LIBEXECDIR);
}

char *directories_find_paigectl(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	return xasprintf("%s/paigectl", self);
}

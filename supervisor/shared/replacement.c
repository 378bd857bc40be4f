/* replacement.c - see replacement.h. Called by daemon.c, and by restore and import of paigectl. */
#include "supervisor/shared/replacement.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGED "replacement.new"
#define READY "replacement"
/* In it: the new files; the name of the folder for the old ones and then their names, a line each; the same, when these have gone there. */
#define FILES "files"
#define TO_MOVE "to-move"
#define MOVED "moved"
#define DESCRIPTORS 16

/* A folder, or -errno. */
static int open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* ---- before it counts ---- */

static int remove_one(
	const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

int replacement_begin(const char *data_dir, char folder[PATH_MAX])
{
	char staged[PATH_MAX];

	if (snprintf(staged, sizeof(staged), "%s/" STAGED, data_dir) >=
			(int)sizeof(staged) ||
		snprintf(folder, PATH_MAX, "%s/" STAGED "/" FILES, data_dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (nftw(staged, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) != 0 &&
		errno != ENOENT)
		return -errno;
	if (mkdir(staged, 0700) != 0 || mkdir(folder, 0700) != 0)
		return -errno;
	return 0;
}

static int write_list(int staged, const char *const *names, const char *kept)
{
	AUTO_FD fd =
		openat(staged, TO_MOVE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || dprintf(fd, "%s\n", kept) < 0)
		return -errno;
	for (; *names; names++)
		if (dprintf(fd, "%s\n", *names) < 0)
			return -errno;
	return 0;
}

int replacement_commit(const char *data_dir, const char *const *names, const char *kept)
{
	AUTO_FD data = open_folder(AT_FDCWD, data_dir);
	AUTO_FD staged = data < 0 ? data : open_folder(data, STAGED);
	int error = staged < 0 ? staged : write_list(staged, names, kept);

	/* All that was written there; a database of its own may have many files. */
	if (error == 0 && syncfs(staged) != 0)
		error = -errno;
	if (error == 0 && renameat(data, STAGED, data, READY) != 0)
		error = -errno;
	if (error == 0 && fsync(data) != 0)
		error = -errno;
	if (error == 0)
		error = replacement_finish(data_dir);
	return error < 0 ? error : 0;
}

/* ---- from then on ---- */

static int move_names(int data, FILE *list)
{
	AUTO_FREE char *line = NULL;
	size_t room = 0;
	ssize_t n;
	AUTO_FD kept = -1;
	int error = 0;

	while (error == 0 && (n = getline(&line, &room, list)) > 1) {
		line[n - 1] = '\0';
		if (kept >= 0) {
			if (renameat(data, line, kept, line) != 0 && errno != ENOENT)
				error = -errno;
			continue;
		}
		if (mkdirat(data, line, 0700) != 0 && errno != EEXIST)
			error = -errno;
		else
			kept = open_folder(data, line);
		if (error == 0 && kept < 0)
			error = kept;
	}
	if (error == 0 && (kept < 0 || fsync(kept) != 0 || fsync(data) != 0))
		error = kept < 0 ? -EPROTO : -errno;
	return error;
}

/* The old files go; those that have gone already are not there any more. */
static int move_out(int data, int ready)
{
	int fd = openat(ready, TO_MOVE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
	int error;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!list) {
		close(fd);
		return -ENOMEM;
	}
	error = move_names(data, list);
	fclose(list);
	/* A name that the new files have must not be taken for an old one's after this. */
	if (error == 0 &&
		(renameat(ready, TO_MOVE, ready, MOVED) != 0 || fsync(ready) != 0))
		error = -errno;
	return error;
}

static int move_in(int data, int ready)
{
	int files = open_folder(ready, FILES);
	AUTO_DIR *dir = file_list(files);
	struct dirent *entry;
	int error = 0;

	if (!dir)
		return files == -ENOENT ? 0 : files < 0 ? files : -errno;
	while (error == 0 && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (renameat(files, entry->d_name, data, entry->d_name) != 0)
			error = -errno;
		else
			rewinddir(dir);
	}
	if (error == 0 && fsync(data) != 0)
		error = -errno;
	return error;
}

int replacement_finish(const char *data_dir)
{
	AUTO_FD data = open_folder(AT_FDCWD, data_dir);
	AUTO_FD ready = data < 0 ? data : open_folder(data, READY);
	int error;

	if (ready < 0)
		return data >= 0 && ready == -ENOENT ? 0 : ready;
	error = move_out(data, ready);
	if (error == 0)
		error = move_in(data, ready);
	if (error < 0)
		return error;
	if ((unlinkat(ready, FILES, AT_REMOVEDIR) != 0 && errno != ENOENT) ||
		(unlinkat(ready, MOVED, 0) != 0 && errno != ENOENT) ||
		unlinkat(data, READY, AT_REMOVEDIR) != 0)
		return -errno;
	return fsync(data) != 0 ? -errno : 1;
}

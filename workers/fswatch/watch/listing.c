/* listing.c - see listing.h. */
#include "workers/fswatch/watch/listing.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "workers/fswatch/disk/names.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_ITEMS 16384 /* memory for more is given back */

static uint64_t stamp_of(const struct stat *st)
{
	uint64_t stamp = (uint64_t)st->st_ino * 0x9e3779b97f4a7c15u;

	stamp = (stamp ^ (uint64_t)st->st_size) * 0x9e3779b97f4a7c15u;
	stamp = (stamp ^ (uint64_t)st->st_mtim.tv_sec) * 0x9e3779b97f4a7c15u;
	stamp = (stamp ^ (uint64_t)st->st_mtim.tv_nsec) * 0x9e3779b97f4a7c15u;
	return stamp | 1;
}

/* A temporary file of a process that is gone is what a crash left of a save. */
static void clean_up(int dir_fd, const char *name, pid_t owner)
{
	char process[32];

	/* Signals, not even the empty one, are not for a confined process. */
	snprintf(process, sizeof(process), "/proc/%d", (int)owner);
	if (owner == getpid() || access(process, F_OK) == 0 || errno != ENOENT)
		return;
	if (unlinkat(dir_fd, name, 0) == 0)
		log_info("removed what a crash left of a save", "file", "%s", name, NULL);
}

static void add(struct listing *l, const char *name, bool is_dir, uint64_t stamp)
{
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 256;
		l->items = xreallocarray(l->items, l->cap, sizeof(*l->items));
	}
	/* The names may still move: items get their pointers in the end. */
	l->items[l->count++] = (struct tree_item){.is_dir = is_dir, .stamp = stamp};
	buf_add(&l->names, name, strlen(name) + 1);
}

static void take(struct listing *l, int dir_fd, const struct dirent *entry, bool stamped)
{
	const char *name = entry->d_name;
	bool is_dir = entry->d_type == DT_DIR;
	pid_t owner = names_temp_owner(str_of(name));
	uint64_t stamp = 0;
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (owner) {
		clean_up(dir_fd, name, owner);
		return;
	}
	if (entry->d_type == DT_UNKNOWN || (stamped && !is_dir)) {
		if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return; /* gone already */
		is_dir = S_ISDIR(st.st_mode);
		stamp = stamp_of(&st);
	}
	if (!is_dir || !names_noise_dir(str_of(name)))
		add(l, name, is_dir, stamp);
}

int listing_read(struct listing *l, int fd, bool stamped)
{
	AUTO_DIR *dir = file_list(fd);
	struct dirent *entry;

	if (!dir)
		return -errno;
	if (l->cap > KEPT_ITEMS)
		listing_fini(l);
	l->count = 0;
	buf_clear(&l->names);
	while (errno = 0, (entry = readdir(dir)))
		take(l, fd, entry, stamped);

	int error = -errno;
	const char *name = l->names.data;

	for (size_t i = 0; i < l->count; i++) {
		l->items[i].name = name;
		name += strlen(name) + 1;
	}
	return error;
}

void listing_fini(struct listing *l)
{
	buf_free(&l->names);
	free(l->items);
	*l = (struct listing){.items = NULL};
}

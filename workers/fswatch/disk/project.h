/*
 * project.h - the root of the project and everything opened beneath it.
 *
 * The root is opened once. Every later look at a file goes through openat2(2) with
 * RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS, so that the kernel itself, in the very act
 * of opening, refuses what leads out: links to the outside, chains of links, and links
 * that are swapped in between (EC-11, R14). Links that stay inside work (R18).
 *
 * RESOLVE_BENEATH also refuses absolute links, even those that point back into the
 * project. For them, and to save through a link, project_real walks the path by hand and
 * opens what it found with RESOLVE_NO_SYMLINKS; a race can make that fail, never escape.
 *
 * Paths given here are keys of paths.h. Used by everything that reads, saves or lists.
 */
#pragma once

#include "workers/fswatch/disk/paths.h"
#include <sys/stat.h>
#include <sys/types.h>

struct project {
	int root_fd;
	char canonical[PATH_KEY_SIZE];
	char spelled[PATH_KEY_SIZE];
	struct path_roots roots; /* points into the two above */
	dev_t dev;
	ino_t ino;
};

/*
 * Opens the directory `dir` as the root. Links on the way to it were followed once, when
 * the daemon read its settings, and `dir` has none: a link that is there by now leads
 * elsewhere. `spelling` is another name for it, or NULL. Either is relative to the
 * current directory if need be. 0, or -errno: -ELOOP for a link, -ENOSYS when the kernel
 * has no openat2 (before Linux 5.6).
 */
int project_open(struct project *p, const char *dir, const char *spelling)
	__attribute__((warn_unused_result));
void project_close(struct project *p);

/*
 * Opens what a key leads to. Returns the descriptor (close-on-exec) or -errno; -EXDEV
 * means that it leads out of the project.
 */
int project_openat(const struct project *p, const char *key, int flags)
	__attribute__((warn_unused_result));

/* As project_openat, but no component may be a link: for walking the tree. -ELOOP. */
int project_openat_nofollow(const struct project *p, const char *key, int flags)
	__attribute__((warn_unused_result));

/*
 * Follows every link of a key by hand, the last component included. `real` gets the key
 * of what it leads to, which need not exist. 0, or -errno: -EXDEV outside the project,
 * -ELOOP too many links.
 */
int project_real(const struct project *p, const char *key, char real[PATH_KEY_SIZE])
	__attribute__((warn_unused_result));

/* Where a file is to be made or replaced. */
struct project_place {
	int dir_fd;	/* its directory; the caller closes it */
	char base[256]; /* its name in there; not a link when it was looked at */
	char real[PATH_KEY_SIZE]; /* the key of the file itself, links followed */
};

/*
 * Finds the place of a file for saving: links are followed to the file they mean, missing
 * directories are made with the mode of the one they are in. 0, or -errno: -EXDEV outside
 * the project, -EISDIR for the project itself.
 */
int project_place(const struct project *p, const char *key, struct project_place *place)
	__attribute__((warn_unused_result));

enum project_state {
	PROJECT_HERE,
	PROJECT_GONE,	  /* nothing is there, or it cannot be reached */
	PROJECT_LINK,	  /* a link is on the way, which was none when it was opened */
	PROJECT_REPLACED, /* another directory is there */
};

/* Whether the path of the root still leads to the directory that was opened. */
enum project_state project_look(const struct project *p);

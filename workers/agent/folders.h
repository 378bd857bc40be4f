/*
 * folders.h - the folders that agents may work in, and the sessions that can be resumed
 * there.
 *
 * Called by requests.c, sessions.c and session_recovery.c. Reads directories only. A folder is
 * what the kernel says it is (an open descriptor and its real path), so that a link or a
 * rename cannot lead a session out of the root after it was checked.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/ids.h"
#include "common/base/str.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLDERS_MAX 1000

struct folder {
	int fd; /* O_PATH, the owner's to close; -1: none */
	char path[PATH_MAX];
};

/* Opens the root itself. 0 or -errno. */
int folder_open_root(const char *root, struct folder *out)
	__attribute__((warn_unused_result));

/*
 * Opens a folder strictly inside the root; `asked` is absolute or relative to it. 0;
 * -EXDEV when it is not inside (the root itself, a look-alike, a way out by ".." or by a
 * link); else -errno of opening it, reported only for paths that are spelled inside.
 */
int folder_open(const struct folder *root, struct str asked, struct folder *out)
	__attribute__((warn_unused_result));

/* Opens a folder by the path of one that was opened before: the root itself, too. 0 or
 * -errno. */
int folder_reopen(const struct folder *root, const char *path, struct folder *out)
	__attribute__((warn_unused_result));

/* Names of the folders directly inside the root, sorted, without hidden ones. */
struct strs_of_folders {
	char **names;
	size_t count;
};
struct strs_of_folders folder_names(const struct folder *root, struct arena *arena);

/* A session that Claude Code has kept. */
struct kept_session {
	char id[UUID_SIZE]; /* empty: none */
	int64_t changed_ms; /* Unix time */
};

/* The newest that was kept for a folder in `claude_dir`/projects. */
struct kept_session folder_kept_session(const char *claude_dir, const char *folder);
/* True when this one was kept for a folder. */
bool folder_keeps_session(const char *claude_dir, const char *folder, const char *id);
/* Opens the folder that a session was kept for: the root, or one directly inside it. 0,
 * or -ENOENT. */
int folder_of_kept_session(const char *claude_dir, const struct folder *root,
	const char *id, struct folder *out) __attribute__((warn_unused_result));

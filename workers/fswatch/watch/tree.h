/*
 * tree.h - the tree of the project in memory (FR-033): names and places, no attributes.
 *
 * Names are bytes, as in Linux, and never normalised (R12). Directories and files are kept in
 * separate lists, each sorted by bytes. A directory that was listed keeps the names of its
 * files packed in one block: 100,000 files take about two megabytes.
 *
 * Reads no file; listing.h does. The path of a directory is made from its parents, so a
 * directory that moves takes everything below with it (R03).
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/str.h"
#include "proto/codec/codec.h"
#include <stdint.h>

/* Deeper directories appear in the tree but are not read. */
#define TREE_MAX_DEPTH 256
/* Deeper ones are sent without their content: each level of directories takes two levels of
 * JSON, and a message has PROTO_MAX_NESTING of them, including the envelope's. */
#define TREE_SHOWN_DEPTH ((PROTO_MAX_NESTING - 5) / 2)

struct tree_dir {
	struct tree_dir *parent; /* NULL: the root, or taken out by tree_detach */
	char *name;
	struct tree_dir **dirs;
	char **files;
	unsigned dir_count, dir_cap, file_count, file_cap;
	unsigned depth;
	char *packed; /* names that files points into */
	size_t packed_size;
	uint64_t *stamps; /* one for each file, or NULL; see struct tree_item */
	/* Kept here for the watcher (watch_private.h). */
	int wd;	       /* watch descriptor, or -1 */
	bool polled;   /* has no watch: is read again at intervals */
	bool stale;    /* something changed below while it was detached */
	bool queued;   /* waits to be scanned */
	bool announce; /* ... and what is new is reported */
	bool deep;     /* ... with all directories below, not only new ones */
	struct tree_dir *next_queued;
};

struct tree {
	struct tree_dir *root;
	size_t dir_count, file_count;
	/* Called for each directory that is removed, the deepest first; may be NULL. */
	void (*on_gone)(void *arg, struct tree_dir *dir);
	void *arg;
};

/* The root's name is only displayed; its path is ".". */
void tree_init(struct tree *tree, struct str root_name);
void tree_fini(struct tree *tree);

struct tree_dir *tree_dir_find(const struct tree_dir *dir, struct str name);
bool tree_file_find(const struct tree_dir *dir, struct str name);
/* The directory of a key, "." for the root. NULL: there is none. */
const struct tree_dir *tree_dir_at(const struct tree *tree, struct str key);

/* Each returns false, or the existing directory, when there is nothing to do. */
bool tree_file_add(struct tree *tree, struct tree_dir *dir, struct str name);
bool tree_file_remove(struct tree *tree, struct tree_dir *dir, struct str name);
struct tree_dir *tree_dir_add(
	struct tree *tree, struct tree_dir *dir, struct str name, bool *is_new);
/* Removes a directory with everything below it; not for the root. */
void tree_dir_remove(struct tree *tree, struct tree_dir *dir);

/* Takes a directory out of its parent, with everything below; its files still count. */
void tree_detach(struct tree_dir *dir);
/* Puts it into `to`, which has nothing of that name. False, with no change, when `to` lies
 * below `dir`. */
bool tree_attach(struct tree_dir *dir, struct tree_dir *to, struct str name);
/* Removes what moved below TREE_MAX_DEPTH, so that no chain of moves makes a tree deeper. */
void tree_prune(struct tree *tree, struct tree_dir *dir);
/* True when `dir` is `top` or lies below it. */
bool tree_below(const struct tree_dir *dir, const struct tree_dir *top);
/* The topmost directory above it: the root, or one that was detached. */
struct tree_dir *tree_top(struct tree_dir *dir);

/* Sets `path` to the key of a directory, or of `name` in it if that is given. */
void tree_path(const struct tree_dir *dir, struct str name, struct buf *path);

/* An entry of a directory, as it was read. */
struct tree_item {
	const char *name; /* borrowed, NUL-terminated */
	bool is_dir;
	uint64_t stamp; /* changes with the content of a file; 0: not known */
};

struct tree_merge_calls {
	void (*removed)(void *arg, struct tree_dir *dir, struct str name, bool is_dir);
	void (*added)(void *arg, struct tree_dir *dir, struct str name, bool is_dir);
	void (*changed)(
		void *arg, struct tree_dir *dir, struct str name); /* stamps differ */
	void *arg;
};

/*
 * Makes a directory contain exactly the items, which are sorted in place, and reports the
 * differences, removals first. Keeps the stamps if `stamped`. The callbacks must not change
 * the tree.
 */
void tree_merge(struct tree *tree, struct tree_dir *dir, struct tree_item *items,
	size_t count, bool stamped, const struct tree_merge_calls *calls);

/* Counts the changes of all trees. */
extern uint64_t tree_changes;

/* A directory whose children are being written. */
struct tree_level {
	const struct tree_dir *dir;
	unsigned dirs, files; /* written already */
	size_t prefix_len;    /* without this directory */
};

/*
 * Writes the payload of fs:tree, {"root":{name,path,type,children}}, in slices:
 * directories first, each by name; directories deeper than TREE_SHOWN_DEPTH without
 * children. Bytes that are no UTF-8 show as U+FFFD.
 *
 * The payload shows the tree as it is at the end: if the tree changes in between, writing
 * restarts, at most TREE_WRITE_TRIES times; after that the rest is one slice.
 */
#define TREE_WRITE_TRIES 8

struct tree_writer {
	struct buf out; /* the payload, once it is complete */
	const struct tree *tree;
	uint64_t changes; /* tree_changes when it started */
	unsigned tries;
	struct buf prefix; /* escaped path of the directory with a slash behind */
	struct tree_level levels[TREE_SHOWN_DEPTH + 2];
	unsigned depth; /* levels in use */
};

/* Starts; `tree` must outlive the writer. */
void tree_write_start(struct tree_writer *w, const struct tree *tree);
/* Writes up to `most` entries. True when the payload is complete. */
bool tree_write(struct tree_writer *w, size_t most);
/* It is complete, and nothing has changed since. */
bool tree_written(const struct tree_writer *w);
void tree_write_fini(struct tree_writer *w);

/* Adds the payload for one directory: its directories are without children. */
void tree_write_list(const struct tree_dir *dir, struct buf *out);

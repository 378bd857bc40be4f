/*
 * tree.h - the tree of the project in memory (FR-033): who lies where, no attributes.
 *
 * Names are bytes, as Linux has it: nothing is normalised (R12). Directories and files
 * are kept apart, each sorted by bytes. A directory whose files came with a listing keeps
 * their names packed together: 100,000 files take about two megabytes.
 *
 * Reads no file: listing.h does. A path of a directory is made from its parents, so a
 * directory that is moved takes everything below along (R03).
 */
#ifndef PAIGE_FSWATCH_WATCH_TREE_H
#define PAIGE_FSWATCH_WATCH_TREE_H

#include "common/base/buf.h"
#include "common/base/str.h"
#include "proto/codec/codec.h"
#include <stdint.h>

/* Deeper directories are listed but not looked into. */
#define TREE_MAX_DEPTH 256
/* Deeper ones are shown without what is in them: each level of directories is two levels
 * of JSON, of which a message has PROTO_MAX_NESTING, the envelope's included. */
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
	bool polled;   /* has no watch: is looked at by turns */
	bool stale;    /* something happened below while it was taken out */
	bool queued;   /* waits to be scanned */
	bool announce; /* ... and what is found to be new is told */
	bool deep;     /* ... and so are all directories below, not only new ones */
	struct tree_dir *next_queued;
};

struct tree {
	struct tree_dir *root;
	size_t dir_count, file_count;
	/* Called for each directory that goes for good, from the deepest up; may be NULL.
	 */
	void (*on_gone)(void *arg, struct tree_dir *dir);
	void *arg;
};

/* The root's name is shown only; its path is ".". */
void tree_init(struct tree *tree, struct str root_name);
void tree_fini(struct tree *tree);

struct tree_dir *tree_dir_find(const struct tree_dir *dir, struct str name);
bool tree_file_find(const struct tree_dir *dir, struct str name);

/* Each returns false, or the directory that is there, when nothing was to do. */
bool tree_file_add(struct tree *tree, struct tree_dir *dir, struct str name);
bool tree_file_remove(struct tree *tree, struct tree_dir *dir, struct str name);
struct tree_dir *tree_dir_add(
	struct tree *tree, struct tree_dir *dir, struct str name, bool *is_new);
/* Removes a directory with all below. Not the root. */
void tree_dir_remove(struct tree *tree, struct tree_dir *dir);

/* Takes a directory out of its parent, with all below; it counts on. */
void tree_detach(struct tree_dir *dir);
/* Puts it where nothing of that name is. False, changing nothing, when `to` lies below.
 */
bool tree_attach(struct tree_dir *dir, struct tree_dir *to, struct str name);
/* Takes out what moved deeper than TREE_MAX_DEPTH: no chain of moves makes a tree deeper.
 */
void tree_prune(struct tree *tree, struct tree_dir *dir);
/* True when `dir` is `top` or lies below it. */
bool tree_below(const struct tree_dir *dir, const struct tree_dir *top);
/* The root it hangs from: the tree's, or one that was taken out. */
struct tree_dir *tree_top(struct tree_dir *dir);

/* Replaces `path` by the key of a directory, or of `name` in it when that is present. */
void tree_path(const struct tree_dir *dir, struct str name, struct buf *path);

/* What a directory was found to contain. */
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
 * Makes a directory contain exactly the items (sorted in place), and tells the
 * differences: removals first. Stamps are kept when `stamped`. The callbacks must not
 * change the tree.
 */
void tree_merge(struct tree *tree, struct tree_dir *dir, struct tree_item *items,
	size_t count, bool stamped, const struct tree_merge_calls *calls);

/* How often what any tree shows has changed. */
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
 * What was written shows the tree as it is in the end: when it changes in between, the
 * writing begins anew, at most TREE_WRITE_TRIES times; then the rest is one slice.
 */
#define TREE_WRITE_TRIES 8

struct tree_writer {
	struct buf out; /* the payload, once it is whole */
	const struct tree *tree;
	uint64_t changes; /* when it began */
	unsigned tries;
	struct buf prefix; /* escaped path of the directory with a slash behind */
	struct tree_level levels[TREE_SHOWN_DEPTH + 2];
	unsigned depth; /* levels in use */
};

/* Begins; `tree` must outlive it. */
void tree_write_start(struct tree_writer *w, const struct tree *tree);
/* Writes up to `most` entries. True when the payload is whole. */
bool tree_write(struct tree_writer *w, size_t most);
void tree_write_fini(struct tree_writer *w);

#endif

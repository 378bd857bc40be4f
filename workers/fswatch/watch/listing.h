/*
 * listing.h - what a directory contains, read without a stat(2) for each entry.
 *
 * Leaves out directories of noise.def and our own temporary files; of the latter it
 * removes those whose process is gone (a save that a crash cut short). Links are files
 * here, whatever they lead to (R07).
 */
#ifndef PAIGE_FSWATCH_WATCH_LISTING_H
#define PAIGE_FSWATCH_WATCH_LISTING_H

#include "common/base/buf.h"
#include "workers/fswatch/watch/tree.h"

/* Zero is a valid empty value; the memory is reused from directory to directory. */
struct listing {
	struct buf names; /* the items' names, NUL-terminated */
	struct tree_item *items;
	size_t count, cap;
};

/*
 * Reads the directory `fd` (taken: closed in any case). `stamped` asks for stamps of
 * files, which costs a stat each. 0 or -errno.
 */
int listing_read(struct listing *listing, int fd, bool stamped)
	__attribute__((warn_unused_result));

void listing_fini(struct listing *listing);

#endif

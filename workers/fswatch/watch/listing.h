/*
 * listing.h - reads the content of a directory, without a stat(2) for each entry.
 *
 * Leaves out the directories of noise.def and Paige's own temporary files. Removes those
 * temporary files whose process is gone (a crash interrupted a save). Links count as files,
 * whatever they lead to (R07).
 */
#pragma once

#include "common/base/buf.h"
#include "workers/fswatch/watch/tree.h"

/* Zero is a valid empty value; the memory is reused from directory to directory. */
struct listing {
	struct buf names; /* the items' names, NUL-terminated */
	struct tree_item *items;
	size_t count, cap;
};

/*
 * Reads the directory `fd` (taken over and closed in any case). `stamped` asks for the
 * files' stamps, which costs a stat(2) each. 0 or -errno.
 */
int listing_read(struct listing *listing, int fd, bool stamped)
	__attribute__((warn_unused_result));

void listing_fini(struct listing *listing);

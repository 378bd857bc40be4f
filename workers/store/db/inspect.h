/*
 * inspect.h - looks at a database file without changing a byte of it.
 *
 * Before SQLite gets to open a file for real, its header, its log and its pages are
 * checked, so that a damaged file is refused exactly as it was found (EC-06, R33). No
 * database of the same path may be open in this process meanwhile, but for
 * inspect_running: closing any descriptor of it would drop SQLite's locks.
 */
#pragma once

#include "workers/store/db/schema.h"
#include <stdbool.h>
#include <stdint.h>

/* Time for the check of all pages at a start, and while running. What is not reached in
 * it is left to be noticed by use. */
#define INSPECT_START_MS 300
#define INSPECT_RUNNING_MS 40

struct inspection {
	bool absent; /* no file, or an empty one: there is nothing to lose */
	bool partly; /* the time ran out before all pages were seen */
	int version; /* of its schema; 0: it has no tables yet */
	struct error_text
		problem; /* names the file and says what to do; empty when fine */
};

/*
 * Checks `path` with its log and all pages, and by `schema`, unless that is NULL, whether
 * it is the file that is meant (schema_check). 0 when it may be opened; -EUCLEAN damaged
 * or another file, -EBUSY locked by another process for the moment (try again), or -errno
 * of reading it; `problem` is set.
 */
int inspect_file(const char *path, const struct schema *schema, int64_t budget_ms,
	struct inspection *out) __attribute__((warn_unused_result));

/* The same for a database that this process has open: pages only, through a connection of
 * its own that shares no cache with it. */
int inspect_running(const char *path, int64_t budget_ms, struct inspection *out)
	__attribute__((warn_unused_result));

/*
 * backup_file.h - a verified copy of a database that is in use.
 *
 * Blocks for as long as the file is large: called on a thread of its own (backup_service.c),
 * with connections of its own. Never touches what is copied, and writers go on meanwhile.
 */
#pragma once

#include "workers/store/db/error_text.h"
#include <stdatomic.h>
#include <stdint.h>

/* Behind the name of a copy that is not whole yet. */
#define BACKUP_FILE_PART ".part"

/*
 * Copies the database `source` as it is at one moment to `target`, a plain file without a
 * log that is there whole or not at all, checks every page of it, and syncs it. An older
 * `target` is replaced. 0 with *bytes; -ECANCELED soon after *cancel became true; or
 * -errno, with `problem` for people, and no file left.
 */
int backup_file_write(const char *source, const char *target, const atomic_bool *cancel,
	int64_t *bytes, struct error_text *problem) __attribute__((warn_unused_result));

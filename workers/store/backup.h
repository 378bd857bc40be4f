/*
 * backup.h - a copy of the database while it is in use.
 *
 * The copy is made by a thread with connections of its own, so the loop goes on: it shows
 * one moment, is checked whole, stands on its own (no write-ahead log), and is synced
 * before it is told about. It lies in DATA_DIR, the only place the store may write to;
 * who asked for it moves it away. What nobody took is removed at the next start.
 */
#ifndef PAIGE_STORE_BACKUP_H
#define PAIGE_STORE_BACKUP_H

#include "workers/store/problem.h"
#include <stdint.h>

#define BACKUP_PREFIX "backup-"

/* Copies the database `from` to the new file `to` and verifies it. Blocks. 0 with *bytes,
 * or -errno with *problem and no file. For the thread, and for tests. */
int backup_copy(const char *from, const char *to, int64_t *bytes, struct problem *problem)
	__attribute__((warn_unused_result));

/* Removes copies that nobody took from a directory. */
void backup_sweep(const char *directory);

#endif

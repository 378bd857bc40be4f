/*
 * logs.h - every worker's stderr: read, split into lines, written to files.
 *
 * There is one pipe for each worker, kept for the life of the daemon and open at both
 * ends, so that the last lines of a process are never lost and no process gets a SIGPIPE. It
 * is always read, even if the file cannot be written. The supervisor's
 * own lines go to stderr and to logs/paiged.log; where stderr is systemd's journal, those of
 * the workers go there, too (journal.h).
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "proto/tables/workers.h"
#include "supervisor/paiged/logs/recent.h"
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

struct logs;

/* Makes `dir` if need be. NULL with errno. */
struct logs *logs_new(struct event_base *base, const char *dir);
/* The end that the worker writes to; ours. */
int logs_write_fd(const struct logs *logs, enum worker_id id);
/* The process has ended: reads the rest of its output and ends its last line. */
void logs_ended(struct logs *logs, enum worker_id id);
/* The last lines of a worker, each with its newline. */
void logs_tail(const struct logs *logs, enum worker_id id, size_t lines, struct buf *out);
/* A page of what is in the files (recent.h) of a worker or, by SUPERVISOR_NAME, of our own; the
 * page is of the arena. False: there is no such log. */
bool logs_recent(const struct logs *logs, struct str name,
	const struct recent_query *query, struct recent_page *page, struct arena *arena);
/* Lines that could not be written, of all workers. */
uint64_t logs_dropped(const struct logs *logs);
/* Logs how many lines a journal that was behind lacks. Called at each tick of the daemon. */
void logs_check(struct logs *logs);
void logs_free(struct logs *logs);

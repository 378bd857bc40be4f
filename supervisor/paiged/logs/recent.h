/*
 * recent.h - lines of a log file and its older ones, to be shown to somebody. Called by logs.c.
 *
 * A position counts bytes through <path>.4 to .1 into <path>, where the newest file begins at
 * `base` (log_file.h). It grows for as long as the daemon runs, also when the files are rotated, so
 * whoever follows a log asks for what is behind the last position.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "proto/codec/codec.h"
#include <stdbool.h>
#include <stdint.h>

/* Of one page. */
#define RECENT_LINES_MAX 500
#define RECENT_BYTES_MAX (256 * 1024)

struct recent_query {
	enum log_level level; /* and above */
	size_t lines;	      /* the last ones of those that are there */
	int64_t after;	      /* positions; -1: none is given */
	int64_t before;
};

struct recent_page {
	struct strs lines; /* safe to show, without line ends */
	int64_t first;	   /* position of the oldest line looked at; -1: none is older */
	int64_t next;	   /* position behind the last whole line looked at */
	bool missed;	   /* lines behind `after` are neither here nor in a later page */
};

/* Fills the page, whose lines are of the arena; without lines when no file can be read. */
void recent_read(const char *path, int64_t base, const struct recent_query *query,
	struct recent_page *page, struct arena *arena);

/* Pure. The line with a question mark for each character but tab that utf8_shown (utf8.h)
 * would not show as it is; in the arena. */
struct str recent_safe(struct str line, struct arena *arena);

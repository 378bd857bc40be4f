/*
 * buffer_log.h - decides which edits of a file get a row in the action log (FR-043,
 * FR-044).
 *
 * There are two rows: buffer_significant_change, at once, when the length of the text is far
 * from the length last logged; and buffer_summary, on a timer, for each unsaved
 * file that was edited since its last row. Pure: lengths (UTF-16 code units) come in, rows go out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of one file. Zero is a file that was never opened nor logged (P4.7). */
struct buffer_log {
	int64_t logged_chars; /* length when it was opened or last logged */
	int64_t edits;	      /* since the last row of it */
};

struct buffer_log_limits {
	int64_t chars; /* BUFFER_SIGNIFICANT_CHARS */
	double ratio;  /* BUFFER_SIGNIFICANT_RATIO, of logged_chars */
};

struct buffer_log_change {
	int64_t previous, now;
	int64_t delta; /* without a sign (P4.9) */
};

struct buffer_log_summary {
	int64_t edits;
	int64_t delta; /* with its sign (P4.9) */
	int64_t chars;
};

/* The file was opened with this length, or closed (0), from which changes are counted
 * (P4.7). Edits that no row tells of stay counted. */
void buffer_log_opened(struct buffer_log *log, int64_t chars);

/*
 * An edit made the text `chars` long. True when that differs from the length last logged by
 * more than either limit: then log *change. The new length becomes the baseline (P4.8).
 */
bool buffer_log_edited(struct buffer_log *log, const struct buffer_log_limits *limits,
	int64_t chars, struct buffer_log_change *change);

/*
 * The timer fired while the file has unsaved edits. True when a summary is due: there were
 * edits since the last row of either kind (P4.6). The count then restarts.
 */
bool buffer_log_timer(
	struct buffer_log *log, int64_t chars, struct buffer_log_summary *summary);

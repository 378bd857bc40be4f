/*
 * buffer_log.h - which edits of a file are worth a row in the action log (FR-043,
 * FR-044).
 *
 * Two rows exist: buffer_significant_change at once when the length of the text is far
 * from the one last logged, buffer_summary on a timer for every file with unsaved edits.
 * Pure: lengths come in (UTF-16 code units), rows go out.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_BUFFER_LOG_H
#define PAIGE_FSWATCH_BUFFERS_BUFFER_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Of one file. Zero is a file that was never opened nor logged (P4.7). */
struct buffer_log {
	int64_t logged_chars; /* length when it was opened or last logged */
	int64_t edits;	      /* since then */
	bool covered;	      /* the last row was a significant change (P4.6) */
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

/* The file was opened with this length: where changes are counted from (P4.7). */
void buffer_log_opened(struct buffer_log *log, int64_t chars);

/*
 * An edit made the text `chars` long. True when that is more than either limit away from
 * what was last logged: log *change; the baseline is then the new length (P4.8).
 */
bool buffer_log_edited(struct buffer_log *log, const struct buffer_log_limits *limits,
	int64_t chars, struct buffer_log_change *change);

/*
 * The timer fired while the file has unsaved edits. True when a summary is due: always,
 * but when a significant change said it all (P4.6); the count then starts again.
 */
bool buffer_log_timer(
	struct buffer_log *log, int64_t chars, struct buffer_log_summary *summary);

#endif

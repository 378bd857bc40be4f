/* buffer_log.c - see buffer_log.h. */
#include "workers/fswatch/buffers/buffer_log.h"

void buffer_log_opened(struct buffer_log *log, int64_t chars)
{
	log->logged_chars = chars;
}

bool buffer_log_edited(struct buffer_log *log, const struct buffer_log_limits *limits,
	int64_t chars, struct buffer_log_change *change)
{
	int64_t previous = log->logged_chars;
	int64_t delta = chars > previous ? chars - previous : previous - chars;

	log->edits++;
	if (delta <= limits->chars && (double)delta <= limits->ratio * (double)previous)
		return false;
	*change = (struct buffer_log_change){previous, chars, delta};
	*log = (struct buffer_log){.logged_chars = chars};
	return true;
}

bool buffer_log_timer(
	struct buffer_log *log, int64_t chars, struct buffer_log_summary *summary)
{
	if (log->edits == 0)
		return false;
	*summary =
		(struct buffer_log_summary){log->edits, chars - log->logged_chars, chars};
	*log = (struct buffer_log){.logged_chars = chars};
	return true;
}

/*
 * log.h - one line per event, in logfmt, to stderr.
 *
 *   ts=2026-11-27T12:00:00.000Z level=info worker=store msg="database opened" path=/x/paige.db
 *
 * The supervisor writes every worker's stderr to a log file. Values are quoted when needed,
 * what would act on a terminal is escaped (utf8_shown), a line is at most LOG_LINE_MAX
 * bytes. Never log secrets or file contents. The function that handles an error logs it,
 * once; functions that return it do not log.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

#define LOG_LINE_MAX 8192

/* `worker` is borrowed for the life of the process. */
void log_init(const char *worker, enum log_level level);
void log_set_level(enum log_level level);
/* The level of a name ("warn"), or -1. */
int log_level_by_name(const char *name, size_t len);
/* The level of a log line; info when it has none. */
enum log_level log_level_of_line(const char *line, size_t len);

/*
 * Fields are pairs of name and printf format with its arguments, ended by NULL:
 *   log_info("file saved", "path", "%s", path, "bytes", "%zu", n, NULL);
 */
void log_line(enum log_level level, const char *message, ...) __attribute__((sentinel));
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)

/*
 * Sends lines to a function instead of stderr: the supervisor also writes them to files,
 * and must not wait for a reader of its stderr. `line` ends with a newline. NULL for stderr
 * again.
 */
void log_set_writer(void (*write_line)(const char *line, size_t len));
/*
 * A line of another kind (a crash report, a library's message) as a line of ours, so that
 * every line of a log file has a time and a level. Writes at most LOG_LINE_MAX bytes, the
 * newline among them; no NUL. Returns how many.
 */
size_t log_wrap(char out[LOG_LINE_MAX], const char *worker, enum log_level level,
	const char *message);

/* journal.c - see journal.h. Called by logs.c, and by paiged.c and daemon.c for what they
 * refuse. */
#include "supervisor/paiged/logs/journal.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

/* Written at once to a pipe without blocking, when it is writable at all. */
#define PIPE_PIECE 4096
#define PREFIX_BYTES 3

bool journal_listens(void)
{
	static int known = -1;
	const char *stream = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat st;

	if (known < 0) {
		known = 0;
		if (stream && fstat(STDERR_FILENO, &st) == 0) {
			snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev,
				(uintmax_t)st.st_ino);
			known = strcmp(stream, own) == 0;
		}
	}
	return known;
}

const char *journal_prefix(enum log_level level)
{
	static const char *const prefixes[] = {[LOG_LEVEL_DEBUG] = SD_DEBUG,
		[LOG_LEVEL_INFO] = SD_INFO,
		[LOG_LEVEL_WARN] = SD_WARNING,
		[LOG_LEVEL_ERROR] = SD_ERR};

	return journal_listens() ? prefixes[level] : "";
}

/* A socket that is writable has room for several lines; so a line is written whole. */
static bool write_socket(const char *line, size_t len)
{
	char text[PREFIX_BYTES + LOG_LINE_MAX];

	if (len > LOG_LINE_MAX)
		len = LOG_LINE_MAX;
	memcpy(text, journal_prefix(log_level_of_line(line, len)), PREFIX_BYTES);
	memcpy(text + PREFIX_BYTES, line, len);
	return send(STDERR_FILENO, text, PREFIX_BYTES + len,
		       MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)(PREFIX_BYTES + len);
}

bool journal_write(const char *line, size_t len)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
		return false;
	if (journal_listens())
		return write_socket(line, len);
	return write(STDERR_FILENO, line, len > PIPE_PIECE ? PIPE_PIECE : len) > 0;
}

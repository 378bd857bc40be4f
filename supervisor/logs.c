/* logs.c - see logs.h. Called by process.c and daemon.c, and by log.h for the
 * supervisor's own lines. */
#include "supervisor/logs.h"

#include "common/log.h"
#include "supervisor/lines.h"
#include "supervisor/sink.h"
#include "supervisor/tail.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of one worker in one turn of the loop, so that a flood does not starve the others. */
#define READ_BUDGET 65536
/* Of what a dead worker left in its pipe: more than a pipe holds. */
#define DRAIN_MAX (1024 * 1024)
/* Written at once to a stderr that is a pipe without blocking, when it is writable at
 * all. */
#define STDERR_PIECE 4096

struct log_stream {
	struct logs *logs;
	const char *name;
	int read_fd, write_fd;
	struct event *readable;
	struct lines lines;
	struct tail tail;
	struct sink sink;
	struct buf batch; /* whole lines that are not yet written */
	unsigned batch_lines;
};

struct logs {
	struct log_stream streams[WORKER_COUNT];
	struct sink own;
};

/* The writer of log.h has no argument. */
static struct logs *own_logs;

static void on_line(void *arg, const char *line, size_t len)
{
	struct log_stream *s = arg;
	char text[LINES_MAX + 1], wrapped[LOG_LINE_MAX];
	static const char ours[] = "ts=";

	if (len == 0)
		return;
	if (len > sizeof(ours) && memcmp(line, ours, sizeof(ours) - 1) == 0) {
		buf_add(&s->batch, line, len);
		buf_add_char(&s->batch, '\n');
		tail_add(&s->tail, line, len);
	} else {
		/* A crash report, a library, the kernel's linker: no line of ours. */
		for (size_t i = 0; i < len; i++)
			text[i] = line[i] ? line[i] : '?';
		text[len] = '\0';
		len = log_wrap(wrapped, s->name, LOG_LEVEL_WARN, text);
		buf_add(&s->batch, wrapped, len);
		tail_add(&s->tail, wrapped, len - 1);
	}
	s->batch_lines++;
}

static void file_batch(struct log_stream *s)
{
	if (s->batch_lines > 0)
		sink_write(&s->sink, s->batch.data, s->batch.len, s->batch_lines,
			clock_mono());
	buf_clear(&s->batch);
	s->batch_lines = 0;
}

/* Bytes read, 0 when there is nothing. */
static size_t read_some(struct log_stream *s)
{
	static char data[READ_BUDGET]; /* one thread */
	ssize_t n = read(s->read_fd, data, sizeof(data));

	if (n <= 0)
		return 0; /* we hold the other end: there is no end of file */
	lines_feed(&s->lines, data, (size_t)n, on_line, s);
	file_batch(s);
	return (size_t)n;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct log_stream *s = arg;

	(void)fd;
	(void)what;
	read_some(s);
}

/* For the supervisor's own lines. Whoever started us may not read our stderr: then the
 * line is only filed. */
static void write_own(const char *line, size_t len)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
	ssize_t done;

	if (poll(&p, 1, 0) == 1 && p.revents & POLLOUT) {
		done = write(
			STDERR_FILENO, line, len > STDERR_PIECE ? STDERR_PIECE : len);
		(void)done; /* nobody to tell */
	}
	if (own_logs)
		sink_write(&own_logs->own, line, len, 1, clock_mono());
}

static int open_stream(
	struct logs *logs, enum worker_id id, struct event_base *base, const char *dir)
{
	struct log_stream *s = &logs->streams[id];
	int fds[2];

	*s = (struct log_stream){.logs = logs,
		.name = worker_infos[id].name,
		.read_fd = -1,
		.write_fd = -1};
	sink_open(&s->sink, dir, s->name, clock_mono());
	if (pipe2(fds, O_CLOEXEC) != 0)
		return -errno;
	s->read_fd = fds[0];
	s->write_fd = fds[1];
	if (fcntl(s->read_fd, F_SETFL, O_NONBLOCK) != 0)
		return -errno;
	s->readable = event_new(base, s->read_fd, EV_READ | EV_PERSIST, on_readable, s);
	if (!s->readable || event_add(s->readable, NULL) != 0)
		return -ENOMEM;
	return 0;
}

struct logs *logs_new(struct event_base *base, const char *dir)
{
	struct logs *logs = calloc(1, sizeof(*logs));
	int error = 0;

	if (!logs)
		return NULL;
	for (int i = 0; i < WORKER_COUNT; i++)
		logs->streams[i].read_fd = logs->streams[i].write_fd = -1;
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		error = -errno;
	sink_open(&logs->own, dir, "paiged", clock_mono());
	for (int i = 0; i < WORKER_COUNT && !error; i++)
		error = open_stream(logs, (enum worker_id)i, base, dir);
	if (error) {
		logs_free(logs);
		errno = -error;
		return NULL;
	}
	own_logs = logs;
	log_set_writer(write_own);
	return logs;
}

int logs_write_fd(const struct logs *logs, enum worker_id id)
{
	return logs->streams[id].write_fd;
}

void logs_ended(struct logs *logs, enum worker_id id)
{
	struct log_stream *s = &logs->streams[id];
	size_t n, total = 0;

	while (total < DRAIN_MAX && (n = read_some(s)) > 0)
		total += n;
	lines_flush(&s->lines, on_line, s);
	file_batch(s);
}

void logs_tail(const struct logs *logs, enum worker_id id, size_t lines, struct buf *out)
{
	tail_read(&logs->streams[id].tail, lines, out);
}

uint64_t logs_dropped(const struct logs *logs)
{
	uint64_t n = logs->own.dropped_total;

	for (int i = 0; i < WORKER_COUNT; i++)
		n += logs->streams[i].sink.dropped_total;
	return n;
}

void logs_check(struct logs *logs, struct mono now)
{
	sink_check(&logs->own, now);
	for (int i = 0; i < WORKER_COUNT; i++)
		sink_check(&logs->streams[i].sink, now);
}

void logs_free(struct logs *logs)
{
	if (!logs)
		return;
	if (own_logs == logs) {
		log_set_writer(NULL);
		own_logs = NULL;
	}
	for (int i = 0; i < WORKER_COUNT; i++) {
		struct log_stream *s = &logs->streams[i];

		if (s->readable)
			event_free(s->readable);
		if (s->read_fd >= 0)
			close(s->read_fd);
		if (s->write_fd >= 0)
			close(s->write_fd);
		sink_close(&s->sink);
		buf_free(&s->batch);
	}
	sink_close(&logs->own);
	free(logs);
}

/* logs.c - see logs.h. Called by process.c and daemon.c, and by log.h for the
 * supervisor's own lines. */
#include "supervisor/paiged/logs/logs.h"

#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/tables/supervisor.h"
#include "supervisor/paiged/logs/journal.h"
#include "supervisor/paiged/logs/lines.h"
#include "supervisor/paiged/logs/log_file.h"
#include "supervisor/paiged/logs/tail.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of one worker in one turn of the loop, so that a flood does not starve the others. */
#define READ_BUDGET 65536
/* Of what a dead worker left in its pipe: more than a pipe holds. */
#define DRAIN_MAX (1024 * 1024)

struct log_stream {
	struct logs *logs;
	const char *name;
	int read_fd, write_fd;
	struct event *readable;
	struct lines lines;
	struct tail tail;
	struct log_file log_file;
	struct buf batch; /* whole lines that are not yet written */
	unsigned batch_lines;
};

struct logs {
	struct log_stream streams[WORKER_COUNT];
	struct log_file own;
	uint64_t
		unheard; /* lines that the journal did not take, since it last took one */
};

/* The writer of log.h has no argument. */
static struct logs *own_logs;

/* Tells the journal, when it takes lines again, how many it did not get. */
static bool say_unheard(struct logs *logs)
{
	char text[100], line[LOG_LINE_MAX];

	snprintf(text, sizeof(text),
		"%" PRIu64 " lines are missing here: the journal was behind",
		logs->unheard);
	if (!journal_write(line, log_wrap(line, SUPERVISOR_NAME, LOG_LEVEL_WARN, text)))
		return false;
	logs->unheard = 0;
	return true;
}

/* A line with its newline, of a worker or our own, for the journal. It never holds up
 * anybody: what it does not take at once is in the files. */
static void tell_journal(struct logs *logs, const char *line, size_t len)
{
	if ((logs->unheard > 0 && !say_unheard(logs)) || !journal_write(line, len))
		logs->unheard++;
}

static void on_line(void *arg, const char *line, size_t len)
{
	struct log_stream *s = arg;
	char text[LINES_MAX + 1], whole[LOG_LINE_MAX];
	static const char ours[] = "ts=";

	if (len == 0)
		return;
	if (len > sizeof(ours) && memcmp(line, ours, sizeof(ours) - 1) == 0) {
		memcpy(whole, line, len);
		whole[len++] = '\n';
	} else {
		/* A crash report, a library, the kernel's linker: no line of ours. */
		for (size_t i = 0; i < len; i++)
			text[i] = line[i] ? line[i] : '?';
		text[len] = '\0';
		len = log_wrap(whole, s->name, LOG_LEVEL_WARN, text);
	}
	buf_add(&s->batch, whole, len);
	tail_add(&s->tail, whole, len - 1);
	s->batch_lines++;
	if (journal_listens())
		tell_journal(s->logs, whole, len);
}

static void file_batch(struct log_stream *s)
{
	if (s->batch_lines > 0)
		log_file_write(&s->log_file, s->batch.data, s->batch.len, s->batch_lines,
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

static void on_readable(EVENT_UNUSED, void *arg)
{
	read_some(arg);
}

/* For the supervisor's own lines. Whoever started us may not read our stderr: then the
 * line is only filed. */
static void write_own(const char *line, size_t len)
{
	if (own_logs && journal_listens())
		tell_journal(own_logs, line, len);
	else
		(void)journal_write(line, len); /* nobody to tell */
	if (own_logs)
		log_file_write(&own_logs->own, line, len, 1, clock_mono());
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
	log_file_open(&s->log_file, dir, s->name, clock_mono());
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
	struct logs *logs = xcalloc(1, sizeof(*logs));
	int error = 0;

	for (int i = 0; i < WORKER_COUNT; i++)
		logs->streams[i].read_fd = logs->streams[i].write_fd = -1;
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		error = -errno;
	log_file_open(&logs->own, dir, SUPERVISOR_NAME, clock_mono());
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

bool logs_recent(const struct logs *logs, struct str name,
	const struct recent_query *query, struct recent_page *page, struct arena *arena)
{
	const int worker = worker_by_name(name);
	const struct log_file *file = worker >= 0 ? &logs->streams[worker].log_file
				      : str_is(name, SUPERVISOR_NAME) ? &logs->own
								      : NULL;

	if (!file)
		return false;
	recent_read(file->path, file->base, query, page, arena);
	return true;
}

uint64_t logs_dropped(const struct logs *logs)
{
	uint64_t n = logs->own.dropped_total;

	for (int i = 0; i < WORKER_COUNT; i++)
		n += logs->streams[i].log_file.dropped_total;
	return n;
}

void logs_check(struct logs *logs)
{
	if (logs->unheard > 0)
		(void)say_unheard(logs); /* a second later again */
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
		log_file_close(&s->log_file);
		buf_free(&s->batch);
	}
	log_file_close(&logs->own);
	free(logs);
}

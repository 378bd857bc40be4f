/*
 * command_logs.c - paigectl logs: the last lines of several log files in the order of
 * their times, and new ones as they come.
 *
 * Reads the files themselves, so it works without a daemon and costs the supervisor
 * nothing. A file that is rotated is read to its end before the new one is taken.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "proto/tables/supervisor.h"
#include "proto/tables/workers.h"
#include "supervisor/paigectl/logs/log_filter.h"
#include "supervisor/paigectl/logs/log_json.h"
#include "supervisor/paigectl/paigectl.h"
#include "supervisor/shared/places.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCES_MAX (WORKER_COUNT + 1)
#define DEFAULT_LINES 50
#define LINES_LIMIT 1000000
/* The kernel tells of changes; this is for a file system that does not. */
#define FOLLOW_MS 1000

struct line {
	struct str text;
	struct str time; /* its own, or of the line before it in its file */
	size_t order;	 /* of reading, for equal times */
};

struct source {
	char *path;
	int fd;		 /* of the newest file, -1: there is none */
	off_t at;	 /* what was shown */
	struct buf text; /* what was read: the lines point into it */
	struct buf part; /* following: the beginning of a line */
	char time[24];	 /* following: of the last line that had one */
	bool has_time;
};

struct logs_view {
	struct source sources[SOURCES_MAX];
	size_t count;
	struct log_filter filter;
	bool json;
	struct line *lines;
	size_t line_count, line_room;
};

/* ---- lines ---- */

/* "2026-11-27T12:00:00.000Z", or absent. */
static struct str time_of(struct str line)
{
	if (!str_starts(line, "ts=") || line.len < 3 + 24)
		return (struct str){0};
	return (struct str){line.ptr + 3, 24};
}

static void print_json(struct str line)
{
	AUTO_BUF json = {0};

	log_json_line(line, &json);
	printf("%.*s\n", STR_ARG(buf_str(&json)));
}

static void print_line(const struct logs_view *v, struct str line)
{
	enum log_level level = log_level_of_line(line.ptr, line.len);

	if (v->json) {
		print_json(line);
		return;
	}

	terminal_print(level == LOG_LEVEL_ERROR	 ? COLOUR_RED
		       : level == LOG_LEVEL_WARN ? COLOUR_YELLOW
						 : COLOUR_NONE,
		"%.*s", STR_ARG(line));
	putchar('\n');
}

static void keep(struct logs_view *v, struct str line, struct str time)
{
	if (v->line_count == v->line_room) {
		v->line_room = v->line_room ? v->line_room * 2 : 1024;
		v->lines = xreallocarray(v->lines, v->line_room, sizeof(*v->lines));
	}
	v->lines[v->line_count] =
		(struct line){.text = line, .time = time, .order = v->line_count};
	v->line_count++;
}

static int by_time(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	size_t n = a->time.len < b->time.len ? a->time.len : b->time.len;
	int order = n > 0 ? memcmp(a->time.ptr, b->time.ptr, n) : 0;

	if (order)
		return order;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- files ---- */

static void read_rest(int fd, struct buf *out)
{
	ssize_t n;

	while ((n = read(fd, buf_reserve(out, 1 << 20), 1 << 20)) > 0)
		out->len += (size_t)n;
}

/* How many lines of the text are wanted. */
static size_t count_wanted(const struct logs_view *v, struct str text)
{
	struct str line, time = {0};
	size_t n = 0;

	while (str_take_line(&text, &line)) {
		if (time_of(line).ptr)
			time = time_of(line);
		n += log_filter_wants(&v->filter, line, time);
	}
	return n;
}

/* Puts the older files before, until there are enough lines. */
static void read_older(const struct logs_view *v, struct source *s, size_t enough)
{
	for (int i = 1; i < LOG_FILES && count_wanted(v, buf_str(&s->text)) < enough;
		i++) {
		struct buf older = {0};
		AUTO_FREE char *path = NULL;
		int fd;

		path = log_file_name(s->path, i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		read_rest(fd, &older);
		close(fd);
		buf_add_str(&older, buf_str(&s->text));
		buf_free(&s->text);
		s->text = older;
	}
}

/* Reads the last `enough` lines and remembers where the file ended. */
static void read_source(struct logs_view *v, struct source *s, size_t enough)
{
	struct str text, line, time = {0};
	size_t skip, n;

	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd >= 0) {
		read_rest(s->fd, &s->text);
		/* What has no newline yet is shown when it is whole. */
		while (s->text.len > 0 && s->text.data[s->text.len - 1] != '\n')
			s->text.len--;
		s->at = (off_t)s->text.len;
	}
	read_older(v, s, enough);
	text = buf_str(&s->text);
	n = count_wanted(v, text);
	skip = n > enough ? n - enough : 0;
	while (str_take_line(&text, &line)) {
		if (time_of(line).ptr)
			time = time_of(line);
		if (!log_filter_wants(&v->filter, line, time))
			continue;
		if (skip > 0)
			skip--;
		else
			keep(v, line, time);
	}
}

/* ---- following ---- */

static void show_new(const struct logs_view *v, struct source *s)
{
	struct str whole, line;
	size_t end, shown = s->part.len;

	if (s->fd < 0 || lseek(s->fd, s->at, SEEK_SET) < 0)
		return;
	read_rest(s->fd, &s->part);
	s->at += (off_t)(s->part.len - shown);
	/* What has no newline yet stays. */
	for (end = s->part.len; end > 0 && s->part.data[end - 1] != '\n'; end--)
		;
	whole = (struct str){s->part.data, end};
	while (str_take_line(&whole, &line)) {
		if (time_of(line).ptr) {
			memcpy(s->time, time_of(line).ptr, sizeof(s->time));
			s->has_time = true;
		}
		if (log_filter_wants(&v->filter, line,
			    s->has_time ? (struct str){s->time, sizeof(s->time)}
					: (struct str){0}))
			print_line(v, line);
	}
	s->part.len -= end;
	if (s->part.len > 0 && end > 0)
		memmove(s->part.data, s->part.data + end, s->part.len);
}

/* Goes over to a file that has taken the place of the one we read. */
static void take_new_file(struct source *s)
{
	struct stat ours, now;

	if (stat(s->path, &now) != 0)
		return;
	if (s->fd >= 0 && fstat(s->fd, &ours) == 0 && ours.st_ino == now.st_ino &&
		ours.st_dev == now.st_dev) {
		if (now.st_size < s->at)
			s->at = 0; /* cut short by somebody */
		return;
	}
	if (s->fd >= 0)
		close(s->fd);
	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	s->at = 0;
	buf_clear(&s->part);
}

/* Until it is interrupted, or nobody reads what we write. */
static int follow(struct logs_view *v, const char *dir)
{
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char events[4096];

	if (watch < 0 ||
		inotify_add_watch(watch, dir, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return paigectl_fail(
			PAIGECTL_FAILED, "cannot watch %s: %s", dir, strerror(errno));
	for (;;) {
		struct pollfd p = {.fd = watch, .events = POLLIN};

		for (size_t i = 0; i < v->count; i++) {
			show_new(v, &v->sources[i]);
			take_new_file(&v->sources[i]);
			show_new(v, &v->sources[i]);
		}
		if (fflush(stdout) != 0)
			return PAIGECTL_DONE;
		if (poll(&p, 1, FOLLOW_MS) > 0)
			while (read(watch, events, sizeof(events)) > 0)
				;
	}
}

/* ---- the command ---- */

static void add_source(struct logs_view *v, const char *dir, const char *name)
{
	struct source *s = &v->sources[v->count];

	*s = (struct source){.fd = -1};
	for (size_t i = 0; i < v->count; i++) {
		size_t n = strlen(name);
		const char *other = strrchr(v->sources[i].path, '/') + 1;

		if (strncmp(other, name, n) == 0 && strcmp(other + n, ".log") == 0)
			return; /* named twice */
	}
	s->path = xasprintf("%s/%s.log", dir, name);
	v->count++;
}

/* 0, or an exit code after having said why. */
static int choose_sources(struct logs_view *v, const struct options *o, const char *dir)
{
	for (int i = 0; i < o->operand_count; i++) {
		const char *name = o->operands[i];

		if (paigectl_check_worker(name, SUPERVISOR_NAME) != 0)
			return PAIGECTL_USAGE;
		add_source(v, dir, name);
	}
	if (v->count > 0)
		return 0;
	add_source(v, dir, SUPERVISOR_NAME);
	for (int i = 0; i < WORKER_COUNT; i++)
		add_source(v, dir, worker_infos[i].name);
	return 0;
}

/* 0, or an exit code after having said why. */
static int read_numbers(const struct options *o, struct logs_view *v, size_t *lines)
{
	const char *level = options_get(o, "level");
	/* Who says from when on wants all from then on. */
	long value = options_get(o, "since") ? LINES_LIMIT : DEFAULT_LINES;

	if (paigectl_number(o, "lines", 0, LINES_LIMIT, &value) != PAIGECTL_DONE)
		return PAIGECTL_USAGE;
	*lines = (size_t)value;
	if (level) {
		int found = log_level_by_name(level, strlen(level));

		if (found < 0)
			return paigectl_fail(PAIGECTL_USAGE,
				"--level=%s: one of debug, info, warn, error", level);
		v->filter.level = (enum log_level)found;
	}
	return 0;
}

/* 0, or an exit code after having said why. */
static int read_time(const struct options *o, const char *name, char out[WALL_ISO_SIZE])
{
	const char *text = options_get(o, name);

	if (!text || log_filter_time(text, clock_wall(), out) == 0)
		return 0;
	return paigectl_fail(PAIGECTL_USAGE,
		"--%s=%s: a time of UTC such as 2026-11-29 or 2026-11-29T12:30:00, or "
		"how long ago: 90s, 10m, 2h, 3d",
		name, text);
}

/* 0, or an exit code after having said why. */
static int read_filter(const struct options *o, struct log_filter *f)
{
	const char *pattern = options_get(o, "grep");
	char why[200];
	int error, code = read_time(o, "since", f->since);

	if (code == 0)
		code = read_time(o, "until", f->until);
	if (code == 0 && *f->until && options_get(o, "follow"))
		code = paigectl_fail(
			PAIGECTL_USAGE, "--until and --follow exclude each other");
	if (code != 0 || !pattern)
		return code;
	error = regcomp(&f->pattern, pattern, REG_EXTENDED);
	if (error) {
		regerror(error, &f->pattern, why, sizeof(why));
		return paigectl_fail(PAIGECTL_USAGE,
			"--grep=%s: not a regular expression: %s", pattern, why);
	}
	f->has_pattern = true;
	return 0;
}

static void show_last(struct logs_view *v, size_t lines)
{
	size_t first;

	for (size_t i = 0; i < v->count; i++)
		read_source(v, &v->sources[i], lines);
	if (v->line_count > 0)
		qsort(v->lines, v->line_count, sizeof(*v->lines), by_time);
	first = v->line_count > lines ? v->line_count - lines : 0;
	for (size_t i = first; i < v->line_count; i++)
		print_line(v, v->lines[i].text);
}

static void forget(struct logs_view *v)
{
	for (size_t i = 0; i < v->count; i++) {
		if (v->sources[i].fd >= 0)
			close(v->sources[i].fd);
		free(v->sources[i].path);
		buf_free(&v->sources[i].text);
		buf_free(&v->sources[i].part);
	}
	free(v->lines);
	if (v->filter.has_pattern)
		regfree(&v->filter.pattern);
}

int paigectl_logs(const struct options *o)
{
	struct logs_view view = {.filter = {.level = LOG_LEVEL_DEBUG},
		.json = options_get(o, "json") != NULL};
	AUTO_PLACE place = {0};
	AUTO_BUF dir = {0};
	size_t lines;
	int code = place_find(o, &place);

	if (code == 0) {
		buf_printf(&dir, "%s/logs", place.data_dir);
		buf_add_char(&dir, '\0');
		if (access(dir.data, R_OK | X_OK) != 0)
			code = paigectl_fail(PAIGECTL_FAILED, "cannot read %s: %s",
				dir.data, strerror(errno));
	}
	if (code == 0)
		code = read_numbers(o, &view, &lines);
	if (code == 0)
		code = read_filter(o, &view.filter);
	if (code == 0)
		code = choose_sources(&view, o, dir.data);
	if (code == 0) {
		show_last(&view, lines);
		if (options_get(o, "follow"))
			code = follow(&view, dir.data);
	}
	forget(&view);
	return code;
}

/* log.c - logfmt lines to stderr (log.h). One write(2) per line, so that lines of threads
 * never mix. */
#include "common/base/log.h"
#include "common/base/clock.h"
#include "common/base/utf8.h"
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *log_worker = "paige";
/* Set by the loop, read by every thread. */
static _Atomic enum log_level log_least = LOG_LEVEL_INFO;
static void (*log_writer)(const char *line, size_t len);
static const char *const level_names[] = {"debug", "info", "warn", "error"};

struct line {
	char text[LOG_LINE_MAX];
	size_t len;
};

void log_init(const char *worker, enum log_level level)
{
	log_worker = worker;
	log_least = level;
}

void log_set_level(enum log_level level)
{
	log_least = level;
}

void log_set_writer(void (*write_line)(const char *line, size_t len))
{
	log_writer = write_line;
}

int log_level_by_name(const char *name, size_t len)
{
	for (int i = 0; i <= LOG_LEVEL_ERROR; i++)
		if (strlen(level_names[i]) == len &&
			memcmp(level_names[i], name, len) == 0)
			return i;
	return -1;
}

enum log_level log_level_of_line(const char *line, size_t len)
{
	static const char key[] = " level=";
	const char *at = memmem(line, len, key, sizeof(key) - 1), *end = line + len;
	size_t n = 0;
	int level;

	if (!at)
		return LOG_LEVEL_INFO;
	at += sizeof(key) - 1;
	while (at + n < end && at[n] != ' ' && at[n] != '\n')
		n++;
	level = log_level_by_name(at, n);
	return level < 0 ? LOG_LEVEL_INFO : (enum log_level)level;
}

/* Leaves room for the newline; what does not fit is cut. */
static void add(struct line *l, const char *text, size_t len)
{
	size_t room = sizeof(l->text) - 1 - l->len;

	if (len > room)
		len = room;
	memcpy(l->text + l->len, text, len);
	l->len += len;
}

static bool plain(const char *value)
{
	if (!*value)
		return false;
	for (const unsigned char *p = (const unsigned char *)value; *p; p++)
		if (*p <= ' ' || *p == '"' || *p == '=' || *p == '\\' || *p >= 0x7F)
			return false;
	return true;
}

static void add_value(struct line *l, const char *value)
{
	struct str rest = str_of(value);
	char shown[UTF8_SHOWN_SIZE];

	if (plain(value)) {
		add(l, value, rest.len);
		return;
	}
	add(l, "\"", 1);
	while (rest.len > 0) {
		if (*rest.ptr == '\n') {
			add(l, "\\n", 2);
			rest = (struct str){rest.ptr + 1, rest.len - 1};
			continue;
		}
		if (*rest.ptr == '"' || *rest.ptr == '\\')
			add(l, "\\", 1);
		add(l, shown, utf8_shown(&rest, shown));
	}
	add(l, "\"", 1);
}

static void add_field(struct line *l, const char *name, const char *value)
{
	add(l, " ", 1);
	add(l, name, strlen(name));
	add(l, "=", 1);
	add_value(l, value);
}

/* Holds a va_list so that it can be handed on by reference on every architecture. */
struct arguments {
	va_list list;
};

/* Takes one argument of an integer conversion, of the size that its length modifier says.
 */
static void skip_integer(const char *modifier, size_t len, struct arguments *args)
{
	if (len == 1 && *modifier == 'z')
		(void)va_arg(args->list, size_t);
	else if (len == 1 && *modifier == 'j')
		(void)va_arg(args->list, intmax_t);
	else if (len == 1 && *modifier == 't')
		(void)va_arg(args->list, ptrdiff_t);
	else if (len == 2 && *modifier == 'l')
		(void)va_arg(args->list, long long);
	else if (len == 1 && *modifier == 'l')
		(void)va_arg(args->list, long);
	else
		(void)va_arg(args->list, int);
}

/* Takes the arguments that `format` uses: after vsnprintf a va_list may or may not have
 * moved. */
static void skip_arguments(const char *format, struct arguments *args)
{
	for (const char *p = strchr(format, '%'); p; p = strchr(p, '%')) {
		const char *modifier;
		size_t len;

		p++;
		for (; *p && strchr("-+ #0123456789.*'", *p); p++)
			if (*p == '*')
				(void)va_arg(args->list, int);
		modifier = p;
		len = strspn(p, "hlzjt");
		p += len;
		if (!*p)
			return;
		if (strchr("diouxXc", *p))
			skip_integer(modifier, len, args);
		else if (strchr("aAeEfFgG", *p))
			(void)va_arg(args->list, double);
		else if (*p != '%' && *p != 'm')
			(void)va_arg(args->list, void *);
		p++;
	}
}

/* The fields that every line has. */
static void begin(
	struct line *l, enum log_level level, const char *worker, const char *message)
{
	char stamp[WALL_ISO_SIZE];

	l->len = 0;
	wall_iso(clock_wall(), stamp);
	add(l, "ts=", 3);
	add(l, stamp, strlen(stamp));
	add_field(l, "level", level_names[level]);
	add_field(l, "worker", worker);
	add_field(l, "msg", message);
}

size_t log_wrap(char out[LOG_LINE_MAX], const char *worker, enum log_level level,
	const char *message)
{
	struct line l;

	begin(&l, level, worker, message);
	l.text[l.len++] = '\n';
	memcpy(out, l.text, l.len);
	return l.len;
}

void log_line(enum log_level level, const char *message, ...)
{
	int saved = errno;
	char value[LOG_LINE_MAX];
	const char *name;
	struct arguments args;
	struct line l;
	ssize_t done;

	if (level < log_least)
		return;
	begin(&l, level, log_worker, message);
	va_start(args.list, message);
	while ((name = va_arg(args.list, const char *)) != NULL) {
		const char *format = va_arg(args.list, const char *);
		va_list copy;

		va_copy(copy, args.list);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		vsnprintf(value, sizeof(value), format, copy);
#pragma GCC diagnostic pop
		va_end(copy);
		skip_arguments(format, &args);
		add_field(&l, name, value);
	}
	va_end(args.list);
	l.text[l.len++] = '\n';
	if (log_writer) {
		log_writer(l.text, l.len);
	} else {
		/* Nobody to tell when stderr is gone. */
		done = write(STDERR_FILENO, l.text, l.len);
		(void)done;
	}
	errno = saved;
}

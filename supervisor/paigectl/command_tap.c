/*
 * command_tap.c - paigectl tap: the messages between the workers as they happen.
 *
 *   12:00:00.123 gateway > fswatch      fs.open {"path":"src/a.ts"}
 *   12:00:00.124 gateway < fswatch      fs.open 0.8 ms {"path":...}
 *   12:00:00.130 store *                action/file_open {"id":...}
 *
 * Reads lines of type tapped from the pipe that the supervisor gives (tap.h), until it is
 * interrupted, the daemon ends, or nobody reads what we write.
 */
#include "common/base/file_io.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES 65536
/* Of a body on the screen. */
#define BODY_COLUMNS 160

struct tap_view {
	const struct options *options;
	bool json;
	struct buf part; /* the beginning of a line */
};

static bool wanted(const struct tap_view *v, const struct tapped *t)
{
	for (int i = 0; i < v->options->operand_count; i++)
		if (str_is(t->from, v->options->operands[i]) ||
			str_is(t->to, v->options->operands[i]))
			return true;
	return v->options->operand_count == 0;
}

static void print_body(const struct tapped *t)
{
	int columns = t->body.len > BODY_COLUMNS ? BODY_COLUMNS : (int)t->body.len;

	terminal_print(COLOUR_DIM, " %.*s", columns, t->body.ptr ? t->body.ptr : "");
	if (t->bytes > columns)
		terminal_print(COLOUR_DIM, "… (%lld bytes)", (long long)t->bytes);
}

static void print_ways(const struct tapped *t, const char *arrow)
{
	char ways[64];

	snprintf(ways, sizeof(ways), "%.*s %s %.*s", STR_ARG(t->from), arrow,
		STR_ARG(t->to));
	/* The time of day is enough on a screen. */
	printf("%.12s %-28s ", t->at.ptr + 11, ways);
}

static void print_tapped(const struct tapped *t)
{
	static const char *const arrows[] = {">", "<", "x", "*", "*"};

	print_ways(t, arrows[t->kind]);
	if (t->kind == TAPPED_DROPPED) {
		terminal_print(COLOUR_YELLOW,
			"%lld messages not shown: too many to keep up",
			(long long)t->dropped);
	} else {
		printf("%.*s", STR_ARG(t->name));
		if (t->has_ms)
			printf(" %.1f ms", t->ms);
		if (t->code.ptr)
			terminal_print(COLOUR_RED, " %.*s", STR_ARG(t->code));
		print_body(t);
	}
	putchar('\n');
}

static void show_line(struct tap_view *v, struct str line)
{
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct tapped t;
	AUTO_DOC *doc = proto_parse(line, &error);

	if (doc &&
		proto_decode(tapped_type(), yyjson_doc_get_root(doc), "line",
			DECODE_LENIENT, &arena, &t, &error) == 0 &&
		wanted(v, &t)) {
		if (v->json)
			printf("%.*s\n", STR_ARG(line));
		else
			print_tapped(&t);
	}
}

static void show(struct tap_view *v)
{
	struct str text = buf_str(&v->part);
	const char *newline;

	while (text.len > 0 && (newline = memchr(text.ptr, '\n', text.len)) != NULL) {
		struct str line = {text.ptr, (size_t)(newline - text.ptr)};

		show_line(v, line);
		text = (struct str){newline + 1, text.len - line.len - 1};
	}
	if (text.len > 0)
		memmove(v->part.data, text.ptr, text.len);
	v->part.len = text.len;
}

static void follow(struct tap_view *v, int fd)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = STDOUT_FILENO}};

	for (;;) {
		ssize_t n;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[1].revents & (POLLERR | POLLHUP | POLLNVAL))
			return; /* nobody reads what we write */
		n = read(fd, buf_reserve(&v->part, READ_BYTES), READ_BYTES);
		if (n == 0)
			return;
		if (n < 0)
			continue;
		v->part.len += (size_t)n;
		show(v);
		if (fflush(stdout) != 0)
			return;
	}
}

static int check_names(const struct options *o)
{
	for (int i = 0; i < o->operand_count; i++)
		if (paigectl_check_worker(o->operands[i], NULL) != 0)
			return PAIGECTL_USAGE;
	return 0;
}

int paigectl_tap(const struct options *o)
{
	struct tap_view view = {.options = o, .json = options_get(o, "json") != NULL};
	AUTO_PLACE place = {0};
	AUTO_FD fd = -1;
	AUTO_FD connection = -1;
	int code = check_names(o);

	if (code == 0)
		code = place_find(o, &place);
	if (code == 0)
		code = client_tap(&place, &fd, &connection);
	if (code == 0)
		follow(&view, fd);
	buf_free(&view.part);
	return code;
}

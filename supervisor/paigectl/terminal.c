/* terminal.c - how paigectl writes for people; see paigectl.h. */
#include "common/base/alloc.h"
#include "supervisor/paigectl/paigectl.h"

#include "common/base/utf8.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool wants_colours(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && term &&
	       strcmp(term, "dumb") != 0;
}

/* ---- what may reach a terminal ---- */

static const char *const codes[] = {"", "\033[31m", "\033[32m", "\033[33m", "\033[2m"};
static const char plain_code[] = "\033[0m";

/* Bytes that no text has, for what alone may be sent to a terminal beside text: the codes
 * of colours. */
#define FIRST_MARK 0xF8
#define PLAIN_MARK 0xFF

static bool colours;
static struct buf cut_off; /* the beginning of a character whose rest is to come */

void terminal_add_shown(struct buf *out, struct str text)
{
	while (text.len > 0) {
		char shown[UTF8_SHOWN_SIZE];

		if (*text.ptr == '\n' || *text.ptr == '\t') {
			buf_add_char(out, *text.ptr);
			text = (struct str){text.ptr + 1, text.len - 1};
		} else {
			buf_add(out, shown, utf8_shown(&text, shown));
		}
	}
}

static bool is_mark(char c)
{
	unsigned char byte = (unsigned char)c;

	return colours && (byte == PLAIN_MARK ||
				  (byte >= FIRST_MARK &&
					  byte - FIRST_MARK < (int)(sizeof(codes) /
								      sizeof(codes[0]))));
}

/* How much of the end of `text` may be the beginning of a character. */
static size_t cut_at_end(struct str text)
{
	for (size_t n = 1; n <= 3 && n <= text.len; n++) {
		unsigned char byte = (unsigned char)text.ptr[text.len - n];

		if (byte >= 0xC2 && byte <= 0xF4)
			return n < (byte >= 0xF0 ? 4u : byte >= 0xE0 ? 3u : 2u) ? n : 0;
		if (!utf8_continues(byte))
			return 0;
	}
	return 0;
}

static void filter(struct buf *out, struct str text)
{
	while (text.len > 0) {
		size_t n = 0;

		while (n < text.len && !is_mark(text.ptr[n]))
			n++;
		terminal_add_shown(out, (struct str){text.ptr, n});
		if (n < text.len) {
			unsigned char mark = (unsigned char)text.ptr[n++];

			buf_add_str(out,
				str_of(mark == PLAIN_MARK ? plain_code
							  : codes[mark - FIRST_MARK]));
		}
		text = (struct str){text.ptr + n, text.len - n};
	}
}

static bool write_all(struct str text)
{
	while (text.len > 0) {
		ssize_t n = write(STDOUT_FILENO, text.ptr, text.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text = (struct str){text.ptr + n, text.len - (size_t)n};
	}
	return true;
}

/* 0 means an error to fopencookie. */
static ssize_t on_write(void *cookie, const char *data, size_t len)
{
	AUTO_BUF out = {0};
	struct str text;
	size_t kept;
	bool done;

	(void)cookie;
	buf_add(&cut_off, data, len);
	text = buf_str(&cut_off);
	kept = cut_at_end(text);
	filter(&out, (struct str){text.ptr, text.len - kept});
	memmove(cut_off.data, text.ptr + text.len - kept, kept);
	cut_off.len = kept;
	done = write_all(buf_str(&out));
	return done ? (ssize_t)len : 0;
}

static int on_close(void *cookie)
{
	AUTO_BUF out = {0};
	bool done;

	(void)cookie;
	filter(&out, buf_str(&cut_off));
	done = write_all(buf_str(&out));
	buf_free(&cut_off);
	return done ? 0 : EOF;
}

void terminal_init(void)
{
	const cookie_io_functions_t functions = {.write = on_write, .close = on_close};
	FILE *filtered = alloc_checked(fopencookie(NULL, "w", functions));
	colours = wants_colours();
	setvbuf(filtered, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	stdout = filtered;
}

void terminal_print(enum colour colour, const char *format, ...)
{
	bool coloured = colour != COLOUR_NONE && colours;
	va_list args;

	if (coloured)
		putchar(FIRST_MARK + (int)colour);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (coloured)
		putchar(PLAIN_MARK);
}

int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 80)
		return 80;
	return size.ws_col;
}

void terminal_duration(int64_t ms, char out[32])
{
	int64_t s = ms / 1000;

	if (ms < 1000)
		snprintf(out, 32, "%" PRId64 " ms", ms);
	else if (s < 60)
		snprintf(out, 32, "%" PRId64 " s", s);
	else if (s < 3600)
		snprintf(out, 32, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, 32, "%" PRId64 " h %" PRId64 " min", s / 3600,
			s % 3600 / 60);
	else
		snprintf(out, 32, "%" PRId64 " d %" PRId64 " h", s / 86400,
			s % 86400 / 3600);
}

void terminal_age(int64_t ms, char out[32])
{
	int64_t s = ms / 1000;

	if (s < 60)
		snprintf(out, 32, "%" PRId64 "s", s);
	else if (s < 3600)
		snprintf(out, 32, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, 32, "%" PRId64 "h%02" PRId64 "m", s / 3600, s % 3600 / 60);
	else if (s < 100 * 86400)
		snprintf(out, 32, "%" PRId64 "d%02" PRId64 "h", s / 86400,
			s % 86400 / 3600);
	else
		snprintf(out, 32, "%" PRId64 "d", s / 86400);
}

void terminal_clear(void)
{
	fflush(stdout);
	(void)write_all(STR_LIT("\033[H\033[2J"));
}

void terminal_bytes(int64_t bytes, char out[32])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t i = 0;

	while (value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		i++;
	}
	snprintf(out, 32, i ? "%.1f %s" : "%.0f %s", value, units[i]);
}

#define CUT_MARK "..."

void terminal_cell(struct str text, int width, enum terminal_cut cut)
{
	AUTO_BUF visible = {0};
	size_t room = (size_t)width, kept = room - strlen(CUT_MARK), from = 0;

	/* Escaped before it is measured. */
	terminal_add_shown(&visible, text.len ? text : STR_LIT("-"));
	if (visible.len <= room) {
		printf("%-*.*s", width, STR_ARG(buf_str(&visible)));
	} else if (cut == TERMINAL_CUT_END) {
		while (kept > 0 && utf8_continues((unsigned char)visible.data[kept]))
			kept--;
		printf("%.*s%-*s", (int)kept, visible.data, width - (int)kept, CUT_MARK);
	} else {
		from = visible.len - kept;
		while (from < visible.len &&
			utf8_continues((unsigned char)visible.data[from]))
			from++;
		printf(CUT_MARK "%-*.*s", (int)kept, (int)(visible.len - from),
			visible.data + from);
	}
}

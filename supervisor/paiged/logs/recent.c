/* recent.c - see recent.h. */
#include "supervisor/paiged/logs/recent.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/utf8.h"
#include "supervisor/shared/places.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct str recent_safe(struct str line, struct arena *arena)
{
	char *out = arena_alloc(arena, line.len + 1), shown[UTF8_SHOWN_SIZE];
	size_t used = 0;

	while (line.len > 0) {
		const char *from = line.ptr;
		size_t len = utf8_shown(&line, shown);
		/* What would act instead of being seen is not shown as it is. */
		bool seen = from + len == line.ptr && memcmp(from, shown, len) == 0;

		if (seen || *from == '\t') {
			while (from < line.ptr)
				out[used++] = *from++;
		} else {
			out[used++] = '?';
		}
	}
	return (struct str){out, used};
}

/* The part [from, to) of the files, as far as it is there. */
struct span {
	char *bytes;
	int64_t from, to;
};

/* Opens <path>, or <path>.N; -1 when there is no such regular file. */
static int open_log(const char *path, int n, struct stat *st)
{
	AUTO_FREE char *name = log_file_name(path, n);
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Where the files end, and where the oldest one begins. */
static void measure(const char *path, int64_t base, int64_t *oldest, int64_t *end)
{
	struct stat st;

	*oldest = *end = base;
	for (int n = 0; n < LOG_FILES; n++) {
		AUTO_FD fd = open_log(path, n, &st);

		if (fd < 0)
			continue;
		if (n == 0)
			*end += st.st_size;
		else
			*oldest -= st.st_size;
	}
}

/* From the newest file back, until the beginning of the span is reached. */
static void read_span(const char *path, int64_t base, struct span *span)
{
	int64_t start = base, whole = span->to;
	struct stat st;

	for (int n = 0; n < LOG_FILES && whole > span->from; n++) {
		AUTO_FD fd = open_log(path, n, &st);
		int64_t from, got;

		if (fd < 0)
			continue;
		if (n > 0)
			start -= st.st_size;
		from = start > span->from ? start : span->from;
		got = from < whole ? pread(fd, span->bytes + (from - span->from),
					     (size_t)(whole - from), from - start)
				   : 0;
		if (from < whole && got < whole - from)
			break; /* cut meanwhile: what is older is not in its place */
		if (from < whole)
			whole = from;
	}
	span->bytes += whole - span->from;
	span->from = whole;
}

/* Which part of the files a query is about. */
static struct span choose_span(const struct recent_query *query, int64_t oldest,
	int64_t base, int64_t end, bool *missed)
{
	struct span span = {.from = oldest, .to = end};

	if (query->before >= 0 && query->before < span.to)
		span.to = query->before > oldest ? query->before : oldest;
	*missed = query->after > end || (query->after >= 0 && query->after < oldest);
	if (query->after > end)
		span.from = base; /* somebody has cut or replaced the file */
	else if (query->after > oldest)
		span.from = query->after;
	if (span.from > span.to)
		span.from = span.to;
	if (span.to - span.from > RECENT_BYTES_MAX) {
		span.from = span.to - RECENT_BYTES_MAX;
		*missed |= query->after >= 0;
	}
	return span;
}

/* The whole lines of a span; the first one may begin before it. */
static struct str whole_lines(struct span *span, bool at_line)
{
	struct str text = {span->bytes, (size_t)(span->to - span->from)}, part;
	const char *begin = text.ptr;

	while (text.len > 0 && text.ptr[text.len - 1] != '\n')
		text.len--;
	span->to = span->from + (int64_t)text.len;
	if (!at_line)
		(void)str_take_line(&text, &part);
	span->from += text.ptr - begin;
	return text;
}

void recent_read(const char *path, int64_t base, const struct recent_query *query,
	struct recent_page *page, struct arena *arena)
{
	const size_t lines =
		query->lines < RECENT_LINES_MAX ? query->lines : RECENT_LINES_MAX;
	struct str text, line, ring[RECENT_LINES_MAX];
	int64_t oldest, end, wanted;
	struct span span;
	size_t seen = 0, from;
	const char *begin;

	*page = (struct recent_page){.first = -1};
	measure(path, base, &oldest, &end);
	span = choose_span(query, oldest, base, end, &page->missed);
	wanted = span.from;
	span.bytes = arena_alloc(arena, RECENT_BYTES_MAX);
	read_span(path, base, &span);
	text = whole_lines(
		&span, span.from == oldest || span.from == base ||
			       (span.from == wanted && wanted == query->after));
	begin = text.ptr;
	while (lines > 0 && str_take_line(&text, &line))
		if (line.len > 0 && log_level_of_line(line.ptr, line.len) >= query->level)
			ring[seen++ % lines] = line;
	from = seen > lines ? seen - lines : 0;
	page->lines.items = arena_array(arena, lines + 1, sizeof(*page->lines.items));
	for (size_t i = from; i < seen; i++)
		page->lines.items[page->lines.count++] =
			recent_safe(ring[i % lines], arena);
	page->next = span.to;
	page->first = span.from + (from > 0 ? ring[from % lines].ptr - begin : 0);
	page->missed |= from > 0 && query->after >= 0;
	if (page->first <= oldest)
		page->first = -1;
}

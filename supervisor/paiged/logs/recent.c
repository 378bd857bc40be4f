/* recent.c - see recent.h. */
#include "supervisor/paiged/logs/recent.h"
#include "common/base/utf8.h"
#include "supervisor/paiged/logs/logs.h"
#include <fcntl.h>
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

/* The end of the file from the first whole line on; absent when it cannot be read. */
static struct str read_end(const char *path, struct arena *arena)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct str text = {NULL, 0}, part;
	struct stat st;

	if (fd < 0)
		return text;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		const off_t from = st.st_size > LOGS_RECENT_BYTES
					   ? st.st_size - LOGS_RECENT_BYTES
					   : 0;
		char *bytes = arena_alloc(arena, LOGS_RECENT_BYTES);
		ssize_t n = pread(fd, bytes, LOGS_RECENT_BYTES, from);

		text = (struct str){bytes, n > 0 ? (size_t)n : 0};
		if (from > 0)
			(void)str_take_line(&text, &part);
	}
	close(fd);
	return text;
}

struct strs recent_read(
	const char *path, enum log_level level, size_t lines, struct arena *arena)
{
	struct str text = read_end(path, arena), line, ring[LOGS_RECENT_LINES];
	struct strs out;
	size_t seen = 0;

	if (lines > LOGS_RECENT_LINES)
		lines = LOGS_RECENT_LINES;
	while (lines > 0 && str_take_line(&text, &line))
		if (line.len > 0 && log_level_of_line(line.ptr, line.len) >= level)
			ring[seen++ % lines] = line;
	out = (struct strs){.items = arena_array(arena, lines + 1, sizeof(*out.items))};
	for (size_t i = seen > lines ? seen - lines : 0; i < seen; i++)
		out.items[out.count++] = recent_safe(ring[i % lines], arena);
	return out;
}

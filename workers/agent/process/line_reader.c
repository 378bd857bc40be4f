/* line_reader.c - see line_reader.h. */
#include "workers/agent/process/line_reader.h"

/* Memory for a longer line is given back after it. */
#define KEPT_BYTES (256u * 1024)

static void give(struct line_reader *r, line_fn *fn, void *arg)
{
	fn(arg, &r->held);
	buf_empty(&r->held, KEPT_BYTES);
}

static void take(struct line_reader *r, struct str piece, line_fn *fn, void *arg)
{
	if (r->skipping)
		return;
	if (piece.len <= r->max - r->held.len) {
		buf_add_str(&r->held, piece);
		return;
	}
	r->skipping = true;
	buf_free(&r->held);
	fn(arg, NULL);
}

void line_reader_feed(struct line_reader *r, struct str bytes, line_fn *fn, void *arg)
{
	while (bytes.len > 0 && !r->paused) {
		const char *newline = memchr(bytes.ptr, '\n', bytes.len);
		size_t n = newline ? (size_t)(newline - bytes.ptr) : bytes.len;

		take(r, (struct str){bytes.ptr, n}, fn, arg);
		if (newline) {
			if (!r->skipping)
				give(r, fn, arg);
			r->skipping = false;
			n++;
		}
		bytes = (struct str){bytes.ptr + n, bytes.len - n};
	}
	buf_add_str(&r->rest, bytes);
}

void line_reader_resume(struct line_reader *r, line_fn *fn, void *arg)
{
	AUTO_BUF rest = r->rest;

	r->paused = false;
	r->rest = (struct buf){0};
	if (rest.len > 0)
		line_reader_feed(r, buf_str(&rest), fn, arg);
}

void line_reader_end(struct line_reader *r, line_fn *fn, void *arg)
{
	if (r->held.len > 0 && !r->skipping)
		give(r, fn, arg);
	r->skipping = false;
}

void line_reader_fini(struct line_reader *r)
{
	buf_free(&r->held);
	buf_free(&r->rest);
}

/* sse.c - server-sent events (sse.h), by the rules of the HTML standard, section 9.2.6.
 */
#include "workers/llm/claude/sse.h"

static void take_field(struct sse *s, struct str line)
{
	const char *colon = memchr(line.ptr, ':', line.len);
	struct str name = line, value = {"", 0};

	if (colon == line.ptr)
		return; /* a comment */
	if (colon) {
		name.len = (size_t)(colon - line.ptr);
		value.ptr = colon + 1;
		value.len = line.len - name.len - 1;
		if (value.len > 0 && value.ptr[0] == ' ') {
			value.ptr++;
			value.len--;
		}
	}
	if (str_is(name, "event")) {
		buf_clear(&s->event);
		buf_add_str(&s->event, value);
	} else if (str_is(name, "data")) {
		if (s->has_data)
			buf_add_char(&s->data, '\n');
		buf_add_str(&s->data, value);
		s->has_data = true;
	}
}

static void end_line(struct sse *s, sse_fn *fn, void *arg)
{
	if (s->line.len > 0) {
		take_field(s, buf_str(&s->line));
		buf_clear(&s->line);
		return;
	}
	if (s->has_data)
		fn(arg, buf_str(&s->event), buf_str(&s->data));
	buf_clear(&s->event);
	buf_clear(&s->data);
	s->has_data = false;
}

void sse_feed(struct sse *s, struct str bytes, sse_fn *fn, void *arg)
{
	size_t start = 0;

	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.ptr[i];

		if (c == '\n' && s->after_cr) { /* the second half of CR LF */
			s->after_cr = false;
			start = i + 1;
			continue;
		}
		s->after_cr = c == '\r';
		if (c != '\n' && c != '\r')
			continue;
		buf_add(&s->line, bytes.ptr + start, i - start);
		start = i + 1;
		end_line(s, fn, arg);
	}
	buf_add(&s->line, bytes.ptr + start, bytes.len - start);
}

void sse_fini(struct sse *s)
{
	buf_free(&s->line);
	buf_free(&s->event);
	buf_free(&s->data);
}

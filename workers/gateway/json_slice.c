/* json_slice.c - see json_slice.h. */
#include "workers/gateway/json_slice.h"

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* From an opening quote to behind the closing one. */
static const char *skip_string(const char *p, const char *end)
{
	const char *start = ++p;

	while (p < end) {
		const char *quote = memchr(p, '"', (size_t)(end - p)), *before;

		if (!quote)
			return end;
		before = quote;
		while (before > start && before[-1] == '\\')
			before--;
		if ((quote - before) % 2 == 0)
			return quote + 1;
		p = quote + 1;
	}
	return end;
}

/* From the first character of a value to behind its last. */
static const char *skip_value(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		switch (*p) {
		case '"':
			p = skip_string(p, end);
			break;
		case '{':
		case '[':
			depth++;
			p++;
			break;
		case '}':
		case ']':
			if (depth == 0)
				return p;
			depth--;
			p++;
			break;
		case ',':
		case ' ':
		case '\t':
		case '\n':
		case '\r':
			if (depth == 0)
				return p;
			p++;
			continue;
		default: /* a colon, or part of a number or word */
			p++;
			continue;
		}
		if (depth == 0)
			return p;
	}
	return end;
}

struct str json_slice_member(struct str text, const char *name)
{
	const char *p = text.ptr, *end = text.ptr + text.len;
	size_t name_len = strlen(name);

	if (!p)
		return (struct str){NULL, 0};
	p = skip_blanks(p, end);
	if (p == end || *p != '{')
		return (struct str){NULL, 0};
	p = skip_blanks(p + 1, end);
	while (p < end && *p == '"') {
		const char *key = p + 1, *value;
		size_t key_len;

		p = skip_string(p, end);
		key_len = (size_t)(p - key) - 1;
		value = skip_blanks(skip_blanks(p, end) + 1, end);
		p = skip_value(value, end);
		if (key_len == name_len && memcmp(key, name, name_len) == 0)
			return (struct str){value, (size_t)(p - value)};
		p = skip_blanks(p, end);
		if (p < end)
			p = skip_blanks(p + 1, end); /* the comma */
	}
	return (struct str){NULL, 0};
}

/* json_slice.c - see json_slice.h. */
#include "workers/gateway/http/json_slice.h"
#include <stdbool.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
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

/* Where the value of a member begins; NULL when there is none. */
static const char *value_of(struct str text, const char *name)
{
	const char *p = text.ptr, *end = text.ptr + text.len;
	size_t name_len = strlen(name);

	if (!p)
		return NULL;
	p = skip_blanks(p, end);
	if (p == end || *p != '{')
		return NULL;
	p = skip_blanks(p + 1, end);
	while (p < end && *p == '"') {
		const char *key = p + 1, *value;
		size_t key_len;

		p = skip_string(p, end);
		key_len = (size_t)(p - key) - 1;
		value = skip_blanks(skip_blanks(p, end) + 1, end);
		if (key_len == name_len && memcmp(key, name, name_len) == 0)
			return value;
		p = skip_blanks(skip_value(value, end), end);
		if (p < end)
			p = skip_blanks(p + 1, end); /* the comma */
	}
	return NULL;
}

struct str json_slice_member(struct str text, const char *name)
{
	const char *value = value_of(text, name), *end;

	if (!value)
		return (struct str){NULL, 0};
	end = skip_value(value, text.ptr + text.len);
	return (struct str){value, (size_t)(end - value)};
}

struct str json_slice_last_member(struct str text, const char *name)
{
	const char *value = value_of(text, name), *end;

	if (!value)
		return (struct str){NULL, 0};
	end = text.ptr + text.len;
	while (is_blank(end[-1]))
		end--;
	end--; /* the brace of the object */
	while (is_blank(end[-1]))
		end--;
	return (struct str){value, (size_t)(end - value)};
}

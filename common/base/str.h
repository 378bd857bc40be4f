/*
 * str.h - a counted, borrowed piece of text.
 *
 * The one string type that crosses a module boundary. `ptr` need not be NUL-terminated. A
 * null `ptr` means "absent", an empty string has a non-null `ptr` and `len` 0. A str
 * never owns memory: who made the bytes (an arena, a received message, a literal) says in
 * its header how long they live.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct str {
	const char *ptr;
	size_t len;
};

/* For printf: printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) (int)(s).len, ((s).ptr ? (s).ptr : "")
#define STR_LIT(literal) ((struct str){(literal), sizeof(literal) - 1})
/* The same for the initializer of a static object. */
#define STR_INIT(literal)                                                                \
	{                                                                                \
		(literal), sizeof(literal) - 1                                           \
	}

static inline struct str str_of(const char *text)
{
	return text ? (struct str){text, strlen(text)} : (struct str){NULL, 0};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Below, at or above 0, as the bytes of `a` come before those of `b`. */
static inline int str_order(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool str_is(struct str a, const char *b)
{
	return str_eq(a, str_of(b));
}

/* Whether `set` has the byte. A NUL, which a counted text may have, is in no set: strchr finds
 * the one that ends it. */
static inline bool char_is_in(char c, const char *set)
{
	return c != '\0' && strchr(set, c);
}

static inline bool str_starts(struct str a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.len >= n && memcmp(a.ptr, prefix, n) == 0;
}

/* The same three where upper and lower case of ASCII letters count as equal. */
static inline bool str_eq_nocase(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_is_nocase(struct str a, const char *b)
{
	return str_eq_nocase(a, str_of(b));
}

static inline bool str_starts_nocase(struct str a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.len >= n && (n == 0 || strncasecmp(a.ptr, prefix, n) == 0);
}

/* Takes the first line off *rest, without its newline. False when nothing is left. */
static inline bool str_take_line(struct str *rest, struct str *line)
{
	const char *newline;
	size_t n;

	if (rest->len == 0)
		return false;
	newline = (const char *)memchr(rest->ptr, '\n', rest->len);
	n = newline ? (size_t)(newline - rest->ptr) : rest->len;
	*line = (struct str){rest->ptr, n};
	n += newline != NULL;
	*rest = (struct str){rest->ptr + n, rest->len - n};
	return true;
}

/*
 * alloc.h - malloc and its kin, which end the process when out of memory.
 *
 * A worker without memory cannot do anything useful; the supervisor starts a new
 * one. For sizes that a client chooses, check the size first. The caller frees
 * with free().
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks what a library has allocated, such as an event of libevent. */
static inline void *alloc_checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static inline void *xmalloc(size_t size)
{
	return alloc_checked(malloc(size));
}

static inline void *xcalloc(size_t count, size_t size)
{
	return alloc_checked(calloc(count, size));
}

static inline void *xrealloc(void *memory, size_t size)
{
	return alloc_checked(realloc(memory, size));
}

static inline void *xreallocarray(void *memory, size_t count, size_t size)
{
	return alloc_checked(reallocarray(memory, count, size));
}

static inline char *xstrdup(const char *text)
{
	return alloc_checked(strdup(text));
}

static inline char *xstrndup(const char *text, size_t length)
{
	return alloc_checked(strndup(text, length));
}

/* Text in memory of its own. */
__attribute__((format(printf, 1, 0))) static inline char *xvasprintf(
	const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		abort();
	return text;
}

__attribute__((format(printf, 1, 2))) static inline char *xasprintf(
	const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	return text;
}

static inline void alloc_free(void *memory)
{
	free(*(void **)memory);
}
/* AUTO_FREE char *text = ...; is freed at the end of its block. */
#define AUTO_FREE __attribute__((cleanup(alloc_free)))

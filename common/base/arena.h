/*
 * arena.h - memory that is freed all at once.
 *
 * One arena per message or request: everything a handler allocates comes from it and is gone when the
 * handler is done. Allocation never fails: out of memory ends the process (the supervisor restarts it).
 */
#pragma once

#include "common/base/str.h"
#include <stdarg.h>
#include <stddef.h>

struct arena_block;

/* Zero is a valid empty arena. */
struct arena {
	struct arena_block *blocks;
};

/* Zeroed memory, aligned for any type; lives until arena_reset or arena_free. */
void *arena_alloc(struct arena *a, size_t size)
	__attribute__((malloc, alloc_size(2), returns_nonnull));
/* As arena_alloc for `count` items; ends the process when count * size overflows. */
void *arena_array(struct arena *a, size_t count, size_t size)
	__attribute__((returns_nonnull));
/* Copies, NUL-terminated behind the counted bytes. An absent str stays absent. */
struct str arena_str(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct str arena_vprintf(struct arena *a, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Forgets everything but keeps one block for reuse. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);
/* AUTO_ARENA arena = {0}; is freed at the end of its block. */
#define AUTO_ARENA __attribute__((cleanup(arena_free))) struct arena

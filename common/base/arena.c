/*
 * arena.c - memory that is freed all at once (arena.h).
 *
 * A list of blocks, the newest first; allocation bumps within the newest. A request too
 * large for what is left gets a block of its own or a new one of at least twice the last
 * size.
 */
#include "common/base/arena.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ARENA_LARGEST_BLOCK (1024 * 1024)

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	_Alignas(max_align_t) char data[];
};

/* With its head no larger than what malloc keeps at hand for a thread (1032 bytes). */
#define ARENA_FIRST_BLOCK (1024 - sizeof(struct arena_block))

static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "out of memory (%zu bytes)\n", size);
	abort();
}

static struct arena_block *block_new(size_t size, struct arena_block *next)
{
	struct arena_block *block = malloc(sizeof(*block) + size);

	if (!block)
		out_of_memory(size);
	block->next = next;
	block->used = 0;
	block->size = size;
	return block;
}

static void *take(struct arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	size_t rounded;
	void *p;

	if (size > SIZE_MAX / 2)
		out_of_memory(size);
	rounded = (size + align - 1) & ~(align - 1);
	if (!a->blocks || a->blocks->size - a->blocks->used < rounded) {
		size_t want = a->blocks ? a->blocks->size * 2 : ARENA_FIRST_BLOCK;

		if (want > ARENA_LARGEST_BLOCK)
			want = ARENA_LARGEST_BLOCK;
		a->blocks = block_new(want > rounded ? want : rounded, a->blocks);
	}
	p = a->blocks->data + a->blocks->used;
	a->blocks->used += rounded;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return memset(take(a, size), 0, size);
}

/* Zeroing a long text first would take longer than copying it. */
static char *copy_of(struct arena *a, struct str s)
{
	char *copy = take(a, s.len + 1);

	memcpy(copy, s.ptr, s.len);
	copy[s.len] = '\0';
	return copy;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory(SIZE_MAX);
	return arena_alloc(a, bytes);
}

struct str arena_str(struct arena *a, struct str s)
{
	return s.ptr ? (struct str){copy_of(a, s), s.len} : s;
}

char *arena_cstr(struct arena *a, struct str s)
{
	return s.ptr ? copy_of(a, s) : NULL;
}

struct str arena_vprintf(struct arena *a, const char *format, va_list args)
{
	va_list again;
	char *out;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0)
		abort(); /* a format this program wrote is wrong */
	out = arena_alloc(a, (size_t)n + 1);
	vsnprintf(out, (size_t)n + 1, format, args);
	return (struct str){out, (size_t)n};
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
	va_list args;
	struct str s;

	va_start(args, format);
	s = arena_vprintf(a, format, args);
	va_end(args);
	return s;
}

void arena_reset(struct arena *a)
{
	struct arena_block *keep = a->blocks;

	if (!keep)
		return;
	if (keep->size > ARENA_LARGEST_BLOCK) {
		arena_free(a);
		return;
	}
	while (keep->next) {
		struct arena_block *next = keep->next->next;

		free(keep->next);
		keep->next = next;
	}
	keep->used = 0;
}

void arena_free(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
}

/*
 * buf.h - a growable buffer of bytes that owns its memory.
 *
 * Appending never fails: out of memory ends the process. Zero is a valid empty buffer.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

struct buf {
	char *data;
	size_t len;
	size_t cap;
};

/* Makes room for `more` bytes behind len and returns where they go; the caller then adds to len. */
char *buf_reserve(struct buf *b, size_t more) __attribute__((returns_nonnull));
void buf_add(struct buf *b, const void *data, size_t len);
void buf_add_str(struct buf *b, struct str s);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends s as a quoted JSON string. Invalid UTF-8 becomes U+FFFD, so the result is always valid JSON. */
void buf_add_json_string(struct buf *b, struct str s);
struct str buf_str(const struct buf *b);
/* Keeps the memory. */
void buf_clear(struct buf *b);
/* Empties a buffer that is used again: keeps its memory if that is at most `keep` bytes, else
 * frees it. */
void buf_empty(struct buf *b, size_t keep);
void buf_free(struct buf *b);
/* AUTO_BUF text = {0}; is freed at the end of its block. */
#define AUTO_BUF __attribute__((cleanup(buf_free))) struct buf

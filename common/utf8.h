/*
 * utf8.h - UTF-8 text: is it valid, how long is it for JavaScript, where may it be cut.
 *
 * Valid is what Unicode calls well-formed (RFC 3629): no overlong forms, no surrogates,
 * nothing above U+10FFFF. All functions take any bytes, read nothing beyond them and are
 * pure.
 */
#ifndef PAIGE_COMMON_UTF8_H
#define PAIGE_COMMON_UTF8_H

#include "common/str.h"

/* Length in bytes (1 to 4) of the character that `s` starts with; 0 when s is empty or
 * starts with bytes that are no character. */
size_t utf8_char_len(struct str s);

bool utf8_valid(struct str s);

/*
 * Length in UTF-16 code units, which is the length of a JavaScript string and every
 * charCount of the protocol (FR-044). A byte that belongs to no character counts as one
 * unit, U+FFFD.
 */
size_t utf8_utf16_len(struct str s);

/* The longest beginning of `s` of at most `max_bytes` bytes that does not cut a
 * character. */
struct str utf8_cut(struct str s, size_t max_bytes);

/* As utf8_cut for at most `max_units` UTF-16 code units (P12.10, EC-63). */
struct str utf8_cut_utf16(struct str s, size_t max_units);

#endif

/*
 * utf8.h - UTF-8 text: validity, length in JavaScript, where it may be cut.
 *
 * Valid is what Unicode calls well-formed (RFC 3629): no overlong forms, no surrogates,
 * nothing above U+10FFFF. All functions take any bytes, read nothing beyond them and are
 * pure.
 */
#pragma once

#include "common/base/str.h"

/* A byte that no character starts with: 10xxxxxx. */
static inline bool utf8_continues(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

/*
 * Length in bytes (1 to 4) of the character that `s` starts with; 0 when s is empty or
 * starts with bytes that are no character (table 3-7 of the Unicode standard).
 */
static inline size_t utf8_char_len(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;

	if (s.len == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xC2 || p[0] > 0xF4)
		return 0;
	if (p[0] < 0xE0)
		return s.len >= 2 && utf8_continues(p[1]) ? 2 : 0;
	if (s.len < 3 || !utf8_continues(p[1]) || !utf8_continues(p[2]))
		return 0;
	if (p[0] < 0xF0) {
		bool overlong = p[0] == 0xE0 && p[1] < 0xA0;
		bool surrogate = p[0] == 0xED && p[1] > 0x9F;

		return overlong || surrogate ? 0 : 3;
	}
	if (s.len < 4 || !utf8_continues(p[3]))
		return 0;
	if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
		return 0;
	return 4;
}

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

/*
 * Takes the first character off *rest and writes it as a log or a terminal may have it:
 * unchanged, or as \xNN (a byte that is no character, or below U+0080) or \uNNNN when it
 * would act on the terminal: controls, direction marks, line breaks. *rest
 * must not be empty. Gives the length; no NUL is written.
 */
#define UTF8_SHOWN_SIZE 8
size_t utf8_shown(struct str *rest, char out[UTF8_SHOWN_SIZE]);

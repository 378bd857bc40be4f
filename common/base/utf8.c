/* utf8.c - UTF-8 text. Eight bytes of ASCII are looked at in one step; most text is
 * ASCII. */
#include "common/base/utf8.h"
#include <stdint.h>
#include <stdio.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define LOW_BITS UINT64_C(0x0101010101010101)

static inline uint64_t load8(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

bool utf8_valid(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t left = s.len;

	while (left > 0) {
		size_t n;

		while (left >= 8 && !(load8(p) & HIGH_BITS)) {
			p += 8;
			left -= 8;
		}
		if (left == 0)
			break;
		n = utf8_char_len((struct str){(const char *)p, left});
		if (n == 0)
			return false;
		p += n;
		left -= n;
	}
	return true;
}

/*
 * Units of valid text are counted by bytes: one for every byte that starts a character,
 * one more for the start of a four-byte one. Returns SIZE_MAX for invalid text.
 */
static size_t count_valid(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t units = 0, i = 0;

	if (!utf8_valid(s))
		return SIZE_MAX;
	for (; i + 8 <= s.len; i += 8) {
		uint64_t word = load8(p + i);
		/* 0x80 in each byte that is 10xxxxxx; in each that is 1111xxxx. */
		uint64_t inner = word & HIGH_BITS & ~(word << 1);
		uint64_t four =
			word & (word << 1) & (word << 2) & (word << 3) & HIGH_BITS;

		if (word & HIGH_BITS)
			units += 8 - (size_t)__builtin_popcountll(inner) +
				 (size_t)__builtin_popcountll(four);
		else
			units += 8;
	}
	for (; i < s.len; i++)
		units += (utf8_continues(p[i]) ? 0 : 1) + (p[i] >= 0xF0 ? 1 : 0);
	return units;
}

size_t utf8_utf16_len(struct str s)
{
	size_t units = count_valid(s);

	if (units != SIZE_MAX)
		return units;
	units = 0;
	while (s.len > 0) {
		size_t n = utf8_char_len(s);

		units += n == 4 ? 2 : 1;
		s.ptr += n ? n : 1;
		s.len -= n ? n : 1;
	}
	return units;
}

struct str utf8_cut(struct str s, size_t max_bytes)
{
	size_t n = max_bytes, back = 0;

	if (s.len <= max_bytes)
		return s;
	/* A character starts at most three bytes before the cut. */
	while (back < 3 && back < n && utf8_continues((unsigned char)s.ptr[n - back]))
		back++;
	if (utf8_char_len((struct str){s.ptr + n - back, s.len - n + back}) > back)
		n -= back;
	return (struct str){s.ptr, n};
}

struct str utf8_cut_utf16(struct str s, size_t max_units)
{
	size_t at = 0, units = 0;

	while (at < s.len) {
		size_t n;

		while (units + 8 <= max_units && at + 8 <= s.len &&
			!(load8((const unsigned char *)s.ptr + at) & HIGH_BITS)) {
			at += 8;
			units += 8;
		}
		if (at == s.len)
			break;
		n = utf8_char_len((struct str){s.ptr + at, s.len - at});
		units += n == 4 ? 2 : 1;
		if (units > max_units)
			break;
		at += n ? n : 1;
	}
	return (struct str){s.ptr, at};
}

static unsigned code_point(const unsigned char *p, size_t n)
{
	static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	unsigned c = p[0] & first_bits[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3F);
	return c;
}

/* Characters that act on what is around them. */
static bool is_unseen(unsigned c)
{
	static const struct {
		unsigned first, last;
	} ranges[] = {
		{0x00, 0x1F},			    /* controls */
		{0x7F, 0x9F},			    /* the same with the eighth bit */
		{0x061C, 0x061C},		    /* marks of direction */
		{0x200E, 0x200F}, {0x2028, 0x202E}, /* breaks, embeddings and overrides */
		{0x2066, 0x2069},		    /* isolates */
		{0xFEFF, 0xFEFF},		    /* byte order mark */
		{0xFFF9, 0xFFFB},		    /* annotations */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

size_t utf8_shown(struct str *rest, char out[UTF8_SHOWN_SIZE])
{
	const unsigned char *p = (const unsigned char *)rest->ptr;
	size_t n = utf8_char_len(*rest), taken = n ? n : 1;
	unsigned c = n ? code_point(p, n) : p[0];

	rest->ptr += taken;
	rest->len -= taken;
	if (n > 0 && !is_unseen(c)) {
		memcpy(out, p, n);
		return n;
	}
	return (size_t)snprintf(out, UTF8_SHOWN_SIZE, n < 2 ? "\\x%02x" : "\\u%04x", c);
}

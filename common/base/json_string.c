/*
 * json_string.c - text as a quoted JSON string (buf.h).
 *
 * Most of what the daemon sends are strings, up to megabytes of source text, so this is
 * the hot loop of encoding. Eight bytes are copied at a time as long as none of them
 * needs a second look; the buffer is made large enough for the worst case of one piece of
 * the text at a time.
 */
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include <endian.h>

#define PIECE_BYTES 4096
#define WORST_CASE 6 /* bytes for one: \u001f */
#define SLACK 8	     /* whole words are stored */

#define LOW_BITS UINT64_C(0x0101010101010101)
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* The high bit of each byte that may not be copied as it is: control, quote, backslash,
 * not ASCII. Bytes behind the first such one may be marked too. The first byte of the
 * text is the lowest one. */
static inline uint64_t special_bytes(uint64_t word)
{
	uint64_t control = word - LOW_BITS * 0x20;
	uint64_t quote = (word ^ LOW_BITS * '"') - LOW_BITS;
	uint64_t backslash = (word ^ LOW_BITS * '\\') - LOW_BITS;

	return ((control | quote | backslash) & ~word & HIGH_BITS) | (word & HIGH_BITS);
}

static const char short_escapes[0x60] = {
	['\b'] = 'b',
	['\t'] = 't',
	['\n'] = 'n',
	['\f'] = 'f',
	['\r'] = 'r',
	['"'] = '"',
	['\\'] = '\\',
};

/* Writes the escape of a control character, quote or backslash; returns the end. */
static inline char *escape(char *to, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	*to++ = '\\';
	if (short_escapes[c]) {
		*to++ = short_escapes[c];
		return to;
	}
	memcpy(to, "u00", 3);
	to[3] = hex[c >> 4];
	to[4] = hex[c & 15];
	return to + 5;
}

/* Copies characters that are not ASCII, all that come in a row; returns how many bytes
 * were read. */
static size_t copy_characters(struct str s, char **to)
{
	const struct str start = s;

	while (s.len > 0 && (unsigned char)s.ptr[0] >= 0x80) {
		size_t n = utf8_char_len(s);

		if (n == 0) {
			memcpy(*to, "\xEF\xBF\xBD", 3);
			*to += 3;
			n = 1;
		} else {
			memcpy(*to, s.ptr, n);
			*to += n;
		}
		s.ptr += n;
		s.len -= n;
	}
	return start.len - s.len;
}

/* Copies and escapes a piece; `to` has room for the worst case and SLACK. Returns the
 * end. */
static char *add_piece(char *to, struct str s)
{
	const char *p = s.ptr;
	const char *end = s.ptr + s.len;

	while (p < end) {
		if (end - p >= 8) {
			uint64_t word, special;

			memcpy(&word, p, 8);
			memcpy(to, &word, 8);
			special = special_bytes(le64toh(word));
			if (!special) {
				p += 8;
				to += 8;
				continue;
			}
			p += __builtin_ctzll(special) / 8;
			to += __builtin_ctzll(special) / 8;
		}
		if ((unsigned char)*p >= 0x80)
			p += copy_characters((struct str){p, (size_t)(end - p)}, &to);
		else if ((unsigned char)*p < 0x20 || *p == '"' || *p == '\\')
			to = escape(to, (unsigned char)*p++);
		else
			*to++ = *p++;
	}
	return to;
}

void buf_add_json_string(struct buf *b, struct str s)
{
	buf_reserve(b, s.len + 2);
	buf_add_char(b, '"');
	while (s.len > 0) {
		struct str piece = utf8_cut(s, PIECE_BYTES);
		char *to = buf_reserve(b, piece.len * WORST_CASE + SLACK);

		b->len += (size_t)(add_piece(to, piece) - to);
		s.ptr += piece.len;
		s.len -= piece.len;
	}
	buf_add_char(b, '"');
}

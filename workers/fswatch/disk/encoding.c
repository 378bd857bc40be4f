/* encoding.c - detection, decoding and encoding of encoding.h. */
#include "workers/fswatch/disk/encoding.h"
#include "common/base/utf8.h"
#include <utf8proc.h>

/* How much of a file is looked at for the patterns of UTF-16 and UTF-32. */
#define PATTERN_BYTES 65536

struct mark {
	struct str bytes;
	enum encoding_kind kind;
};

/* UTF-32LE before UTF-16LE, whose mark it begins with. */
static const struct mark marks[] = {
	{STR_INIT("\xef\xbb\xbf"), ENCODING_UTF8},
	{STR_INIT("\xff\xfe\0\0"), ENCODING_UTF32LE},
	{STR_INIT("\0\0\xfe\xff"), ENCODING_UTF32BE},
	{STR_INIT("\xff\xfe"), ENCODING_UTF16LE},
	{STR_INIT("\xfe\xff"), ENCODING_UTF16BE},
};

static struct str mark_of(enum encoding_kind kind)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (marks[i].kind == kind)
			return marks[i].bytes;
	return STR_LIT("");
}

static bool begins(struct str bytes, struct str with)
{
	return bytes.len >= with.len && memcmp(bytes.ptr, with.ptr, with.len) == 0;
}

/* The number at `at`; which bytes count more is the encoding's affair. */
static uint32_t unit(enum encoding_kind kind, const unsigned char *at)
{
	switch (kind) {
	case ENCODING_UTF16LE:
		return (uint32_t)(at[0] | at[1] << 8);
	case ENCODING_UTF16BE:
		return (uint32_t)(at[0] << 8 | at[1]);
	case ENCODING_UTF32LE:
		return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
		       (uint32_t)at[3] << 24;
	case ENCODING_UTF32BE:
		return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
		       (uint32_t)at[2] << 8 | at[3];
	case ENCODING_UTF8:
	case ENCODING_LATIN1:
	case ENCODING_BINARY:
		break;
	}
	return at[0];
}

static size_t unit_bytes(enum encoding_kind kind)
{
	switch (kind) {
	case ENCODING_UTF16LE:
	case ENCODING_UTF16BE:
		return 2;
	case ENCODING_UTF32LE:
	case ENCODING_UTF32BE:
		return 4;
	case ENCODING_UTF8:
	case ENCODING_LATIN1:
	case ENCODING_BINARY:
		break;
	}
	return 1;
}

/* Takes one character off the front of units; UINT32_MAX when it is none. */
static uint32_t take(enum encoding_kind kind, struct str *bytes)
{
	size_t width = unit_bytes(kind);
	const unsigned char *at = (const unsigned char *)bytes->ptr;

	if (bytes->len < width) {
		bytes->len = 0;
		return UINT32_MAX;
	}

	uint32_t c = unit(kind, at);

	bytes->ptr += width;
	bytes->len -= width;
	if (width == 2 && c >= 0xd800 && c < 0xdc00 && bytes->len >= 2) {
		uint32_t low = unit(kind, at + 2);

		if (low >= 0xdc00 && low < 0xe000) {
			bytes->ptr += 2;
			bytes->len -= 2;
			return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? UINT32_MAX : c;
}

/* Control characters that text has no use for. */
static bool odd_control(uint32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' &&
		       c != '\b' && c != 0x1b && c != 0x1a) ||
	       c == 0x7f;
}

static bool all_text(enum encoding_kind kind, struct str bytes)
{
	if (bytes.len % unit_bytes(kind) != 0)
		return false;
	while (bytes.len > 0) {
		uint32_t c = take(kind, &bytes);

		if (c == UINT32_MAX || odd_control(c) || (c & 0xfffe) == 0xfffe)
			return false;
	}
	return true;
}

/*
 * UTF-16 and UTF-32 without a mark betray themselves by the zero bytes that Latin letters
 * and line ends leave at every second, or three of four, places.
 */
static enum encoding_kind pattern(struct str bytes)
{
	static const enum encoding_kind kinds[] = {
		ENCODING_UTF32LE, ENCODING_UTF32BE, ENCODING_UTF16LE, ENCODING_UTF16BE};
	size_t n = bytes.len < PATTERN_BYTES ? bytes.len : PATTERN_BYTES;
	size_t zeros[4] = {0, 0, 0, 0};

	for (size_t i = 0; i < n; i++)
		zeros[i % 4] += bytes.ptr[i] == 0;

	size_t even = zeros[0] + zeros[2], odd = zeros[1] + zeros[3];

	for (size_t i = 0; i < 4; i++) {
		bool fits = kinds[i] == ENCODING_UTF32LE   ? zeros[3] * 4 >= n && zeros[2]
			    : kinds[i] == ENCODING_UTF32BE ? zeros[0] * 4 >= n && zeros[1]
			    : kinds[i] == ENCODING_UTF16LE
				    ? odd * 4 >= n && even * 50 <= n
				    : even * 4 >= n && odd * 50 <= n;

		if (fits && all_text(kinds[i], bytes))
			return kinds[i];
	}
	return ENCODING_BINARY;
}

/* Text in an 8-bit encoding of the West: no controls, mostly ASCII. */
static bool looks_latin1(struct str bytes)
{
	size_t high = 0;

	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.ptr[i];

		if (odd_control(c))
			return false;
		high += c >= 0x80;
	}
	return high * 3 <= bytes.len;
}

struct encoding encoding_detect(struct str bytes)
{
	bool zero = bytes.len > 0 && memchr(bytes.ptr, 0, bytes.len) != NULL;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		struct str rest = {
			bytes.ptr + marks[i].bytes.len, bytes.len - marks[i].bytes.len};
		enum encoding_kind kind = marks[i].kind;

		if (!begins(bytes, marks[i].bytes))
			continue;
		if (kind == ENCODING_UTF8 ? !zero && utf8_valid(bytes)
					  : all_text(kind, rest))
			return (struct encoding){kind, true};
	}
	if (!zero && utf8_valid(bytes))
		return (struct encoding){ENCODING_UTF8, false};
	if (zero)
		return (struct encoding){pattern(bytes), false};
	return (struct encoding){
		looks_latin1(bytes) ? ENCODING_LATIN1 : ENCODING_BINARY, false};
}

void encoding_decode(struct encoding encoding, struct str bytes, struct buf *text)
{
	if (encoding.kind == ENCODING_BINARY)
		return;
	if (encoding.kind == ENCODING_UTF8) {
		buf_add_str(text, bytes);
		return;
	}
	if (encoding.mark) {
		size_t n = mark_of(encoding.kind).len;

		bytes = (struct str){bytes.ptr + n, bytes.len - n};
	}
	/* A unit of one or two bytes becomes at most three, one of four at most four. */
	buf_reserve(text, bytes.len * 2 + 4);
	while (bytes.len > 0) {
		uint32_t c = take(encoding.kind, &bytes);
		utf8proc_uint8_t utf8[4];
		utf8proc_ssize_t n =
			utf8proc_encode_char(c == UINT32_MAX ? 0xfffd : (int32_t)c, utf8);

		buf_add(text, utf8, (size_t)n);
	}
}

static void put_unit(enum encoding_kind kind, uint32_t c, struct buf *bytes)
{
	size_t width = unit_bytes(kind);
	bool big = kind == ENCODING_UTF16BE || kind == ENCODING_UTF32BE;

	for (size_t i = 0; i < width; i++)
		buf_add_char(bytes, (char)(c >> 8 * (big ? width - 1 - i : i)));
}

static void put(enum encoding_kind kind, uint32_t c, struct buf *bytes)
{
	if (unit_bytes(kind) == 2 && c >= 0x10000) {
		put_unit(kind, 0xd800 + ((c - 0x10000) >> 10), bytes);
		put_unit(kind, 0xdc00 + ((c - 0x10000) & 0x3ff), bytes);
	} else {
		put_unit(kind, c, bytes);
	}
}

/* False when the encoding has no bytes for a character of the text. */
static bool encode_units(enum encoding_kind kind, struct str text, struct buf *bytes)
{
	const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text.ptr;
	utf8proc_ssize_t left = (utf8proc_ssize_t)text.len;

	while (left > 0) {
		utf8proc_int32_t c;
		utf8proc_ssize_t n = utf8proc_iterate(at, left, &c);

		if (n <= 0 || (kind == ENCODING_LATIN1 && c > 0xff))
			return false;
		put(kind, (uint32_t)c, bytes);
		at += n;
		left -= n;
	}
	return true;
}

void encoding_encode(struct encoding encoding, struct str text, struct buf *bytes)
{
	struct str mark = encoding.mark ? mark_of(encoding.kind) : STR_LIT("");
	size_t start = bytes->len;
	bool utf8 = encoding.kind == ENCODING_UTF8 || encoding.kind == ENCODING_BINARY;

	if (utf8) {
		if (!begins(text, mark))
			buf_add_str(bytes, mark);
		buf_add_str(bytes, text);
		return;
	}
	buf_add_str(bytes, mark);
	if (!encode_units(encoding.kind, text, bytes)) {
		bytes->len = start;
		buf_add_str(bytes, text);
	}
}

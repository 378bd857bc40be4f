/*
 * encoding.h - which encoding the bytes of a file are in, and the way to UTF-8 and back.
 *
 * Clients see UTF-8 only. A file in another encoding is decoded for them and encoded
 * again when it is saved, so that editing does not change its encoding (R48). Judged by
 * content: byte order marks, then UTF-8, then the patterns of UTF-16 and UTF-32 without a
 * mark, then Latin-1 where the rest is plainly text; everything else is binary.
 *
 * Pure.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/str.h"

enum encoding_kind {
	ENCODING_UTF8, /* bytes are passed on as they are, a byte order mark included */
	ENCODING_UTF16LE,
	ENCODING_UTF16BE,
	ENCODING_UTF32LE,
	ENCODING_UTF32BE,
	ENCODING_LATIN1,
	ENCODING_BINARY,
};

struct encoding {
	enum encoding_kind kind;
	bool mark; /* begins with a byte order mark */
};

struct encoding encoding_detect(struct str bytes);

/*
 * Appends the text of a file as UTF-8. `bytes` have the encoding given, as
 * encoding_detect found it; the mark of UTF-16 and UTF-32 is left out, that of UTF-8
 * stays. Nothing is appended for ENCODING_BINARY.
 */
void encoding_decode(struct encoding encoding, struct str bytes, struct buf *text);

/*
 * Appends what is to be written to the file: the text in the encoding given, with its
 * byte order mark when the file had one. `text` is valid UTF-8. Text that Latin-1 has no
 * bytes for, and text for a file that was binary, stays UTF-8.
 */
void encoding_encode(struct encoding encoding, struct str text, struct buf *bytes);

/*
 * envfile.h - reads KEY=value text: the one format of paige.conf, of .env and of
 * systemd's EnvironmentFile.
 *
 *   # a comment        ; another one
 *   KEY=value          KEY = value          export KEY=value
 *   KEY='as it is'     KEY="a \"quoted\" \$ and \\"     KEY="two
 *   lines"             KEY=long \
 *   continued
 *   KEY=value # a comment behind an unquoted value, as dotenv has it
 *
 * Quoted pieces may follow one another. CR, LF and CR LF end a line; a UTF-8 byte order
 * mark is skipped. Pure but for the memory of the value: no file is opened here.
 */
#pragma once

#include "common/base/buf.h"

enum envfile_item {
	ENVFILE_END,
	ENVFILE_ASSIGNMENT,
	ENVFILE_MALFORMED, /* a line without a key or "=", or a quote that is never closed
			    */
};

/* Zero, then `text` set, is a reader at the start. `text` is borrowed. */
struct envfile {
	struct str text;
	size_t at;
	int line; /* of the item that was read last, from 1 */
	int next_line;
	struct buf value;
};

/* The next item. For ENVFILE_ASSIGNMENT `key` points into the text and `value` is valid
 * until the next call or envfile_fini; both untouched otherwise. */
enum envfile_item envfile_next(struct envfile *f, struct str *key, struct str *value);
void envfile_fini(struct envfile *f);

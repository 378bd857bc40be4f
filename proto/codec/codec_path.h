/*
 * codec_path.h - where in a message the decoder is, for its error texts.
 *
 * For the codec's own files. A place is a chain of nodes on the stack of the decoder,
 * from the innermost outwards; it costs nothing until an error is written.
 */
#ifndef PAIGE_PROTO_CODEC_CODEC_PATH_H
#define PAIGE_PROTO_CODEC_CODEC_PATH_H

#include "proto/codec/codec.h"

struct path {
	const struct path *up; /* NULL at the root */
	struct str name; /* of a field, or of the root; absent for an item of an array */
	size_t index;	 /* of an item of an array */
};

/* Writes "<path>: <rule>". Bytes beyond the size of *error are cut between characters.
 * Always -EINVAL. */
int path_fail(const struct path *at, struct proto_error *error, const char *rule, ...)
	__attribute__((format(printf, 3, 4)));

/* As path_fail, with ", got <value>" behind the rule when the value is a short scalar. */
int path_fail_got(const struct path *at, struct proto_error *error, yyjson_val *got,
	const char *rule, ...) __attribute__((format(printf, 4, 5)));

/* Says that `key` is not among the fields of `type` and which one it may have meant.
 * Always -EINVAL. */
int path_fail_unknown(const struct path *at, struct proto_error *error,
	const struct type *type, struct str key);

#endif

/*
 * codec_path.h - the decoder's place in a message, for its error texts.
 *
 * Only the codec's own files include it. A place is a chain of nodes on the decoder's stack,
 * from the innermost outwards; it costs nothing until an error is written.
 */
#pragma once

#include "proto/codec/codec.h"

struct path {
	const struct path *up; /* NULL at the root */
	struct str name; /* of a field, or of the root; absent for an item of an array */
	size_t index;	 /* of an item of an array */
};

/* Writes "<path>: <rule>", cut between characters if *error is too small. Returns -EINVAL. */
int path_fail(const struct path *at, struct proto_error *error, const char *rule, ...)
	__attribute__((format(printf, 3, 4)));

/* Like path_fail, with ", got <value>" after the rule if the value is a short scalar. */
int path_fail_got(const struct path *at, struct proto_error *error, yyjson_val *got,
	const char *rule, ...) __attribute__((format(printf, 4, 5)));

/* Says that `type` has no field `key`, and which field was probably meant. Returns
 * -EINVAL. */
int path_fail_unknown(const struct path *at, struct proto_error *error,
	const struct type *type, struct str key);

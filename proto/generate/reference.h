/*
 * reference.h - what is derived from the catalogues for readers: the parts of
 * paige-proto.
 *
 * Everything is appended to a buffer and is the same for the same catalogues, byte for
 * byte, so that the committed pages can be compared with it.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/codec/codec.h"

/* One generated file. */
struct reference_file {
	const char *name;  /* "websocket.md" */
	const char *title; /* of a page; NULL for what is no page */
	void (*write)(struct buf *out);
};

extern const struct reference_file reference_files[];
extern const size_t reference_file_count;

/* TypeScript declarations for clients: every payload, envelopes, ClientMessage and
 * ServerMessage, tools. */
void dts_write(struct buf *out);

/* JSON Schema of everything that has a name: {client, server, tools, methods, actions,
 * types}. */
void schema_write_all(struct buf *out);
/*
 * The schema of a WebSocket message, tool (its input), method (its request), action (its
 * data) or type. 0, or -ENOENT.
 */
int schema_write_named(struct str name, struct buf *out)
	__attribute__((warn_unused_result));

/* A set of types, closed under what their fields refer to, in catalogue order. */
struct type_set {
	bool *has; /* by index in message_types; NULL: empty */
};

void type_set_add(struct type_set *set, const struct type *type);
bool type_set_has(const struct type_set *set, const struct type *type);
void type_set_fini(struct type_set *set);

/*
 * codec.h - one codec over tables of fields.
 *
 * Every message that crosses a process or reaches a client is a table (`struct type`),
 * written once in a .def file of proto/catalogue (see define.h). From the table come the C
 * struct, decoding with exact errors, encoding, JSON Schema, TypeScript and the reference
 * pages.
 *
 * Decoding borrows: strings of a decoded message point into the yyjson document, which
 * must outlive it; arrays come from the arena. Encoding borrows until the call returns.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

/* Limits of every message that comes from outside. */
#define PROTO_MAX_MESSAGE_BYTES (10u * 1024 * 1024)
#define PROTO_MAX_NESTING 64

enum field_kind {
	FIELD_STRING, /* struct str */
	FIELD_INT, /* int64_t; accepts 5 and 5.0, nothing that has a fraction or is beyond
		      2^53 */
	FIELD_NUMBER,  /* double, finite */
	FIELD_BOOL,    /* bool */
	FIELD_ENUM,    /* int, index into a struct enumeration; a string on the wire */
	FIELD_LEVEL,   /* int, index into a struct enumeration; an integer on the wire,
			  names accepted */
	FIELD_OBJECT,  /* embedded struct of another type */
	FIELD_STRINGS, /* struct strs */
	FIELD_OBJECTS, /* { struct <type> *items; size_t count; } of another type */
	FIELD_JSON,    /* struct json: a value of a shape, passed on unread */
};

/* What a FIELD_JSON accepts. */
enum json_shape {
	JSON_SHAPE_ANY,
	JSON_SHAPE_OBJECT,
	JSON_SHAPE_ARRAY,
};

enum field_flags {
	FIELD_OPTIONAL = 0,
	FIELD_REQUIRED = 1 << 0,
	FIELD_NULLABLE = 1 << 1, /* null is accepted and means absent; on encoding an
				    absent field is written as null */
};

struct strs {
	struct str *items;
	size_t count;
};

/* A value that is passed on unread. Encoding writes `raw` (JSON text) if its ptr is set, else
 * `val`. */
struct json {
	yyjson_val *val;
	struct str raw;
};

/* Names of an enumeration, in the order of its C constants. */
struct enumeration {
	const char *name;
	const char *const *names;
	size_t count;
	const char *doc;
};

struct type;

struct field {
	const char *wire; /* name on the wire */
	enum field_kind kind;
	unsigned flags;
	size_t offset;	   /* of the member */
	size_t has_offset; /* of its `bool has_<member>`; strings, arrays and JSON use a
			      null pointer instead */
	double min, max;   /* value of numbers, bytes of strings, items of arrays; min >
			      max: no bound */
	/* OBJECT, OBJECTS; JSON: for readers, or NULL */
	const struct type *(*type)(void);
	/* ENUM, LEVEL; STRINGS: of names, or NULL */
	const struct enumeration *(*enumeration)(void);
	/* JSON: its shape, and its keywords where a shape is not enough, else NULL */
	enum json_shape shape;
	const char *schema;
	const char *doc;
};

struct type {
	const char *name; /* of the C struct */
	size_t size;
	const struct field *fields;
	size_t count;
	const char *doc;
};

/* "payload.hints[2].path: expected a string": the path, the rule, and the value if it is
 * short. */
struct proto_error {
	char text[256];
};

enum decode_mode {
	DECODE_LENIENT, /* unknown fields are ignored */
	DECODE_STRICT,	/* unknown fields are errors that name the nearest known one (MCP
			   arguments) */
};

/*
 * Parses JSON text: UTF-8, at most PROTO_MAX_NESTING deep (checked before any recursion),
 * no trailing bytes. The document is the caller's to free. NULL on failure with *error
 * filled.
 */
yyjson_doc *proto_parse(struct str text, struct proto_error *error)
	__attribute__((warn_unused_result));

/* The text of a JSON string, which it borrows; absent for any other value, and for none. */
static inline struct str proto_str(yyjson_val *val)
{
	return yyjson_is_str(val) ? (struct str){yyjson_get_str(val), yyjson_get_len(val)}
				  : (struct str){NULL, 0};
}

static inline void proto_doc_end(yyjson_doc **doc)
{
	yyjson_doc_free(*doc);
}
/* AUTO_DOC *doc = NULL; is freed at the end of its block. */
#define AUTO_DOC __attribute__((cleanup(proto_doc_end))) yyjson_doc

/*
 * Decodes the object `val` into `out` (type->size bytes, zeroed first). `at` is its name in
 * errors ("payload", "arguments"). 0, or -EINVAL with *error filled.
 */
int proto_decode(const struct type *type, yyjson_val *val, const char *at,
	enum decode_mode mode, struct arena *arena, void *out, struct proto_error *error)
	__attribute__((warn_unused_result));

/* Appends the message as compact JSON with fields in table order. Absent optional fields
 * are omitted. */
void proto_encode(const struct type *type, const void *message, struct buf *out);

/* Appends the JSON Schema (2020-12 subset; object root, additionalProperties per mode).
 */
void proto_schema(const struct type *type, enum decode_mode mode, struct buf *out);

/* Appends the JSON Schema in the dialect of Claude's structured output: closed objects and no
 * bounds, which proto_decode checks afterwards (FR-084, P7.1). */
void proto_schema_for_model(const struct type *type, struct buf *out);

/* Index of a name, or -1. */
int enumeration_index(const struct enumeration *e, struct str name);

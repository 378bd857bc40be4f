/*
 * codec_schema.c - the JSON Schema of a type.
 *
 * Kept to what every MCP client and Claude's structured output take: an object at the
 * root, everything in place (no $ref), no anyOf, oneOf or allOf, items on every array.
 * Bounds of strings are bytes here and characters in a schema; a schema is never stricter
 * than the decoder.
 */
#include "proto/codec/codec.h"
#include <math.h>

#define NO_UPPER_BOUND 9007199254740992.0

/* What may stand in a schema, and within which types something is being written. */
struct dialect {
	bool closed; /* additionalProperties is false */
	bool bounds; /* as keywords; else in the description, for Claude's structured
			output */
	const struct dialect *up;
	const struct type *type; /* NULL at the root */
};

static void add_object(const struct type *type, const struct dialect *d, struct buf *out);

static void add_key(struct buf *out, const char *key)
{
	buf_add_json_string(out, str_of(key));
	buf_add_char(out, ':');
}

static void add_bound(struct buf *out, const char *key, double value)
{
	buf_printf(out, ",\"%s\":%.17g", key, value);
}

static void add_type(struct buf *out, const struct field *f, const char *name)
{
	if (f->flags & FIELD_NULLABLE)
		buf_printf(out, "\"type\":[\"%s\",\"null\"]", name);
	else
		buf_printf(out, "\"type\":\"%s\"", name);
}

static void add_range(struct buf *out, const struct field *f, const struct dialect *d)
{
	if (!d->bounds || f->min > f->max)
		return;
	if (f->min > -NO_UPPER_BOUND)
		add_bound(out, "minimum", f->min);
	if (f->max < NO_UPPER_BOUND)
		add_bound(out, "maximum", f->max);
}

static void add_lengths(struct buf *out, const struct field *f, const struct dialect *d,
	const char *min, const char *max)
{
	if (!d->bounds || f->min > f->max)
		return;
	/* A character has up to four bytes. */
	if (f->min > 0)
		add_bound(out, min, f->kind == FIELD_STRING ? ceil(f->min / 4) : f->min);
	if (f->max < NO_UPPER_BOUND)
		add_bound(out, max, f->max);
}

static void add_enum(struct buf *out, const struct field *f)
{
	const struct enumeration *e = f->enumeration();
	bool first = true;

	buf_add_str(out, STR_LIT(",\"enum\":["));
	for (size_t i = 0; f->kind == FIELD_LEVEL && i < e->count; i++, first = false)
		buf_printf(out, "%s%zu", first ? "" : ",", i);
	for (size_t i = 0; i < e->count; i++, first = false) {
		if (!first)
			buf_add_char(out, ',');
		buf_add_json_string(out, str_of(e->names[i]));
	}
	if ((f->flags & FIELD_NULLABLE) && f->kind != FIELD_STRINGS)
		buf_add_str(out, STR_LIT(",null"));
	buf_add_char(out, ']');
}

static void add_level_type(struct buf *out, const struct field *f)
{
	buf_add_str(out, STR_LIT("\"type\":[\"integer\",\"string\""));
	if (f->flags & FIELD_NULLABLE)
		buf_add_str(out, STR_LIT(",\"null\""));
	buf_add_char(out, ']');
}

/* Items of an array of any values may be anything; some clients want the keyword all the
 * same. */
static void add_json_type(struct buf *out, const struct field *f)
{
	if (f->schema) {
		buf_add_str(out, str_of(f->schema));
		return;
	}
	switch (f->shape) {
	case JSON_SHAPE_ANY:
		return;
	case JSON_SHAPE_OBJECT:
		add_type(out, f, "object");
		return;
	case JSON_SHAPE_ARRAY:
		add_type(out, f, "array");
		buf_add_str(out, STR_LIT(",\"items\":{}"));
		return;
	}
}

/* The keywords of every kind but the nested object, without braces. */
static void add_keywords(const struct field *f, const struct dialect *d, struct buf *out)
{
	switch (f->kind) {
	case FIELD_STRING:
		add_type(out, f, "string");
		add_lengths(out, f, d, "minLength", "maxLength");
		return;
	case FIELD_INT:
		add_type(out, f, "integer");
		add_range(out, f, d);
		return;
	case FIELD_NUMBER:
		add_type(out, f, "number");
		add_range(out, f, d);
		return;
	case FIELD_BOOL:
		add_type(out, f, "boolean");
		return;
	case FIELD_ENUM:
		add_type(out, f, "string");
		add_enum(out, f);
		return;
	case FIELD_LEVEL:
		add_level_type(out, f);
		add_enum(out, f);
		return;
	case FIELD_STRINGS:
		add_type(out, f, "array");
		buf_add_str(out, STR_LIT(",\"items\":{\"type\":\"string\""));
		if (f->enumeration)
			add_enum(out, f);
		buf_add_char(out, '}');
		add_lengths(out, f, d, "minItems", "maxItems");
		return;
	case FIELD_OBJECTS:
		add_type(out, f, "array");
		buf_add_str(out, STR_LIT(",\"items\":"));
		add_object(f->type(), d, out);
		add_lengths(out, f, d, "minItems", "maxItems");
		return;
	case FIELD_JSON:
		add_json_type(out, f);
		return;
	case FIELD_OBJECT:
		return;
	}
}

static void add_members(
	const struct type *type, const struct dialect *d, struct buf *out);

/* Bounds that may not stand as keywords are told in words: the model keeps to them all
 * the same. */
static void add_description(
	const struct field *f, const struct dialect *d, struct buf *out)
{
	bool number = f->kind == FIELD_INT || f->kind == FIELD_NUMBER;
	AUTO_BUF text = {0};

	buf_add_str(&text, str_of(f->doc));
	if (!d->bounds && number && f->min <= f->max && f->max < NO_UPPER_BOUND)
		buf_printf(&text, " From %.17g to %.17g.", f->min, f->max);
	add_key(out, "description");
	buf_add_json_string(out, buf_str(&text));
}

static void add_field(const struct field *f, const struct dialect *d, struct buf *out)
{
	size_t start;

	add_key(out, f->wire);
	buf_add_char(out, '{');
	start = out->len;
	if (f->kind == FIELD_OBJECT || (f->kind == FIELD_JSON && f->type)) {
		add_type(out, f, "object");
		add_members(f->type(), d, out);
	} else {
		add_keywords(f, d, out);
	}
	if (out->len > start)
		buf_add_char(out, ',');
	add_description(f, d, out);
	buf_add_char(out, '}');
}

static bool is_within(const struct dialect *d, const struct type *type)
{
	for (; d; d = d->up)
		if (d->type == type)
			return true;
	return false;
}

/* properties, required and additionalProperties, each behind a comma. A type within
 * itself is not written out again: there is no $ref here, and it would never end. */
static void add_members(
	const struct type *type, const struct dialect *around, struct buf *out)
{
	const struct dialect here = {around->closed, around->bounds, around, type},
			     *d = &here;
	bool first = true;

	if (is_within(around, type))
		return;
	if (type->count > 0) {
		buf_add_str(out, STR_LIT(",\"properties\":{"));
		for (size_t i = 0; i < type->count; i++) {
			if (i)
				buf_add_char(out, ',');
			add_field(&type->fields[i], d, out);
		}
		buf_add_char(out, '}');
	}
	for (size_t i = 0; i < type->count; i++) {
		if (!(type->fields[i].flags & FIELD_REQUIRED))
			continue;
		buf_add_str(out, first ? STR_LIT(",\"required\":[") : STR_LIT(","));
		buf_add_json_string(out, str_of(type->fields[i].wire));
		first = false;
	}
	if (!first)
		buf_add_char(out, ']');
	if (d->closed)
		buf_add_str(out, STR_LIT(",\"additionalProperties\":false"));
}

static void add_object(const struct type *type, const struct dialect *d, struct buf *out)
{
	buf_add_str(out, STR_LIT("{\"type\":\"object\""));
	add_members(type, d, out);
	buf_add_char(out, '}');
}

void proto_schema(const struct type *type, enum decode_mode mode, struct buf *out)
{
	const struct dialect d = {.closed = mode == DECODE_STRICT, .bounds = true};

	add_object(type, &d, out);
}

void proto_schema_for_model(const struct type *type, struct buf *out)
{
	const struct dialect d = {.closed = true, .bounds = false};

	add_object(type, &d, out);
}

/*
 * codec_encode.c - a C struct to compact JSON, by its table.
 *
 * Fields go out in table order, so the same message is always the same bytes. Strings are
 * most of what is sent: they go straight into the buffer, escaped on the way. Numbers and
 * values handed on unread are yyjson's.
 */
#include "proto/codec/codec.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>

static void encode_object(const struct type *type, const char *message, struct buf *out);

/* Names of the catalogues are plain ASCII without anything to escape. */
static void add_name(struct buf *out, const char *name)
{
	size_t len = strlen(name);
	char *to = buf_reserve(out, len + 2);

	to[0] = '"';
	memcpy(to + 1, name, len);
	to[len + 1] = '"';
	out->len += len + 2;
}

static void add_val(struct buf *out, yyjson_val *val)
{
	char pool[512];
	yyjson_alc alc;
	size_t len = 0;
	char *text = NULL;

	/* A scalar other than a string needs no heap. */
	if (!yyjson_is_ctn(val) && !yyjson_is_str(val) &&
		yyjson_alc_pool_init(&alc, pool, sizeof(pool)))
		text = yyjson_val_write_opts(
			val, YYJSON_WRITE_INF_AND_NAN_AS_NULL, &alc, &len, NULL);
	if (text) {
		buf_add(out, text, len);
		return;
	}
	text = yyjson_val_write_opts(
		val, YYJSON_WRITE_INF_AND_NAN_AS_NULL, NULL, &len, NULL);
	if (text)
		buf_add(out, text, len);
	else
		buf_add_str(out, STR_LIT("null"));
	free(text);
}

static void add_int(struct buf *out, int64_t value)
{
	char digits[24], *p = digits + sizeof(digits);
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		*--p = '-';
	buf_add(out, p, (size_t)(digits + sizeof(digits) - p));
}

/* Whole numbers as JavaScript writes them: 5, not 5.0. */
static void add_number(struct buf *out, double value)
{
	yyjson_val val = {0};

	if (fabs(value) < 9007199254740992.0 && value == trunc(value) &&
		!(value == 0 && signbit(value))) {
		add_int(out, (int64_t)value);
		return;
	}
	unsafe_yyjson_set_real(&val, value);
	add_val(out, &val);
}

static void add_strings(struct buf *out, const struct strs *strings)
{
	buf_add_char(out, '[');
	for (size_t i = 0; i < strings->count; i++) {
		if (i)
			buf_add_char(out, ',');
		buf_add_json_string(out, strings->items[i]);
	}
	buf_add_char(out, ']');
}

struct objects {
	const char *items;
	size_t count;
};

static void add_objects(struct buf *out, const struct type *type, const void *member)
{
	struct objects list;

	memcpy(&list, member, sizeof(list));
	buf_add_char(out, '[');
	for (size_t i = 0; i < list.count; i++) {
		if (i)
			buf_add_char(out, ',');
		encode_object(type, list.items + i * type->size, out);
	}
	buf_add_char(out, ']');
}

static bool present(const struct field *f, const char *message)
{
	const char *member = message + f->offset;

	switch (f->kind) {
	case FIELD_STRING:
		return ((const struct str *)member)->ptr != NULL;
	case FIELD_STRINGS:
		return ((const struct strs *)member)->items != NULL;
	case FIELD_OBJECTS:
		return ((const struct objects *)member)->items != NULL;
	case FIELD_JSON:
		return ((const struct json *)member)->val ||
		       ((const struct json *)member)->raw.ptr;
	case FIELD_INT:
	case FIELD_NUMBER:
	case FIELD_BOOL:
	case FIELD_ENUM:
	case FIELD_LEVEL:
	case FIELD_OBJECT:
		break;
	}
	return *(const bool *)(message + f->has_offset);
}

static void encode_value(const struct field *f, const char *member, struct buf *out)
{
	switch (f->kind) {
	case FIELD_STRING:
		buf_add_json_string(out, *(const struct str *)member);
		return;
	case FIELD_INT:
		add_int(out, *(const int64_t *)member);
		return;
	case FIELD_NUMBER:
		add_number(out, *(const double *)member);
		return;
	case FIELD_BOOL:
		buf_add_str(
			out, *(const bool *)member ? STR_LIT("true") : STR_LIT("false"));
		return;
	case FIELD_ENUM: {
		const struct enumeration *e = f->enumeration();
		int index = *(const int *)member;

		assert(index >= 0 && (size_t)index < e->count);
		add_name(out, e->names[index]);
		return;
	}
	case FIELD_LEVEL:
		add_int(out, *(const int *)member);
		return;
	case FIELD_OBJECT:
		encode_object(f->type(), member, out);
		return;
	case FIELD_STRINGS:
		add_strings(out, (const struct strs *)member);
		return;
	case FIELD_OBJECTS:
		add_objects(out, f->type(), member);
		return;
	case FIELD_JSON: {
		const struct json *json = (const struct json *)member;

		if (json->raw.ptr)
			buf_add_str(out, json->raw);
		else if (json->val)
			add_val(out, json->val);
		else
			buf_add_str(out, STR_LIT("null"));
		return;
	}
	}
}

static void encode_object(const struct type *type, const char *message, struct buf *out)
{
	bool first = true;

	buf_add_char(out, '{');
	for (size_t i = 0; i < type->count; i++) {
		const struct field *f = &type->fields[i];
		bool is_present = present(f, message);

		if (!is_present && !(f->flags & (FIELD_REQUIRED | FIELD_NULLABLE)))
			continue;
		if (!first)
			buf_add_char(out, ',');
		first = false;
		add_name(out, f->wire);
		buf_add_char(out, ':');
		if (!is_present && (f->flags & FIELD_NULLABLE))
			buf_add_str(out, STR_LIT("null"));
		else
			encode_value(f, message + f->offset, out);
	}
	buf_add_char(out, '}');
}

void proto_encode(const struct type *type, const void *message, struct buf *out)
{
	encode_object(type, message, out);
}

/*
 * codec_decode.c - a JSON object to a C struct, by its table.
 *
 * One pass over the keys finds the value of each field, one pass over the table checks
 * and stores them, so the first problem reported is the first in table order. Nesting of
 * types is bounded by the tables, not by the message. Nothing is copied but arrays.
 */
#include "proto/codec/codec_path.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

#define MAX_FIELDS 64
#define MAX_SAFE_INTEGER 9007199254740992.0 /* 2^53 */

struct decoder {
	enum decode_mode mode;
	struct arena *arena;
	struct proto_error *error;
};

static int decode_object(const struct decoder *d, const struct type *type,
	yyjson_val *val, const struct path *at, void *out);

int enumeration_index(const struct enumeration *e, struct str name)
{
	for (size_t i = 0; i < e->count; i++)
		if (str_is(name, e->names[i]))
			return (int)i;
	return -1;
}

static struct str val_str(yyjson_val *val)
{
	return (struct str){unsafe_yyjson_get_str(val), unsafe_yyjson_get_len(val)};
}

static int check_length(const struct decoder *d, const struct field *f, size_t length,
	const char *unit, const struct path *at)
{
	if (f->min > f->max)
		return 0;
	if ((double)length < f->min) {
		if (f->min == 1)
			return path_fail(at, d->error, "must not be empty");
		return path_fail(at, d->error, "expected at least %.0f %s, got %zu",
			f->min, unit, length);
	}
	if ((double)length > f->max)
		return path_fail(at, d->error, "expected at most %.0f %s, got %zu",
			f->max, unit, length);
	return 0;
}

static int check_range(const struct decoder *d, const struct field *f, double value,
	yyjson_val *val, const struct path *at)
{
	const char *what = f->kind == FIELD_INT ? "an integer" : "a number";

	if (f->min > f->max || (value >= f->min && value <= f->max))
		return 0;
	if (f->max >= MAX_SAFE_INTEGER)
		return path_fail_got(
			at, d->error, val, "expected %s not below %.15g", what, f->min);
	return path_fail_got(at, d->error, val, "expected %s from %.15g to %.15g", what,
		f->min, f->max);
}

/* The value as a whole number within 2^53; false when it is not one. */
static bool whole_number(yyjson_val *val, int64_t *out)
{
	double value;

	if (!yyjson_is_num(val))
		return false;
	if (yyjson_is_sint(val)) {
		*out = unsafe_yyjson_get_sint(val);
		return *out >= -(int64_t)MAX_SAFE_INTEGER;
	}
	if (yyjson_is_uint(val)) {
		uint64_t u = unsafe_yyjson_get_uint(val);

		*out = (int64_t)u;
		return u <= (uint64_t)MAX_SAFE_INTEGER;
	}
	value = unsafe_yyjson_get_real(val);
	if (!(value >= -MAX_SAFE_INTEGER && value <= MAX_SAFE_INTEGER) ||
		value != trunc(value))
		return false;
	*out = (int64_t)value;
	return true;
}

static int decode_int(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	int64_t value;

	if (!yyjson_is_num(val))
		return path_fail(at, d->error, "expected an integer");
	if (!whole_number(val, &value))
		return path_fail_got(at, d->error, val, "expected an integer");
	if (check_range(d, f, (double)value, val, at) < 0)
		return -EINVAL;
	*(int64_t *)member = value;
	return 0;
}

static int decode_number(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	double value;

	if (!yyjson_is_num(val))
		return path_fail(at, d->error, "expected a number");
	value = unsafe_yyjson_get_num(val);
	if (check_range(d, f, value, val, at) < 0)
		return -EINVAL;
	*(double *)member = value;
	return 0;
}

/* Writes "none, file or region" into out. */
static void list_names(const struct enumeration *e, char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < e->count && at < size; i++) {
		const char *sep = i == 0 ? "" : i + 1 == e->count ? " or " : ", ";
		int n = snprintf(out + at, size - at, "%s%s", sep, e->names[i]);

		at += n > 0 ? (size_t)n : 0;
	}
}

static int fail_name(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at)
{
	const struct enumeration *e = f->enumeration();
	char names[200];

	list_names(e, names, sizeof(names));
	if (f->kind == FIELD_LEVEL)
		return path_fail_got(at, d->error, val,
			"expected an integer from 0 to %zu or one of %s", e->count - 1,
			names);
	return path_fail_got(at, d->error, val, "expected %s", names);
}

static int decode_enum(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	const struct enumeration *e = f->enumeration();
	int64_t number;
	int index = -1;

	if (yyjson_is_str(val))
		index = enumeration_index(e, val_str(val));
	else if (f->kind == FIELD_LEVEL && whole_number(val, &number) && number >= 0 &&
		 number < (int64_t)e->count)
		index = (int)number;
	if (index < 0)
		return fail_name(d, f, val, at);
	*(int *)member = index;
	return 0;
}

static int decode_strings(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	struct strs *out = member;
	size_t index, count;
	struct str *items;
	yyjson_val *item;

	if (!yyjson_is_arr(val))
		return path_fail(at, d->error, "expected an array of strings");
	count = yyjson_arr_size(val);
	if (check_length(d, f, count, "items", at) < 0)
		return -EINVAL;
	/* Not NULL for an empty array either, which is how it differs from an absent one.
	 */
	items = arena_array(d->arena, count, sizeof(*items));
	yyjson_arr_foreach(val, index, count, item)
	{
		struct path here = {.up = at, .index = index};

		if (!yyjson_is_str(item))
			return path_fail(&here, d->error, "expected a string");
		items[index] = val_str(item);
		if (f->enumeration &&
			enumeration_index(f->enumeration(), items[index]) < 0)
			return fail_name(d, f, item, &here);
	}
	*out = (struct strs){items, count};
	return 0;
}

/* Every `{ struct x *items; size_t count; }` of pass.h has this layout. */
struct objects {
	void *items;
	size_t count;
};

static int decode_objects(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	const struct type *type = f->type();
	size_t index, count;
	yyjson_val *item;
	char *items;

	if (!yyjson_is_arr(val))
		return path_fail(at, d->error, "expected an array of objects");
	count = yyjson_arr_size(val);
	if (check_length(d, f, count, "items", at) < 0)
		return -EINVAL;
	items = arena_array(d->arena, count, type->size);
	yyjson_arr_foreach(val, index, count, item)
	{
		struct path here = {.up = at, .index = index};

		if (decode_object(d, type, item, &here, items + index * type->size) < 0)
			return -EINVAL;
	}
	memcpy(member, &(struct objects){items, count}, sizeof(struct objects));
	return 0;
}

static int decode_string(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	if (!yyjson_is_str(val))
		return path_fail(at, d->error, "expected a string");
	if (check_length(d, f, unsafe_yyjson_get_len(val), "bytes", at) < 0)
		return -EINVAL;
	*(struct str *)member = val_str(val);
	return 0;
}

static int decode_json(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	if (f->shape == JSON_SHAPE_OBJECT && !yyjson_is_obj(val))
		return path_fail(at, d->error, "expected an object");
	if (f->shape == JSON_SHAPE_ARRAY && !yyjson_is_arr(val))
		return path_fail(at, d->error, "expected an array");
	if (!val)
		return path_fail(at, d->error, "expected a value");
	*(struct json *)member = (struct json){.val = val};
	return 0;
}

static int decode_value(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, void *member)
{
	switch (f->kind) {
	case FIELD_STRING:
		return decode_string(d, f, val, at, member);
	case FIELD_INT:
		return decode_int(d, f, val, at, member);
	case FIELD_NUMBER:
		return decode_number(d, f, val, at, member);
	case FIELD_BOOL:
		if (!yyjson_is_bool(val))
			return path_fail(at, d->error, "expected a boolean");
		*(bool *)member = unsafe_yyjson_get_bool(val);
		return 0;
	case FIELD_ENUM:
	case FIELD_LEVEL:
		return decode_enum(d, f, val, at, member);
	case FIELD_OBJECT:
		return decode_object(d, f->type(), val, at, member);
	case FIELD_STRINGS:
		return decode_strings(d, f, val, at, member);
	case FIELD_OBJECTS:
		return decode_objects(d, f, val, at, member);
	case FIELD_JSON:
		return decode_json(d, f, val, at, member);
	}
	assert(!"a kind of field that is not in enum field_kind");
	return -EINVAL;
}

/* A null `val` means that the field is missing: a required one then says what a mistyped
 * one says. */
static int decode_field(const struct decoder *d, const struct field *f, yyjson_val *val,
	const struct path *at, char *out)
{
	struct path here = {.up = at, .name = str_of(f->wire)};

	if (!val && !(f->flags & FIELD_REQUIRED))
		return 0;
	if (val && yyjson_is_null(val) && (f->flags & FIELD_NULLABLE))
		return 0;
	if (decode_value(d, f, val, &here, out + f->offset) < 0)
		return -EINVAL;
	if (f->has_offset)
		*(bool *)(out + f->has_offset) = true;
	return 0;
}

/* The field named `key`, looked for from `start` on because keys mostly come in table
 * order. */
static size_t find_field(const struct type *type, yyjson_val *key, size_t start)
{
	struct str name = val_str(key);

	for (size_t n = 0; n < type->count; n++) {
		size_t i = start + n < type->count ? start + n : start + n - type->count;

		if (str_is(name, type->fields[i].wire))
			return i;
	}
	return type->count;
}

static int find_values(const struct decoder *d, const struct type *type,
	yyjson_val *object, const struct path *at, yyjson_val **values)
{
	size_t index, max, next = 0;
	yyjson_val *key, *val;

	yyjson_obj_foreach(object, index, max, key, val)
	{
		size_t i = find_field(type, key, next);

		if (i == type->count) {
			if (d->mode == DECODE_STRICT)
				return path_fail_unknown(
					at, d->error, type, val_str(key));
			continue;
		}
		if (values[i])
			return path_fail(&(struct path){.up = at, .name = val_str(key)},
				d->error, "given more than once");
		values[i] = val;
		next = i + 1;
	}
	return 0;
}

static int decode_object(const struct decoder *d, const struct type *type,
	yyjson_val *val, const struct path *at, void *out)
{
	yyjson_val *values[MAX_FIELDS] = {NULL};

	assert(type->count <= MAX_FIELDS);
	if (!yyjson_is_obj(val))
		return path_fail(at, d->error, "expected an object");
	if (find_values(d, type, val, at, values) < 0)
		return -EINVAL;
	for (size_t i = 0; i < type->count; i++)
		if (decode_field(d, &type->fields[i], values[i], at, out) < 0)
			return -EINVAL;
	return 0;
}

int proto_decode(const struct type *type, yyjson_val *val, const char *at,
	enum decode_mode mode, struct arena *arena, void *out, struct proto_error *error)
{
	struct decoder d = {.mode = mode, .arena = arena, .error = error};
	struct path root = {.name = str_of(at)};

	memset(out, 0, type->size);
	return decode_object(&d, type, val, &root, out);
}

/*
 * Tests of the codec over every type of the catalogues, from random messages made from
 * the tables: what is decoded and encoded again is the same; what is missing or of
 * another kind is named.
 */
#include "proto/codec/messages.h"
#include "tests/check_run.h"
#include "tests/unit/proto/sample.h"
#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 60

/* Decodes `json` as `type` and encodes it again into `out`. */
static int recode(const struct type *type, struct str json, enum decode_mode mode,
	struct buf *out, struct proto_error *error)
{
	yyjson_doc *doc = proto_parse(json, error);
	struct arena arena = {0};
	void *message = malloc(type->size);
	int result;

	ck_assert_msg(
		doc != NULL, "%s: %s: %.*s", type->name, error->text, STR_ARG(json));
	result = proto_decode(
		type, yyjson_doc_get_root(doc), "payload", mode, &arena, message, error);
	if (result == 0)
		proto_encode(type, message, out);
	free(message);
	arena_free(&arena);
	yyjson_doc_free(doc);
	return result;
}

START_TEST(every_type_round_trips)
{
	const struct type *type = message_types[_i]();
	struct rng rng = {.state = (uint64_t)_i};

	for (int n = 0; n < SAMPLES; n++) {
		struct buf sample = {0}, again = {0};
		struct proto_error error = {{0}};
		enum decode_mode mode = n % 2 ? DECODE_STRICT : DECODE_LENIENT;

		sample_add(&rng, type, n < 2, &sample);
		ck_assert_msg(recode(type, buf_str(&sample), mode, &again, &error) == 0,
			"%s: %s: %.*s", type->name, error.text,
			STR_ARG(buf_str(&sample)));
		ck_assert_msg(str_eq(buf_str(&sample), buf_str(&again)),
			"%s:\n%.*s\n%.*s", type->name, STR_ARG(buf_str(&sample)),
			STR_ARG(buf_str(&again)));
		buf_free(&sample);
		buf_free(&again);
	}
}
END_TEST

/* The sample with the value of one field replaced by `json`, or without the field when
 * that is NULL. */
static void change_field(
	yyjson_val *sample, const char *wire, const char *json, struct buf *out)
{
	size_t index, max;
	yyjson_val *key, *val;
	bool first = true;

	buf_add_char(out, '{');
	yyjson_obj_foreach(sample, index, max, key, val)
	{
		bool changed = yyjson_equals_str(key, wire);
		char *text;

		if (changed && !json)
			continue;
		if (!first)
			buf_add_char(out, ',');
		first = false;
		buf_add_json_string(
			out, (struct str){yyjson_get_str(key), yyjson_get_len(key)});
		buf_add_char(out, ':');
		if (changed) {
			buf_add_str(out, str_of(json));
			continue;
		}
		text = yyjson_val_write(val, 0, NULL);
		buf_add_str(out, str_of(text));
		free(text);
	}
	buf_add_char(out, '}');
}

/* A value of a kind that the field does not take; NULL where it takes any. */
static const char *wrong_value(const struct field *f)
{
	switch (f->kind) {
	case FIELD_STRING:
		return "7";
	case FIELD_INT:
	case FIELD_NUMBER:
	case FIELD_BOOL:
	case FIELD_STRINGS:
	case FIELD_OBJECTS:
		return "\"x\"";
	case FIELD_ENUM:
	case FIELD_LEVEL:
		return "\"no such name\"";
	case FIELD_OBJECT:
		return "[]";
	case FIELD_JSON:
		return f->shape == JSON_SHAPE_ANY ? NULL : "7";
	}
	return NULL;
}

static void check_refused(const struct type *type, const struct field *f,
	yyjson_val *sample, const char *json, char text[256])
{
	struct buf changed = {0}, unused = {0};
	struct proto_error error = {{0}};
	char prefix[128];

	change_field(sample, f->wire, json, &changed);
	snprintf(prefix, sizeof(prefix), "payload.%s: ", f->wire);
	ck_assert_msg(
		recode(type, buf_str(&changed), DECODE_LENIENT, &unused, &error) == -22,
		"%s.%s: %s was taken", type->name, f->wire, json ? json : "nothing");
	ck_assert_msg(strncmp(error.text, prefix, strlen(prefix)) == 0, "%s.%s: %s",
		type->name, f->wire, error.text);
	snprintf(text, 256, "%s", error.text);
	buf_free(&changed);
	buf_free(&unused);
}

static void check_taken(const struct type *type, const struct field *f,
	yyjson_val *sample, const char *json)
{
	struct buf changed = {0}, unused = {0};
	struct proto_error error = {{0}};

	change_field(sample, f->wire, json, &changed);
	ck_assert_msg(
		recode(type, buf_str(&changed), DECODE_LENIENT, &unused, &error) == 0,
		"%s.%s: %s", type->name, f->wire, error.text);
	buf_free(&changed);
	buf_free(&unused);
}

static void check_field(
	const struct type *type, const struct field *f, yyjson_val *sample)
{
	char missing[256], mistyped[256];
	const char *wrong = wrong_value(f);

	if (wrong)
		check_refused(type, f, sample, wrong, mistyped);
	if (f->flags & FIELD_REQUIRED)
		check_refused(type, f, sample, NULL, missing);
	else
		check_taken(type, f, sample, NULL);
	if (f->flags & FIELD_NULLABLE)
		check_taken(type, f, sample, "null");
	else if (f->kind != FIELD_JSON || f->shape != JSON_SHAPE_ANY)
		check_refused(type, f, sample, "null", missing);
	/* A missing required field says the same as a mistyped one. */
	if (wrong && (f->flags & FIELD_REQUIRED) && f->kind != FIELD_ENUM &&
		f->kind != FIELD_LEVEL)
		ck_assert_str_eq(missing, mistyped);
}

START_TEST(every_field_is_checked)
{
	const struct type *type = message_types[_i]();
	struct rng rng = {.state = 1000 + (uint64_t)_i};
	struct proto_error error = {{0}};
	struct buf sample = {0};
	yyjson_doc *doc;

	sample_add(&rng, type, true, &sample);
	doc = proto_parse(buf_str(&sample), &error);
	ck_assert_ptr_nonnull(doc);
	for (size_t i = 0; i < type->count; i++)
		check_field(type, &type->fields[i], yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
	buf_free(&sample);
}
END_TEST

START_TEST(tables_are_sound)
{
	const struct type *type = message_types[_i]();

	ck_assert_uint_le(type->count, 64);
	ck_assert_uint_gt(strlen(type->doc), 0);
	for (size_t i = 0; i < type->count; i++) {
		const struct field *f = &type->fields[i];

		ck_assert_msg(f->doc && f->doc[0], "%s.%s has no documentation",
			type->name, f->wire);
		ck_assert_msg(!strstr(f->doc, "*/"), "%s.%s", type->name, f->wire);
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(strcmp(f->wire, type->fields[j].wire) != 0,
				"%s.%s is there twice", type->name, f->wire);
		if (f->kind == FIELD_INT && f->min <= f->max)
			ck_assert_msg(f->min >= -9007199254740992.0 &&
					      f->max <= 9007199254740992.0,
				"%s.%s: bounds beyond 2^53", type->name, f->wire);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("codec_samples");

	tcase_add_loop_test(tc, tables_are_sound, 0, (int)message_type_count);
	tcase_add_loop_test(tc, every_type_round_trips, 0, (int)message_type_count);
	tcase_add_loop_test(tc, every_field_is_checked, 0, (int)message_type_count);
	/* A process for each of hundreds of types costs more than the tests. */
	setenv("CK_FORK", "no", 1);
	return check_run(tc);
}

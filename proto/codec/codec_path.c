/*
 * codec_path.c - error texts of the decoder: path, rule, and the
 * value where it is short. They reach people and models, so they stay whole characters
 * and within a proto_error.
 */
#include "proto/codec/codec_path.h"
#include "common/base/utf8.h"
#include "common/settings/nearest.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define SHORT_VALUE_BYTES 40
#define SHORT_KEY_BYTES 64

/* Text being put together in a proto_error; always terminated, cut when full. */
struct text {
	char *at;
	char *end; /* where the terminating NUL may be at the latest */
};

static void text_add(struct text *t, struct str s)
{
	s = utf8_cut(s, (size_t)(t->end - t->at));
	for (size_t i = 0; i < s.len; i++)
		*t->at++ = s.ptr[i] ? s.ptr[i] : ' ';
	*t->at = '\0';
}

static void text_vprintf(struct text *t, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void text_vprintf(struct text *t, const char *format, va_list args)
{
	char line[512];
	int n = vsnprintf(line, sizeof(line), format, args);

	if (n > 0)
		text_add(t,
			(struct str){line,
				(size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1});
}

static void text_printf(struct text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void text_printf(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vprintf(t, format, args);
	va_end(args);
}

static void text_add_path(struct text *t, const struct path *at)
{
	const struct path *chain[PROTO_MAX_NESTING];
	size_t n = 0;

	for (; at && n < PROTO_MAX_NESTING; at = at->up)
		chain[n++] = at;
	for (bool first = true; n-- > 0; first = false) {
		if (!chain[n]->name.ptr) {
			text_printf(t, "[%zu]", chain[n]->index);
			continue;
		}
		if (!first)
			text_add(t, STR_LIT("."));
		text_add(t, chain[n]->name);
	}
}

static struct text text_start(struct proto_error *error, const struct path *at)
{
	struct text t = {.at = error->text, .end = error->text + sizeof(error->text) - 1};

	text_add_path(&t, at);
	text_add(&t, STR_LIT(": "));
	return t;
}

int path_fail(const struct path *at, struct proto_error *error, const char *rule, ...)
{
	struct text t = text_start(error, at);
	va_list args;

	va_start(args, rule);
	text_vprintf(&t, rule, args);
	va_end(args);
	return -EINVAL;
}

static void text_add_value(struct text *t, yyjson_val *got)
{
	if (yyjson_is_str(got)) {
		if (yyjson_get_len(got) <= SHORT_VALUE_BYTES) {
			text_add(t, STR_LIT(", got \""));
			text_add(t,
				(struct str){yyjson_get_str(got), yyjson_get_len(got)});
			text_add(t, STR_LIT("\""));
		}
	} else if (yyjson_is_uint(got)) {
		text_printf(t, ", got %llu", (unsigned long long)yyjson_get_uint(got));
	} else if (yyjson_is_sint(got)) {
		text_printf(t, ", got %lld", (long long)yyjson_get_sint(got));
	} else if (yyjson_is_real(got)) {
		text_printf(t, ", got %.15g", yyjson_get_real(got));
	} else if (yyjson_is_bool(got)) {
		text_add(t, yyjson_is_true(got) ? STR_LIT(", got true")
						: STR_LIT(", got false"));
	} else if (yyjson_is_null(got)) {
		text_add(t, STR_LIT(", got null"));
	}
}

int path_fail_got(const struct path *at, struct proto_error *error, yyjson_val *got,
	const char *rule, ...)
{
	struct text t = text_start(error, at);
	va_list args;

	va_start(args, rule);
	text_vprintf(&t, rule, args);
	va_end(args);
	text_add_value(&t, got);
	return -EINVAL;
}

int path_fail_unknown(const struct path *at, struct proto_error *error,
	const struct type *type, struct str key)
{
	struct path here = {.up = at};
	const char *nearest = NULL;
	size_t distance = SIZE_MAX;
	struct text t;

	here.name = utf8_cut(key, SHORT_KEY_BYTES);
	for (size_t i = 0; i < type->count; i++) {
		size_t d = nearest_distance(key, str_of(type->fields[i].wire), true);

		if (d < distance) {
			distance = d;
			nearest = type->fields[i].wire;
		}
	}
	t = text_start(error, &here);
	text_add(&t, STR_LIT("unknown field"));
	if (type->count == 0) {
		text_add(&t, STR_LIT(", none is taken here"));
	} else if (nearest && distance <= 1 + key.len / 3) {
		text_printf(&t, ", did you mean \"%s\"?", nearest);
	} else {
		text_add(&t, STR_LIT(", known are "));
		for (size_t i = 0; i < type->count; i++)
			text_printf(&t, "%s%s", i ? ", " : "", type->fields[i].wire);
	}
	return -EINVAL;
}

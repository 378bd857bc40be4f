/* sample.c - random messages (sample.h). */
#include "tests/unit/proto/sample.h"
#include <math.h>
#include <stdlib.h>
#include <yyjson.h>

#define MAX_TEXT_BYTES 40
#define MAX_ITEMS 3
#define MAX_DEPTH 5

/* splitmix64 */
uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
	return rng_next(rng) % bound;
}

static size_t length_between(struct rng *rng, const struct field *f, size_t most)
{
	size_t min = f->min > 0 && f->min <= f->max ? (size_t)f->min : 0;
	size_t max = f->min <= f->max && f->max < (double)most ? (size_t)f->max : most;

	return max <= min ? min : min + rng_below(rng, max - min + 1);
}

/* Exactly `len` bytes of valid UTF-8. */
static void add_string(struct rng *rng, size_t len, struct buf *out)
{
	static const char *const parts[] = {"a", "Z", "0", " ", "/", "\"", "\\", "\n",
		"\t", "\x01", "\x7f", "\xC5\xBE", "\xE4\xB8\xAD", "\xF0\x9F\xA6\x84", "[",
		"{", "]", "}", ","};
	struct buf text = {0};

	while (text.len < len) {
		struct str part =
			str_of(parts[rng_below(rng, sizeof(parts) / sizeof(parts[0]))]);

		if (rng_below(rng, 40) == 0)
			buf_add_char(&text, '\0');
		else if (text.len + part.len <= len)
			buf_add_str(&text, part);
	}
	buf_add_json_string(out, buf_str(&text));
	buf_free(&text);
}

static void add_int(struct rng *rng, const struct field *f, struct buf *out)
{
	double low = f->min <= f->max ? f->min : -9007199254740992.0;
	double high = f->min <= f->max ? f->max : 9007199254740992.0;
	uint64_t span = (uint64_t)(high - low);

	switch (rng_below(rng, 4)) {
	case 0:
		buf_printf(out, "%.0f", low);
		return;
	case 1:
		buf_printf(out, "%.0f", high);
		return;
	default:
		buf_printf(out, "%lld",
			(long long)low + (long long)rng_below(rng, span + 1));
		return;
	}
}

/* As yyjson and the codec write it. */
static void add_number(struct rng *rng, const struct field *f, struct buf *out)
{
	double low = f->min <= f->max ? f->min : -1e15;
	double high = f->min <= f->max ? f->max : 1e15;
	double value =
		low + (high - low) * ((double)rng_below(rng, 1u << 20) / (1u << 20));
	yyjson_val val = {0};
	char *text;

	if (value == trunc(value) && fabs(value) < 9007199254740992.0) {
		buf_printf(out, "%.0f", value);
		return;
	}
	yyjson_set_real(&val, value);
	text = yyjson_val_write(&val, 0, NULL);
	buf_add_str(out, str_of(text));
	free(text);
}

static void add_value(struct rng *rng, int depth, struct buf *out)
{
	static const char *const scalars[] = {"null", "true", "false", "0", "-7", "3.25",
		"1e100", "\"\"", "\"x\\ny\"", "18446744073709551615"};
	size_t n = rng_below(rng, MAX_ITEMS);
	bool object = rng_below(rng, 2) == 0;

	if (depth == 0 || rng_below(rng, 3) == 0) {
		buf_add_str(out, str_of(scalars[rng_below(
					 rng, sizeof(scalars) / sizeof(scalars[0]))]));
		return;
	}
	buf_add_char(out, object ? '{' : '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_add_char(out, ',');
		if (object)
			buf_printf(out, "\"k%zu\":", i);
		add_value(rng, depth - 1, out);
	}
	buf_add_char(out, object ? '}' : ']');
}

static void add_json(struct rng *rng, const struct field *f, struct buf *out)
{
	switch (f->shape) {
	case JSON_SHAPE_ANY:
		/* null is absent in a nullable field and would not come back. */
		if (f->flags & FIELD_NULLABLE)
			buf_add_str(out, STR_LIT("[null]"));
		else
			add_value(rng, 3, out);
		return;
	case JSON_SHAPE_OBJECT:
		buf_add_str(out, STR_LIT("{\"type\":"));
		add_value(rng, 2, out);
		buf_add_char(out, '}');
		return;
	case JSON_SHAPE_ARRAY:
		buf_add_char(out, '[');
		add_value(rng, 2, out);
		buf_add_char(out, ']');
		return;
	}
}

static void add_name(struct rng *rng, const struct enumeration *e, struct buf *out)
{
	buf_add_json_string(out, str_of(e->names[rng_below(rng, e->count)]));
}

static void add_items(struct rng *rng, const struct field *f, bool full, struct buf *out)
{
	size_t count = length_between(rng, f, rng->depth > MAX_DEPTH ? 0 : MAX_ITEMS);

	buf_add_char(out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_add_char(out, ',');
		if (f->kind == FIELD_STRINGS && f->enumeration)
			add_name(rng, f->enumeration(), out);
		else if (f->kind == FIELD_STRINGS)
			add_string(rng, rng_below(rng, MAX_TEXT_BYTES), out);
		else
			sample_add(rng, f->type(), full, out);
	}
	buf_add_char(out, ']');
}

static void add_field_value(
	struct rng *rng, const struct field *f, bool full, struct buf *out)
{
	switch (f->kind) {
	case FIELD_STRING:
		add_string(rng, length_between(rng, f, MAX_TEXT_BYTES), out);
		return;
	case FIELD_INT:
		add_int(rng, f, out);
		return;
	case FIELD_NUMBER:
		add_number(rng, f, out);
		return;
	case FIELD_BOOL:
		buf_add_str(out, rng_below(rng, 2) ? STR_LIT("true") : STR_LIT("false"));
		return;
	case FIELD_ENUM:
		add_name(rng, f->enumeration(), out);
		return;
	case FIELD_LEVEL:
		buf_printf(out, "%d", (int)rng_below(rng, f->enumeration()->count));
		return;
	case FIELD_OBJECT:
		sample_add(rng, f->type(), full, out);
		return;
	case FIELD_STRINGS:
	case FIELD_OBJECTS:
		add_items(rng, f, full, out);
		return;
	case FIELD_JSON:
		add_json(rng, f, out);
		return;
	}
}

void sample_add(struct rng *rng, const struct type *type, bool full, struct buf *out)
{
	bool first = true;

	rng->depth++;
	buf_add_char(out, '{');
	for (size_t i = 0; i < type->count; i++) {
		const struct field *f = &type->fields[i];
		bool absent =
			!full && rng_below(rng, 2) &&
			(!(f->flags & FIELD_REQUIRED) || (f->flags & FIELD_NULLABLE));

		if (absent && !(f->flags & FIELD_NULLABLE))
			continue;
		if (!first)
			buf_add_char(out, ',');
		first = false;
		buf_printf(out, "\"%s\":", f->wire);
		if (absent)
			buf_add_str(out, STR_LIT("null"));
		else
			add_field_value(rng, f, full, out);
	}
	buf_add_char(out, '}');
	rng->depth--;
}

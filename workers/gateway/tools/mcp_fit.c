/* mcp_fit.c - see mcp_fit.h. */
#include "workers/gateway/tools/mcp_fit.h"
#include "common/base/alloc.h"
#include "common/base/utf8.h"
#include "proto/codec/codec.h"
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#define MAX_DEPTH 64
#define MAX_NOTES 20
/* Strings and arrays shorter than this are left alone. */
#define MIN_STRING 64
#define PATH_BYTES 200

/* How far is cut in one try. */
struct cut {
	yyjson_mut_doc *doc;
	size_t max_string; /* bytes */
	size_t max_items;
	struct buf notes; /* JSON strings, with a comma before each */
	size_t note_count;
};

static void note(
	struct cut *cut, const char *path, size_t shown, size_t all, const char *of)
{
	char text[PATH_BYTES + 100];

	if (++cut->note_count > MAX_NOTES)
		return;
	snprintf(text, sizeof(text), "%s: %zu of %zu %s", path, shown, all, of);
	buf_add_char(&cut->notes, ',');
	buf_add_json_string(&cut->notes, str_of(text));
}

static void cut_string(struct cut *cut, yyjson_mut_val *val, const char *path)
{
	struct str all = {yyjson_mut_get_str(val), yyjson_mut_get_len(val)};
	struct str kept = utf8_cut(all, cut->max_string);
	AUTO_BUF text = {0};
	yyjson_mut_val *copy;

	if (all.len <= cut->max_string)
		return;
	buf_printf(
		&text, "%.*s... [%zu bytes left out]", STR_ARG(kept), all.len - kept.len);
	copy = alloc_checked(yyjson_mut_strncpy(cut->doc, text.data, text.len));
	yyjson_mut_set_strn(val, yyjson_mut_get_str(copy), text.len);
	note(cut, path, kept.len, all.len, "bytes");
}

static void cut_value(struct cut *cut, yyjson_mut_val *val, const char *path, int depth);

static void cut_array(struct cut *cut, yyjson_mut_val *val, const char *path, int depth)
{
	size_t all = yyjson_mut_arr_size(val), i, max;
	char inside[PATH_BYTES];
	yyjson_mut_val *item;

	if (all > cut->max_items) {
		while (yyjson_mut_arr_size(val) > cut->max_items)
			yyjson_mut_arr_remove_last(val);
		note(cut, path, cut->max_items, all, "items");
	}
	yyjson_mut_arr_foreach(val, i, max, item)
	{
		snprintf(inside, sizeof(inside), "%s[%zu]", path, i);
		cut_value(cut, item, inside, depth + 1);
	}
}

static void cut_object(struct cut *cut, yyjson_mut_val *val, const char *path, int depth)
{
	yyjson_mut_val *key, *item;
	char inside[PATH_BYTES];
	size_t i, max;

	yyjson_mut_obj_foreach(val, i, max, key, item)
	{
		snprintf(inside, sizeof(inside), "%s%s%s", path, path[0] ? "." : "",
			yyjson_mut_get_str(key));
		cut_value(cut, item, inside, depth + 1);
	}
}

static void cut_value(struct cut *cut, yyjson_mut_val *val, const char *path, int depth)
{
	if (depth > MAX_DEPTH)
		return;
	if (yyjson_mut_is_str(val))
		cut_string(cut, val, path);
	else if (yyjson_mut_is_arr(val))
		cut_array(cut, val, path, depth);
	else if (yyjson_mut_is_obj(val))
		cut_object(cut, val, path, depth);
}

static void put_left_out(const struct cut *cut, const char *more, struct buf *out)
{
	char text[100];

	out->len--; /* the brace at the end */
	if (out->data[out->len - 1] != '{')
		buf_add_char(out, ',');
	buf_add_str(out, STR_LIT("\"leftOut\":[\"The answer was too long and is cut.\""));
	buf_add_str(out, buf_str(&cut->notes));
	if (cut->note_count > MAX_NOTES) {
		snprintf(text, sizeof(text), ",\"and %zu more places\"",
			cut->note_count - MAX_NOTES);
		buf_add_str(out, str_of(text));
	}
	if (more[0]) {
		buf_add_char(out, ',');
		buf_add_json_string(out, str_of(more));
	}
	buf_add_str(out, STR_LIT("]}"));
}

/* One try. False when the result is still too long. */
static bool try_cut(
	yyjson_doc *doc, struct cut *cut, size_t max, const char *more, struct buf *out)
{
	size_t at = out->len, len = 0;
	AUTO_FREE char *text = NULL;
	bool fits;

	cut->doc = alloc_checked(yyjson_doc_mut_copy(doc, NULL));
	cut_value(cut, yyjson_mut_doc_get_root(cut->doc), "", 0);
	text = alloc_checked(yyjson_mut_write(cut->doc, YYJSON_WRITE_NOFLAG, &len));
	buf_add(out, text, len);
	yyjson_mut_doc_free(cut->doc);
	put_left_out(cut, more, out);
	buf_free(&cut->notes);
	fits = out->len - at <= max;
	if (!fits)
		out->len = at;
	return fits;
}

bool mcp_fit(struct str json, size_t max, const char *more, struct buf *out)
{
	AUTO_DOC *doc = NULL;
	bool fits = false;

	if (json.len <= max) {
		buf_add_str(out, json);
		return true;
	}
	doc = yyjson_read(json.ptr, json.len, YYJSON_READ_NOFLAG);
	if (!yyjson_is_obj(yyjson_doc_get_root(doc)))
		return false;
	/* Long strings first: of a list the beginning says less than of a text. */
	for (size_t string = max / 2; !fits && string >= MIN_STRING; string /= 2)
		fits = try_cut(doc,
			&(struct cut){.max_string = string, .max_items = SIZE_MAX}, max,
			more, out);
	for (size_t items = max / 16; !fits && items > 0; items /= 2)
		fits = try_cut(doc,
			&(struct cut){.max_string = MIN_STRING * 4, .max_items = items},
			max, more, out);
	return fits;
}

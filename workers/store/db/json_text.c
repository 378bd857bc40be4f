/* json_text.c - JSON columns (json_text.h). */
#include "workers/store/db/json_text.h"
#include "common/base/alloc.h"
#include <stdlib.h>

struct str json_text_strings(struct arena *arena, struct strs list)
{
	AUTO_BUF out = {0};

	buf_add_char(&out, '[');
	for (size_t i = 0; i < list.count; i++) {
		if (i > 0)
			buf_add_char(&out, ',');
		buf_add_json_string(&out, list.items[i]);
	}
	buf_add_char(&out, ']');
	return arena_str(arena, buf_str(&out));
}

struct str json_text_objects(
	struct arena *arena, const struct type *type, const void *items, size_t count)
{
	AUTO_BUF out = {0};

	buf_add_char(&out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_add_char(&out, ',');
		proto_encode(type, (const char *)items + i * type->size, &out);
	}
	buf_add_char(&out, ']');
	return arena_str(arena, buf_str(&out));
}

struct str json_text_value(struct arena *arena, yyjson_val *val)
{
	size_t len;
	AUTO_FREE char *text = NULL;

	if (!val)
		return (struct str){0};
	text = alloc_checked(yyjson_val_write(val, YYJSON_WRITE_NOFLAG, &len));
	return arena_str(arena, (struct str){text, len});
}

struct strs json_read_strings(struct arena *arena, struct str text)
{
	struct proto_error error;
	AUTO_DOC *doc = text.ptr ? proto_parse(text, &error) : NULL;
	yyjson_val *list = yyjson_doc_get_root(doc), *item;
	yyjson_arr_iter iter = yyjson_arr_iter_with(list);
	struct strs out = {0};

	out.items = arena_array(arena, yyjson_arr_size(list), sizeof(struct str));
	while ((item = yyjson_arr_iter_next(&iter)))
		if (yyjson_is_str(item))
			out.items[out.count++] = arena_str(arena,
				(struct str){yyjson_get_str(item), yyjson_get_len(item)});
	return out;
}

void *json_read_objects(
	struct arena *arena, const struct type *type, struct str text, size_t *count)
{
	/* Decoded messages borrow from the document, which lives in the arena for that.
	 */
	struct str kept = arena_str(arena, text);
	size_t room = kept.ptr ? yyjson_read_max_memory_usage(kept.len, 0) : 0;
	yyjson_alc memory;
	yyjson_doc *doc = NULL;
	yyjson_val *list, *item;
	yyjson_arr_iter iter;
	struct proto_error error;
	char *out;

	*count = 0;
	if (kept.ptr &&
		yyjson_alc_pool_init(&memory, arena_alloc(arena, room + 64), room + 64))
		doc = yyjson_read_opts(
			arena_cstr(arena, kept), kept.len, 0, &memory, NULL);
	list = yyjson_doc_get_root(doc);
	iter = yyjson_arr_iter_with(list);
	out = arena_array(arena, yyjson_arr_size(list), type->size);
	while ((item = yyjson_arr_iter_next(&iter)))
		if (proto_decode(type, item, "item", DECODE_LENIENT, arena,
			    out + *count * type->size, &error) == 0)
			(*count)++;
	return out;
}

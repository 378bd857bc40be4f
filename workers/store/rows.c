/* rows.c - between rows and messages (rows.h). */
#include "workers/store/rows.h"
#include "common/buf.h"

void rows_grow(struct arena *arena, void **items, size_t *room, size_t count, size_t size)
{
	void *larger;

	if (count < *room)
		return;
	*room = *room ? 2 * *room : 8;
	larger = arena_array(arena, *room, size);
	if (count > 0)
		memcpy(larger, *items, count * size);
	*items = larger;
}

struct strs rows_strings(struct str json, struct arena *arena)
{
	yyjson_doc *doc = json.ptr ? yyjson_read(json.ptr, json.len, 0) : NULL;
	yyjson_val *root = yyjson_doc_get_root(doc), *one;
	struct strs list = {
		arena_array(arena, yyjson_arr_size(root) + 1, sizeof(struct str)), 0};
	size_t i, max;

	yyjson_arr_foreach(root, i, max, one) if (yyjson_is_str(one))
		list.items[list.count++] =
		arena_str(arena, (struct str){yyjson_get_str(one), yyjson_get_len(one)});
	yyjson_doc_free(doc);
	return list;
}

struct str rows_strings_text(struct strs list, struct arena *arena)
{
	struct buf text = {0};
	struct str result;

	buf_add_char(&text, '[');
	for (size_t i = 0; i < list.count; i++) {
		if (i)
			buf_add_char(&text, ',');
		buf_add_json_string(&text, list.items[i]);
	}
	buf_add_char(&text, ']');
	result = arena_str(arena, buf_str(&text));
	buf_free(&text);
	return result;
}

int rows_json(struct database *db, enum statement which, struct str first,
	struct str second, struct arena *arena, struct str *out)
{
	AUTO_QUERY *query = query_begin(db, which);
	int parameters = query ? sqlite3_bind_parameter_count(query) : 0;
	int found;

	if (parameters >= 1)
		query_text(query, 1, first);
	if (parameters >= 2)
		query_text(query, 2, second);
	found = query_step(db, query);
	if (found < 0)
		return found;
	*out = found == 1 ? query_column(query, 0, arena) : STR_LIT("[]");
	return 0;
}

/*
 * memory_fixture.h - memory.db beside an embedder: memories are kept and found as the llm
 * worker does it. On top of store_fixture.h.
 */
#pragma once

#include "common/base/log.h"
#include "tests/unit/store/store_fixture.h"
#include "workers/llm/memory/embedder.h"
#include <openssl/evp.h>

static struct embedder *embedder; /* without a model, at first */

static inline void memory_setup(void)
{
	log_init("test", LOG_LEVEL_ERROR);
	fixture_setup();
	embedder = embedder_open(NULL);
}

static inline void memory_teardown(void)
{
	embedder_close(embedder);
	fixture_teardown();
}

static inline struct str base64_of(const void *bytes, size_t len)
{
	unsigned char *text = arena_alloc(&fixture_arena, len * 4 / 3 + 8);

	return (struct str){
		(const char *)text, (size_t)EVP_EncodeBlock(text, bytes, (int)len)};
}

static inline struct str vector_of(const char *text)
{
	float vector[EMBEDDING_MAX];

	embed(embedder, str_of(text), vector);
	return base64_of(vector, (size_t)embedder_size(embedder) * sizeof(float));
}

/* Appends a record of memory.add; `id` may be empty. */
static inline void add_record(struct buf *body, const char *id, const char *content,
	const char *session, const char *project, const char *tags)
{
	buf_printf(body, "{\"id\":\"%s\",\"content\":", id);
	buf_add_json_string(body, str_of(content));
	buf_printf(body,
		",\"embedding\":\"%.*s\",\"sessionId\":\"%s\",\"project\":\"%s\","
		"\"createdAt\":\"2026-01-02T03:04:05.678Z\",\"importance\":\"high\","
		"\"tags\":\"%s\"}",
		STR_ARG(vector_of(content)), session, project, tags);
}

/* Keeps one memory and gives how many were kept. `key` NULL: a fresh one. */
static inline long add_with(const char *key, const char *id, const char *content,
	const char *session, const char *project)
{
	struct buf body = {0};
	long count = 0;

	buf_printf(&body, "{\"embedder\":\"%s\",\"memories\":[", embedder_name(embedder));
	add_record(&body, id, content, session, project, "a,b");
	buf_printf(&body, "]}");
	ck_assert_int_eq(
		sscanf(must_call(METHOD_MEMORY_ADD, key, body.data)->outcome.answer.ptr,
			"{\"count\":%ld}", &count),
		1);
	buf_free(&body);
	return count;
}

static inline long add(const char *content, const char *session)
{
	return add_with(NULL, "", content, session, "/p");
}

/* The body of memory.search, in the arena. */
static inline const char *search_body(const char *text, int count, const char *project)
{
	struct buf body = {0};
	const char *kept;

	buf_printf(&body,
		"{\"embedder\":\"%s\",\"embedding\":\"%.*s\",\"count\":%d,\"text\":",
		embedder_name(embedder), STR_ARG(vector_of(text)), count);
	buf_add_json_string(&body, str_of(text));
	if (project)
		buf_printf(&body, ",\"project\":\"%s\"", project);
	buf_printf(&body, "}");
	kept = arena_cstr(&fixture_arena, buf_str(&body));
	buf_free(&body);
	return kept;
}

static inline yyjson_doc *search(const char *text, int count, const char *project)
{
	struct str answer =
		must_call(METHOD_MEMORY_SEARCH, NULL, search_body(text, count, project))
			->outcome.answer;
	yyjson_doc *doc = yyjson_read(answer.ptr, answer.len, 0);

	ck_assert_ptr_nonnull(doc);
	return doc;
}

static inline yyjson_val *hits_of(yyjson_doc *doc)
{
	return yyjson_obj_get(yyjson_doc_get_root(doc), "memories");
}

/* The contents that are found, parted by |. */
static inline const char *find(const char *text, int count, const char *project)
{
	yyjson_doc *doc = search(text, count, project);
	struct str found = STR_LIT("");
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(hits_of(doc), i, max, one)
	{
		found = arena_printf(&fixture_arena, "%.*s%s%s", STR_ARG(found),
			i ? "|" : "", yyjson_get_str(yyjson_obj_get(one, "content")));
	}
	yyjson_doc_free(doc);
	return found.ptr;
}

/* As rows(), of memory.db. */
static inline const char *memory_rows(const char *sql)
{
	sqlite3 *paige = store.db.handle;
	const char *text;

	store.db.handle = store.memory->db.handle;
	text = rows(sql);
	store.db.handle = paige;
	return text;
}

/*
 * memory_search.c - finds memories in memory.db (memory.h): by vectors and by words,
 * fused by their ranks.
 *
 * Every vector of the same embedder is compared, which for ten thousand takes some 15 ms;
 * the loop turns in between. Memories of another embedder are found by their words.
 */
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "workers/store/memory/memory.h"
#include "workers/store/memory/memory_rank.h"
#include "workers/store/memory/memory_vector.h"
#include "workers/store/memory/memory_words.h"
#include "workers/store/service/store.h"

#define SLICE_US 3000
#define SLICE_ROWS 64 /* between two looks at the clock */
/* How deep the two rankings go at least. */
#define DEPTH_MIN 100

/* A search between its slices. */
struct search {
	struct memory_vector vector;
	struct memory_best near;
	sqlite3_stmt *rows;
};

static size_t depth_of(const struct memory_search *request)
{
	size_t twice = 2 * (size_t)request->count;

	return twice < DEPTH_MIN ? DEPTH_MIN : twice;
}

/* ---- by vectors ---- */

static int begin(struct memory *m, struct call *call)
{
	const struct memory_search *request = call->message;
	struct search *s = arena_alloc(call->arena, sizeof(*s));

	if (memory_vector_read(request->embedding, call->arena, &s->vector) < 0)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"embedding: expected base64 of a vector of floats that is not "
			"zero");
	memory_best_init(&s->near, depth_of(request), call->arena);
	s->rows = memory_query(
		m, request->project.ptr ? MEMORY_VECTORS_OF_PROJECT : MEMORY_VECTORS);
	query_text(s->rows, 1, request->embedder);
	if (request->project.ptr)
		query_text(s->rows, 2, request->project);
	call->progress = s;
	return 0;
}

static void compare(struct search *s)
{
	const void *vector = sqlite3_column_blob(s->rows, 1);

	/* One of another size was made by another version of the embedder. */
	if (vector && (size_t)sqlite3_column_bytes(s->rows, 1) ==
			      s->vector.size * sizeof(float))
		memory_best_offer(&s->near, sqlite3_column_int64(s->rows, 0),
			(double)memory_vector_cosine(&s->vector, vector));
}

/* 1 there is more, 0 the end, or -errno. */
static int compare_slice(struct memory *m, struct search *s)
{
	int64_t end = clock_mono().us + SLICE_US;
	int found;

	do {
		int rows = 0;

		while ((found = query_step(&m->db, s->rows)) == 1 && rows++ < SLICE_ROWS)
			compare(s);
		if (found == 1)
			compare(s);
	} while (found == 1 && clock_mono().us < end);
	return found;
}

/* ---- by words ---- */

static int match(
	struct memory *m, struct call *call, int64_t *numbers, size_t room, size_t *count)
{
	const struct memory_search *request = call->message;
	AUTO_BUF text = {0};
	int found = 0;

	*count = 0;
	memory_words(request->text, &text);
	if (text.len > 0) {
		AUTO_QUERY *query =
			memory_query(m, request->project.ptr ? MEMORY_MATCHES_OF_PROJECT
							     : MEMORY_MATCHES);

		query_text(query, 1, buf_str(&text));
		sqlite3_bind_int64(query, 2, (int64_t)room);
		if (request->project.ptr)
			query_text(query, 3, request->project);
		while (*count < room && (found = query_step(&m->db, query)) == 1)
			numbers[(*count)++] = sqlite3_column_int64(query, 0);
	}
	return found < 0 ? found : 0;
}

/* ---- the answer ---- */

static struct str metadata(sqlite3_stmt *row, struct arena *arena)
{
	static const char *const names[] = {
		"session_id", "project", "created_at", "importance", "tags"};
	AUTO_BUF text = {0};

	for (int i = 0; i < 5; i++) {
		buf_printf(&text, "%c\"%s\":", i == 0 ? '{' : ',', names[i]);
		buf_add_json_string(&text, query_column(row, 2 + i, arena));
	}
	buf_add_char(&text, '}');
	return arena_str(arena, buf_str(&text));
}

/* Without a vector to compare, as far as one that has nothing to do with it. */
static double distance(const struct search *s, sqlite3_stmt *row)
{
	const void *vector = sqlite3_column_blob(row, 7);

	if (!vector ||
		(size_t)sqlite3_column_bytes(row, 7) != s->vector.size * sizeof(float))
		return 1;
	return 1 - (double)memory_vector_cosine(&s->vector, vector);
}

/* 1, 0 when the memory is gone, or -errno. */
static int read_hit(
	struct memory *m, struct call *call, int64_t number, struct memory_hit *hit)
{
	const struct memory_search *request = call->message;
	AUTO_QUERY *query = memory_query(m, MEMORY_GET);
	int found;

	sqlite3_bind_int64(query, 1, number);
	query_text(query, 2, request->embedder);
	found = query_step(&m->db, query);
	if (found == 1)
		*hit = (struct memory_hit){
			.id = query_column(query, 0, call->arena),
			.content = query_column(query, 1, call->arena),
			.metadata = {.raw = metadata(query, call->arena)},
			.distance = distance(call->progress, query),
			.has_distance = true,
		};
	return found;
}

static int answer(struct memory *m, struct call *call)
{
	const struct memory_search *request = call->message;
	struct search *s = call->progress;
	size_t depth = depth_of(request), matched, count;
	int64_t *numbers = arena_array(call->arena, depth, sizeof(*numbers));
	struct memory_scored *order =
		arena_array(call->arena, (size_t)request->count, sizeof(*order));
	struct memory_hits hits = {0};
	int result = match(m, call, numbers, depth, &matched);

	memory_best_sort(&s->near);
	count = memory_fuse(s->near.items, s->near.count, numbers, matched, order,
		(size_t)request->count, call->arena);
	hits.memories.items =
		arena_array(call->arena, count + 1, sizeof(*hits.memories.items));
	for (size_t i = 0; result >= 0 && i < count; i++) {
		result = read_hit(m, call, order[i].number,
			&hits.memories.items[hits.memories.count]);
		hits.memories.count += result == 1;
	}
	if (result < 0)
		return result;
	call_answer(call, &hits);
	return 0;
}

int memory_search(struct store *store, struct call *call)
{
	struct memory *m = store->memory;
	struct search *s;
	int result = call->progress ? 0 : begin(m, call);

	if (result < 0)
		return result;
	s = call->progress;
	result = compare_slice(m, s);
	if (result == 1)
		return result;
	query_end(&s->rows);
	if (result == 0)
		result = answer(m, call);
	call->progress = NULL;
	return result < 0 ? memory_failed(store, call, result) : 0;
}

int memory_count(struct store *store, struct call *call)
{
	AUTO_QUERY *query = memory_query(store->memory, MEMORY_COUNT);
	int found = query_step(&store->memory->db, query);

	if (found < 0)
		return memory_failed(store, call, found);
	call_answer(call, &(struct written){.count = sqlite3_column_int64(query, 0),
				  .has_count = true});
	return 0;
}

/* memory_add.c - keeps memories in memory.db (memory.h). */
#include "proto/codec/messages.h"
#include "workers/store/memory/memory.h"
#include "workers/store/memory/memory_vector.h"
#include "workers/store/service/store.h"
#include <errno.h>

/* Of this call, when it was done before and its answer got lost. The number, or -errno.
 */
static int kept_by_call(struct memory *m, struct str key)
{
	AUTO_QUERY *query = memory_query(m, MEMORY_KEPT_BY_CALL);
	int found;

	query_text(query, 1, key);
	found = query_step(&m->db, query);
	return found == 1 ? sqlite3_column_int(query, 0) : found;
}

/* The index that the next memory of a session gets; what the rows say is asked for once
 * a call, since it takes as long as the session has memories. */
struct next_index {
	struct str session;
	int64_t index; /* -1: not known */
};

/* One past the highest of the session (P8.2). 0 or -errno. */
static int find_index(struct memory *m, struct str prefix, struct next_index *next)
{
	AUTO_QUERY *query = memory_query(m, MEMORY_NEXT_INDEX);
	int found;

	query_text(query, 1, next->session);
	query_text(query, 2, prefix);
	found = query_step(&m->db, query);
	if (found != 1)
		return found < 0 ? found : -EIO;
	next->index = sqlite3_column_int64(query, 0);
	return 0;
}

/* mem_<session>_<index>. 0 or -errno. */
static int make_id(struct memory *m, struct call *call,
	const struct memory_record *record, struct next_index *next, struct str *id)
{
	struct str prefix =
		arena_printf(call->arena, "mem_%.*s_", STR_ARG(record->session_id));
	int result = 0;

	if (next->index < 0 || !str_eq(next->session, record->session_id)) {
		next->session = record->session_id;
		result = find_index(m, prefix, next);
	}
	if (result < 0)
		return result;
	*id = arena_printf(
		call->arena, "%.*s%lld", STR_ARG(prefix), (long long)next->index++);
	return 0;
}

/* 1 with the number of its row, 0 when the id is taken, or -errno. */
static int insert_memory(struct memory *m, struct call *call,
	const struct memory_record *record, struct str id, int64_t *number)
{
	AUTO_QUERY *query = memory_query(m, MEMORY_KEEP);
	int found;

	query_text(query, 1, id);
	query_text(query, 2, record->session_id);
	query_text(query, 3, record->project);
	query_text(query, 4, record->created_at);
	query_text(query, 5, record->importance);
	query_text(query, 6, record->tags);
	query_text(query, 7, record->content);
	query_text(query, 8, call->key);
	found = query_step(&m->db, query);
	if (found == 1) {
		*number = sqlite3_column_int64(query, 0);
		found = query_step(&m->db, query); /* to its end */
		return found < 0 ? found : 1;
	}
	return found;
}

static int insert_vector(struct memory *m, int64_t number, struct str embedder,
	const struct memory_vector *vector)
{
	AUTO_QUERY *query = memory_query(m, MEMORY_KEEP_VECTOR);

	sqlite3_bind_int64(query, 1, number);
	query_text(query, 2, embedder);
	sqlite3_bind_blob64(
		query, 3, vector->values, vector->size * sizeof(float), SQLITE_STATIC);
	return query_run(&m->db, query);
}

static int insert_words(
	struct memory *m, int64_t number, const struct memory_record *record)
{
	AUTO_QUERY *query = memory_query(m, MEMORY_KEEP_WORDS);

	sqlite3_bind_int64(query, 1, number);
	query_text(query, 2, record->content);
	query_text(query, 3, record->tags);
	return query_run(&m->db, query);
}

/* 1 kept, 0 there already, or -errno. */
static int keep(struct memory *m, struct call *call, const struct memory_record *record,
	const struct memory_vector *vector, struct next_index *next)
{
	const struct memory_add *request = call->message;
	struct str id = record->id;
	int64_t number = 0;
	int result = 0;

	if (id.len > 0)
		next->index = -1; /* it may be the highest of a session */
	else
		result = make_id(m, call, record, next, &id);
	if (result == 0)
		result = insert_memory(m, call, record, id, &number);
	if (result != 1)
		return result;
	result = insert_vector(m, number, request->embedder, vector);
	if (result >= 0)
		result = insert_words(m, number, record);
	return result < 0 ? result : 1;
}

/* All of them in one transaction. The number kept, or -errno. */
static int keep_all(
	struct memory *m, struct call *call, const struct memory_vector *vectors)
{
	const struct memory_add *request = call->message;
	struct next_index next = {.index = -1};
	int result = database_execute(&m->db, STATEMENT_BEGIN_WRITE);
	int kept = result < 0 ? result : kept_by_call(m, call->key);
	/* Otherwise this very call was done before and its answer got lost. */
	bool first = kept == 0;

	for (size_t i = 0; first && result >= 0 && i < request->memories.count; i++) {
		result = keep(m, call, &request->memories.items[i], &vectors[i], &next);
		kept += result;
	}
	if (kept >= 0 && result >= 0)
		result = database_execute(&m->db, STATEMENT_COMMIT);
	return result < 0 ? result : kept;
}

static int read_vectors(struct call *call, struct memory_vector *vectors)
{
	const struct memory_add *request = call->message;

	for (size_t i = 0; i < request->memories.count; i++)
		if (memory_vector_read(request->memories.items[i].embedding, call->arena,
			    &vectors[i]) < 0)
			return call_refuse(call, ERROR_INVALID_MESSAGE,
				"memories[%zu].embedding: expected base64 of a vector of "
				"floats that is not "
				"zero",
				i);
	return 0;
}

int memory_add(struct store *store, struct call *call)
{
	const struct memory_add *request = call->message;
	struct memory_vector *vectors =
		arena_array(call->arena, request->memories.count + 1, sizeof(*vectors));
	int result = read_vectors(call, vectors);

	if (result < 0)
		return result;
	result = keep_all(store->memory, call, vectors);
	if (result < 0)
		return memory_failed(store, call, result);
	memory_committed(store);
	call_answer(call, &(struct written){.count = result, .has_count = true});
	return 0;
}

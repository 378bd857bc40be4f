/*
 * gaps.c - knowledge gaps and the katas made for them (FR-119, P2.10, P9.3, P9.4).
 *
 * A topic that is known is counted, not doubled. The time of the call stands in the rows,
 * so a call that is repeated meets its own traces and counts nothing twice.
 */
#include "proto/codec/messages.h"
#include "workers/store/db/json_text.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

struct gap_ref {
	struct str id, topic;
	bool is_new;
};

/* What one call writes. */
struct gap_writer {
	struct store *store;
	struct call *call;
	struct str session_id;
	struct str at;
	unsigned rows; /* ids given out so far */
};

static struct str next_id(struct gap_writer *w)
{
	char *id = arena_alloc(w->call->arena, UUID_SIZE);

	call_row_id(w->call, w->rows++, id);
	return str_of(id);
}

/* 1 found by its topic in any case, with *last_at; 0; or -errno. */
static int find_gap(
	struct gap_writer *w, struct str topic, struct str *id, struct str *last_at)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_GAP_BY_TOPIC);
	int found;

	query_text(query, 1, topic);
	found = query_step(&w->store->db, query);
	if (found == 1) {
		*id = query_column(query, 0, w->call->arena);
		*last_at = query_column(query, 1, w->call->arena);
	}
	return found;
}

static int insert_gap(struct gap_writer *w, struct str id, const struct found_gap *gap)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_GAP_INSERT);

	query_text(query, 1, id);
	query_text(query, 2, w->session_id);
	query_text(query, 3, gap->topic);
	query_text(query, 4, str_of(urgency_enumeration()->names[gap->severity]));
	query_text(query, 5, gap->evidence);
	query_text(query, 6, json_text_strings(w->call->arena, gap->related_concepts));
	query_text(query, 7, w->at);
	return query_run(&w->store->db, query);
}

static int count_gap(struct gap_writer *w, struct str id, const struct found_gap *gap)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_GAP_COUNT);

	query_text(query, 1, id);
	query_text(query, 2, str_of(urgency_enumeration()->names[gap->severity]));
	query_text(query, 3, gap->evidence);
	query_text(query, 4, w->at);
	return query_run(&w->store->db, query);
}

static int keep_gap(
	struct gap_writer *w, const struct found_gap *gap, struct gap_ref *ref)
{
	struct str own_id = next_id(w), last_at;
	int result = find_gap(w, gap->topic, &ref->id, &last_at);

	ref->topic = gap->topic;
	if (result < 0)
		return result;
	if (result == 0) {
		ref->id = own_id;
		ref->is_new = true;
		return insert_gap(w, own_id, gap);
	}
	ref->is_new = str_eq(ref->id, own_id);
	return str_eq(last_at, w->at) ? 0 : count_gap(w, ref->id, gap);
}

/* The gap that a kata is for: by its topic, else by its place (P9.4). */
static const struct gap_ref *gap_of_kata(const struct kata_store *kata, size_t index,
	const struct gap_ref *gaps, size_t count)
{
	for (size_t i = 0; kata->topic.ptr && i < count; i++)
		if (str_eq_nocase(kata->topic, gaps[i].topic))
			return &gaps[i];
	return &gaps[index % count];
}

static int insert_kata(
	struct gap_writer *w, const struct kata_store *kata, struct str gap_id)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_KATA_INSERT);

	query_text(query, 1, next_id(w));
	query_text(query, 2, gap_id);
	query_text(query, 3, kata->title);
	query_text(query, 4, kata->description);
	query_text(query, 5, kata->scaffolding_code);
	query_text(query, 6, kata->instructor_notes);
	query_text(query, 7,
		json_text_objects(w->call->arena, kata_constraint_type(),
			kata->constraints.items, kata->constraints.count));
	return query_run(&w->store->db, query);
}

int gaps_store(struct store *store, struct call *call)
{
	const struct gaps_store *request = call->message;
	char *at = arena_alloc(call->arena, WALL_ISO_SIZE);
	struct gap_writer w = {.store = store,
		.call = call,
		.session_id = request->session_id,
		.at = str_of(at)};
	struct gap_ref *refs =
		arena_array(call->arena, request->gaps.count, sizeof(*refs));
	struct gaps_stored answer = {.has_new_gaps = true, .has_katas = true};
	int result = 0;

	wall_iso(call_made(call), at);
	w.at.len = WALL_ISO_SIZE - 1;
	for (size_t i = 0; result >= 0 && i < request->gaps.count; i++) {
		result = keep_gap(&w, &request->gaps.items[i], &refs[i]);
		answer.new_gaps += refs[i].is_new;
	}
	for (size_t i = 0;
		result >= 0 && request->gaps.count > 0 && i < request->katas.count; i++) {
		const struct kata_store *kata = &request->katas.items[i];

		result = insert_kata(
			&w, kata, gap_of_kata(kata, i, refs, request->gaps.count)->id);
		answer.katas++;
	}
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}

/* dreyfus.c - how far the learner is in each skill (FR-121; P2.7, P2.8). */
#include "proto/codec/messages.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

/* A skill that is known keeps its row. */
static int keep_assessment(struct store *store, struct call *call, unsigned n,
	const struct skill_assessment *a, const char *at)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_DREYFUS_UPSERT);
	char id[UUID_SIZE];

	call_row_id(call, n, id);
	query_text(query, 1, str_of(id));
	query_text(query, 2, a->skill_area);
	query_text(query, 3, str_of(dreyfus_stage_enumeration()->names[a->stage]));
	if (query)
		sqlite3_bind_double(query, 4, a->confidence);
	query_text(query, 5, a->evidence);
	query_text(query, 6, str_of(at));
	return query_run(&store->db, query);
}

int dreyfus_store(struct store *store, struct call *call)
{
	const struct dreyfus_store *request = call->message;
	struct written answer = {
		.count = (int64_t)request->assessments.count, .has_count = true};
	char at[WALL_ISO_SIZE];

	wall_iso(call_made(call), at);
	for (size_t i = 0; i < request->assessments.count; i++) {
		int result = keep_assessment(
			store, call, (unsigned)i, &request->assessments.items[i], at);

		if (result < 0)
			return result;
	}
	call_answer(call, &answer);
	return 0;
}

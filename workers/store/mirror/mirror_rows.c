/*
 * mirror_rows.c - rows behind a position, for the mirror.
 *
 * Logs are read by rowid, which grows with each row, since none is ever deleted. Before the rows the one at the position
 * is looked at: when it is another one, this database is not the one that the position was made with, such as a backup
 * that was put back.
 */
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "workers/store/mirror/consent.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include "workers/store/streams/streams.h"

/* What fits into an answer; a row that passes the limit of bytes is the last one. */
#define PAGE_ROWS 2000
#define PAGE_BYTES (512 * 1024)

/* 1 when the row at the position is the one that is meant, 0 when not, or -errno. */
static int is_at(struct store *store, struct call *call, sqlite3_stmt *query,
	const struct mirror_query *request)
{
	int found = query_step(&store->db, query);

	if (found != 1)
		return found;
	return sqlite3_column_int64(query, 0) == request->after &&
	       str_eq(query_column(query, 1, call->arena), request->after_id);
}

static int answer_rows(struct store *store, struct call *call, int statement)
{
	const struct mirror_query *request = call->message;
	bool look = request->after_id.ptr && request->after > 0;
	AUTO_QUERY *query = query_begin(&store->db, statement);
	struct mirror_rows answer = {0};
	AUTO_BUF rows = {0};
	int found = 1;

	if (query) {
		sqlite3_bind_int64(query, 1, request->after - look);
		sqlite3_bind_int64(query, 2, PAGE_ROWS + look);
	}
	if (look)
		found = is_at(store, call, query, request);
	answer.diverged = found == 0;
	while (found == 1 && rows.len < PAGE_BYTES &&
		(found = query_step(&store->db, query)) == 1) {
		buf_add_char(&rows, rows.len ? ',' : '[');
		buf_add_str(&rows, query_column(query, 2, call->arena));
	}
	buf_add_str(&rows, rows.len ? STR_LIT("]") : STR_LIT("[]"));
	answer.rows.raw = buf_str(&rows);
	if (found >= 0)
		call_answer(call, &answer);
	return found < 0 ? found : 0;
}

static int refuse(struct call *call)
{
	return call_refuse(call, ERROR_NOT_ALLOWED,
		"The learner has not agreed that what they do is carried to PostgreSQL");
}

int mirror_rows(struct store *store, struct call *call)
{
	static const int statements[] = {
		[MIRROR_ACTIONS] = STATEMENT_MIRROR_ACTIONS,
		[MIRROR_API_CALLS] = STATEMENT_MIRROR_API_CALLS,
		[MIRROR_SESSIONS] = STATEMENT_MIRROR_SESSIONS,
		[MIRROR_PHASES] = STATEMENT_MIRROR_PHASES,
		[MIRROR_ASSESSMENTS] = STATEMENT_MIRROR_ASSESSMENTS,
	};
	const struct mirror_query *request = call->message;

	if (!store->consent->allowed)
		return refuse(call);
	if (request->source == MIRROR_GUARD_EVENTS)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"source: guard_events are asked for with mirror.guard_rows");
	return answer_rows(store, call, statements[request->source]);
}

int mirror_guard_rows(struct store *streams, struct call *call)
{
	const struct mirror_query *request = call->message;

	if (!streams->beside->consent->allowed)
		return refuse(call);
	if (request->source != MIRROR_GUARD_EVENTS)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"source: only guard_events are in guard.db");
	return answer_rows(streams, call, STREAMS_MIRROR_ROWS);
}

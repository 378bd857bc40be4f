/*
 * api_calls.c - the log of calls to Claude (story 4: FR-040, FR-042,
 * EC-19, P4.4).
 *
 * The id of a row is the key of the call that brings it. Rows are never changed.
 */
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "workers/store/service/open_calls.h"
#include "workers/store/service/row_ids.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <errno.h>

/* 1 written, 0 it was there, or -errno. */
static int insert_call(struct store *store, const char *id, const struct api_call *row)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_API_CALL_INSERT);

	query_text(query, 1, str_of(id));
	query_text(query, 2, row->session_id);
	query_text(query, 3, row->call_type);
	query_text(query, 4, row->model);
	query_text(query, 5, row->input_hash);
	if (query) {
		sqlite3_bind_int64(query, 6, row->latency_ms);
		sqlite3_bind_int64(query, 7, row->input_tokens);
		sqlite3_bind_int64(query, 8, row->output_tokens);
		sqlite3_bind_double(query, 9, row->cost_estimate);
	}
	query_text(query, 10, row->created_at);
	return query_run(&store->db, query);
}

static void forget_open(struct store *store, struct call *call)
{
	open_calls_end(&store->open_calls, call->key);
}

int api_call_append(struct store *store, struct call *call)
{
	char id[UUID_SIZE];
	int result;

	call_row_id(call, 0, id);
	result = insert_call(store, id, call->message);
	if (result == -ENOKEY)
		return call_refuse(call, ERROR_NOT_FOUND, "There is no session %.*s",
			STR_ARG(((const struct api_call *)call->message)->session_id));
	if (result < 0)
		return result;
	call->outcome.committed = forget_open;
	call_answer(call, &(struct written){.count = result, .has_count = true});
	return 0;
}

/* ---- calls under way ---- */

static int is_logged(struct store *store, const char *id)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_API_CALL_GET);

	query_text(query, 1, str_of(id));
	return query_step(&store->db, query);
}

int api_call_begin(struct store *store, struct call *call)
{
	char id[UUID_SIZE];
	int result;

	call_row_id(call, 0, id);
	result = is_logged(store, id);
	if (result < 0)
		return result;
	/* A begin that is repeated after the end is too late. */
	if (result == 0)
		result = open_calls_begin(&store->open_calls, call->key,
			call_encode(call, api_call_type(), call->message));
	if (result < 0)
		log_warn("a call to Claude will not be logged if it is never ended",
			"error", "%s", strerror(-result), NULL);
	call_answer_text(call, STR_LIT("null"));
	return 0;
}

/* Logs one call that nobody ended as failed. */
static int log_unended(
	struct store *store, struct call *call, const struct open_call *open)
{
	struct str text = {open->row, open->row_len};
	struct proto_error error;
	AUTO_DOC *doc = proto_parse(text, &error);
	struct api_call row;
	char id[UUID_SIZE];
	int result = -EINVAL;

	if (doc && row_id(str_of(open->key), 0, id) == 0)
		result = proto_decode(api_call_type(), yyjson_doc_get_root(doc), "call",
			DECODE_LENIENT, call->arena, &row, &error);
	if (result == 0) {
		row.latency_ms = -1;
		row.input_tokens = 0;
		row.output_tokens = 0;
		row.cost_estimate = 0;
		result = insert_call(store, id, &row);
	}
	/* Its session may be gone, and the line may be broken: nothing to be done about
	 * either. */
	return result == -EINVAL || result == -ENOKEY ? 0 : result;
}

static void forget_all(struct store *store, struct call *call)
{
	(void)call;
	open_calls_clear(&store->open_calls);
}

int api_call_reconcile(struct store *store, struct call *call)
{
	struct written answer = {.has_count = true};

	for (size_t i = 0; i < store->open_calls.count; i++) {
		int result = log_unended(store, call, &store->open_calls.items[i]);

		if (result < 0)
			return result;
		answer.count += result;
	}
	call->outcome.committed = forget_all;
	call_answer(call, &answer);
	return 0;
}

int api_call_spending(struct store *store, struct call *call)
{
	const struct spending_query *request = call->message;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_API_CALL_SPENDING);
	struct spending answer = {.has_session = true, .has_day = true};
	int result;

	query_text(query, 1, request->session_id);
	query_text(query, 2, request->day_start);
	result = query_step(&store->db, query);
	if (result < 0)
		return result;
	answer.session = sqlite3_column_double(query, 0);
	answer.day = sqlite3_column_double(query, 1);
	call_answer(call, &answer);
	return 0;
}

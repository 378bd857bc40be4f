/* api_calls.c - calls to Claude (api_calls.h). */
#include "workers/store/api_calls.h"
#include "common/log.h"
#include "proto/messages.h"
#include "workers/store/store.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* More are not remembered: the llm worker runs fewer flows than this. */
#define BEGUN_MAX 1024

/* A call under way, as its row would be if it failed. */
struct begun {
	struct begun *next;
	char id[UUID_SIZE];
	struct arena arena; /* of the texts in row */
	struct api_call row;
};

static struct begun *begun_calls;
static size_t begun_count;

static void forget(const char *id)
{
	for (struct begun **link = &begun_calls; *link; link = &(*link)->next) {
		struct begun *b = *link;

		if (strcmp(b->id, id) != 0)
			continue;
		*link = b->next;
		begun_count--;
		arena_free(&b->arena);
		free(b);
		return;
	}
}

int api_call_begin(struct store *store, struct call *call)
{
	const struct api_call *request = call->message;
	struct begun *b;

	(void)store;
	if (begun_count < BEGUN_MAX) {
		b = calloc(1, sizeof(*b));
		if (!b)
			return -ENOMEM;
		call_row_id(call, 0, b->id);
		forget(b->id); /* a repeated call */
		b->row = *request;
		b->row.session_id = arena_str(&b->arena, request->session_id);
		b->row.call_type = arena_str(&b->arena, request->call_type);
		b->row.model = arena_str(&b->arena, request->model);
		b->row.input_hash = arena_str(&b->arena, request->input_hash);
		b->row.created_at = arena_str(&b->arena, request->created_at);
		b->next = begun_calls;
		begun_calls = b;
		begun_count++;
	}
	call_answer_text(call, STR_LIT("null"));
	return 0;
}

static int insert(struct store *store, const char *id, const struct api_call *row)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_API_CALL_INSERT);

	query_text(query, 1, str_of(id));
	query_text(query, 2, row->session_id);
	query_text(query, 3, row->call_type);
	query_text(query, 4, row->model);
	query_text(query, 5, row->input_hash);
	sqlite3_bind_int64(query, 6, row->latency_ms);
	sqlite3_bind_int64(query, 7, row->input_tokens);
	sqlite3_bind_int64(query, 8, row->output_tokens);
	sqlite3_bind_double(query, 9, row->cost_estimate);
	query_text(query, 10, row->created_at);
	return query_run(&store->db, query);
}

int api_call_append(struct store *store, struct call *call)
{
	struct written answer = {.has_count = true};
	char id[UUID_SIZE];
	int written;

	call_row_id(call, 0, id);
	written = insert(store, id, call->message);
	if (written < 0)
		return written;
	forget(id);
	answer.count = written;
	call_answer(call, &answer);
	return 0;
}

int api_call_reconcile(struct store *store, struct call *call)
{
	struct written answer = {.has_count = true};

	for (const struct begun *b = begun_calls; b; b = b->next) {
		int written = insert(store, b->id, &b->row);

		if (written < 0)
			return written;
		answer.count += written;
	}
	/* Forgotten before the commit: should that fail, rows are missing, and no call is
	 * logged twice. */
	if (answer.count > 0)
		log_info("calls that a crash cut off are logged as failed", "calls",
			"%lld", (long long)answer.count, NULL);
	while (begun_calls)
		forget(begun_calls->id);
	call_answer(call, &answer);
	return 0;
}

int api_call_spending(struct store *store, struct call *call)
{
	const struct spending_query *request = call->message;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_API_SPENDING);
	struct spending answer = {.has_session = true, .has_day = true};
	int found;

	query_text(query, 1, request->session_id);
	query_text(query, 2, request->day_start);
	found = query_step(&store->db, query);
	if (found < 0)
		return found;
	answer.session = sqlite3_column_double(query, 0);
	answer.day = sqlite3_column_double(query, 1);
	call_answer(call, &answer);
	return 0;
}

/*
 * log_pages.c - pages of the action log for people who look at it, the newest row first.
 *
 * Rows are found by their rowid, which grows with each row: none is ever deleted. A page
 * looks at a bounded number of rows, so that a filter that fits no row of a long log
 * does not hold up the loop; the caller goes on with the next page.
 */
#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "workers/store/db/json_text.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

#define LIMIT_DEFAULT 100
/* That a page looks at. */
#define ROWS_LOOKED_AT 10000
/* Of data, after which a page ends. */
#define PAGE_BYTES (1024 * 1024)

static int check_types(struct call *call, const struct log_query *request)
{
	for (size_t i = 0; i < request->types.count; i++)
		if (action_by_name(request->types.items[i]) < 0)
			return call_refuse(call, ERROR_INVALID_MESSAGE,
				"payload.types[%zu]: expected a type of the action log, "
				"not \"%.*s\"",
				i, STR_ARG(request->types.items[i]));
	return 0;
}

/* The number of the row that would be written next, or -errno. */
static int64_t end_of_log(struct store *store)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_ACTIONS_END);
	int found = query_step(&store->db, query);

	return found < 0 ? found : sqlite3_column_int64(query, 0) + 1;
}

static void read_row(sqlite3_stmt *query, struct arena *arena, struct action_event *row)
{
	*row = (struct action_event){
		.n = sqlite3_column_int64(query, 0),
		.has_n = true,
		.id = query_column(query, 1, arena),
		.session_id = query_column(query, 2, arena),
		.type = query_column(query, 3, arena),
		.data = {.raw = query_column(query, 4, arena)},
		.created_at = query_column(query, 5, arena),
	};
}

/* Rows from `from` up to, but not including, `before`. 0 or -errno. */
static int read_rows(struct store *store, struct call *call, int64_t from, int64_t before,
	struct log_rows *page)
{
	const struct log_query *request = call->message;
	const int64_t limit = request->has_limit ? request->limit : LIMIT_DEFAULT;
	struct action_event *rows =
		arena_array(call->arena, (size_t)limit, sizeof(*rows));
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_ACTIONS_PAGE);
	size_t bytes = 0;
	int found = 0;

	query_text(query, 3,
		request->types.count ? json_text_strings(call->arena, request->types)
				     : (struct str){NULL, 0});
	query_text(query, 4, request->text);
	query_text(query, 5, request->session_id);
	if (query) {
		sqlite3_bind_int64(query, 1, before);
		sqlite3_bind_int64(query, 2, from);
		sqlite3_bind_int64(query, 6, limit);
	}
	page->rows.items = rows;
	while (page->rows.count < (size_t)limit && bytes < PAGE_BYTES &&
		(found = query_step(&store->db, query)) == 1) {
		struct action_event *row = &rows[page->rows.count++];

		read_row(query, call->arena, row);
		bytes += row->data.raw.len;
	}
	if (found < 0)
		return found;
	/* The page is full, or the rows that it looks at have come to their end. */
	page->next = found == 1 ? rows[page->rows.count - 1].n : from;
	page->has_next = page->next > 1;
	return 0;
}

int log_page(struct store *store, struct call *call)
{
	const struct log_query *request = call->message;
	struct log_rows page = {0};
	int64_t before;
	int result = check_types(call, request);

	if (result < 0)
		return result;
	before = end_of_log(store);
	if (before < 0)
		return (int)before;
	if (request->has_before && request->before < before)
		before = request->before;
	result = read_rows(store, call,
		before > ROWS_LOOKED_AT ? before - ROWS_LOOKED_AT : 1, before, &page);
	if (result < 0)
		return result;
	call_answer(call, &page);
	return 0;
}

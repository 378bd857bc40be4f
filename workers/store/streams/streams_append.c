/* streams_append.c - rows for the end of a stream, all or none (streams.h). */
#include "workers/store/service/services.h"
#include "workers/store/streams/streams.h"
#include <errno.h>

static int make_stream(struct store *streams, struct call *call, struct stream_head *head)
{
	const struct stream_append *a = call->message;
	struct str kind = str_of(guard_kind_enumeration()->names[a->kind]);
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_MAKE);
	int result;

	*head = (struct stream_head){0};
	stream_chain_begin(&head->chain, kind, a->id);
	query_text(query, 1, kind);
	query_text(query, 2, a->id);
	sqlite3_bind_blob(query, 3, head->chain.sum, STREAM_CHAIN_BYTES, SQLITE_STATIC);
	sqlite3_bind_int64(query, 4, a->rows.items[0].at);
	result = query_run(&streams->db, query);
	head->number = sqlite3_last_insert_rowid(streams->db.handle);
	return result < 0 ? result : 0;
}

static int add_row(
	struct store *streams, struct stream_head *head, const struct stream_row *row)
{
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_ROW_ADD);

	stream_chain_add(&head->chain, row);
	sqlite3_bind_int64(query, 1, head->number);
	sqlite3_bind_int64(query, 2, row->seq);
	sqlite3_bind_int64(query, 3, row->at);
	query_text(query, 4, row->actor);
	query_text(query, 5, row->type);
	query_text(query, 6, row->payload);
	sqlite3_bind_blob(query, 7, head->chain.sum, STREAM_CHAIN_BYTES, SQLITE_STATIC);
	return query_run(&streams->db, query);
}

static int move_head(
	struct store *streams, const struct call *call, const struct stream_head *head)
{
	const struct stream_append *a = call->message;
	const struct stream_row *last = &a->rows.items[a->rows.count - 1];
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_MOVE);

	sqlite3_bind_int64(query, 1, head->number);
	sqlite3_bind_int64(query, 2, last->seq);
	sqlite3_bind_blob(query, 3, head->chain.sum, STREAM_CHAIN_BYTES, SQLITE_STATIC);
	query_text(query, 4, call->key);
	if (a->has_deadline_ms)
		sqlite3_bind_int64(query, 5, a->deadline_ms);
	sqlite3_bind_int(query, 6, a->asking);
	query_text(query, 7, a->clock.boot_id);
	sqlite3_bind_int64(query, 8, a->clock.offset_ms);
	sqlite3_bind_int64(query, 9, last->at);
	return query_run(&streams->db, query);
}

static int keep_client_event(struct store *streams, const struct stream_append *a,
	const struct stream_head *head)
{
	AUTO_QUERY *query = NULL;

	if (!a->client_event_id.ptr)
		return 0;
	query = query_begin(&streams->db, STREAMS_CLIENT_EVENT_ADD);
	sqlite3_bind_int64(query, 1, head->number);
	query_text(query, 2, a->client_event_id);
	sqlite3_bind_int64(query, 3, a->rows.items[0].seq);
	return query_run(&streams->db, query);
}

static int keep_snapshot(struct store *streams, struct call *call,
	const struct stream_append *a, const struct stream_head *head)
{
	AUTO_QUERY *query = NULL;
	struct str text;
	AUTO_BUF json = {0};

	if (!a->has_snapshot)
		return 0;
	proto_encode(stream_snapshot_type(), &a->snapshot, &json);
	text = arena_str(call->arena, buf_str(&json));
	query = query_begin(&streams->db, STREAMS_SNAPSHOT_SET);
	sqlite3_bind_int64(query, 1, head->number);
	sqlite3_bind_int64(query, 2, a->snapshot.cursor);
	query_text(query, 3, text);
	return query_run(&streams->db, query);
}

/* Everything that an append writes. 0 or -errno. */
static int write_all(struct store *streams, struct call *call, struct stream_head *head)
{
	const struct stream_append *a = call->message;
	int result = 0;

	for (size_t i = 0; i < a->rows.count && result >= 0; i++)
		result = add_row(streams, head, &a->rows.items[i]);
	if (result >= 0)
		result = keep_client_event(streams, a, head);
	if (result >= 0)
		result = keep_snapshot(streams, call, a, head);
	if (result >= 0)
		result = move_head(streams, call, head);
	return result < 0 ? result : 0;
}

/* The first row of an event of a client: 1 with its number, 0 none, or -errno. */
static int find_client_event(struct store *streams, const struct stream_head *head,
	struct str client_event_id, int64_t *first)
{
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_CLIENT_EVENT_GET);
	int found;

	sqlite3_bind_int64(query, 1, head->number);
	query_text(query, 2, client_event_id);
	found = query_step(&streams->db, query);
	if (found == 1)
		*first = sqlite3_column_int64(query, 0);
	return found;
}

static int answer(
	struct call *call, enum stream_outcome outcome, int64_t cursor, int64_t first)
{
	struct stream_appended reply = {
		.outcome = outcome,
		.cursor = cursor,
		.has_first = first > 0,
		.first = first,
	};

	call_answer(call, &reply);
	return 0;
}

static bool is_numbered(const struct stream_append *a)
{
	for (size_t i = 0; i < a->rows.count; i++)
		if (a->rows.items[i].seq != a->after + 1 + (int64_t)i)
			return false;
	return true;
}

/* What a stream that is there says against writing: 1 when that was answered, 0 when
 * nothing does, or -errno. */
static int answer_if_known(
	struct store *streams, struct call *call, const struct stream_head *head)
{
	const struct stream_append *a = call->message;
	int64_t first = 0;
	int found = 0;

	/* Done before, and the answer got lost. */
	if (str_eq(head->last_key, call->key)) {
		answer(call, STREAM_APPENDED, head->cursor, 0);
		return 1;
	}
	if (a->client_event_id.ptr)
		found = find_client_event(streams, head, a->client_event_id, &first);
	if (found == 1)
		answer(call, STREAM_DUPLICATE, head->cursor, first);
	else if (found == 0 && (a->after == 0 || a->after != head->cursor))
		answer(call, STREAM_CONFLICT, head->cursor, 0);
	else
		return found;
	return 1;
}

int stream_append(struct store *streams, struct call *call)
{
	const struct stream_append *a = call->message;
	struct stream_head head;
	int result = streams_get(streams, call, a->kind, a->id, &head);

	if (result < 0)
		return result;
	if (!is_numbered(a))
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"rows: expected numbers from after + 1 on");
	if (result == 1)
		result = answer_if_known(streams, call, &head);
	else if (a->after == 0)
		result = make_stream(streams, call, &head);
	else
		return answer(call, STREAM_CONFLICT, 0, 0);
	if (result != 0)
		return result < 0 ? result : 0;
	result = write_all(streams, call, &head);
	if (result < 0)
		return result;
	return answer(call, STREAM_APPENDED, a->rows.items[a->rows.count - 1].seq, 0);
}

int stream_find(struct store *streams, struct call *call)
{
	const struct stream_find *f = call->message;
	struct stream_found reply = {0};
	struct stream_head head;
	int found = streams_get(streams, call, f->kind, f->id, &head);

	if (found == 0)
		return streams_not_found(call);
	if (found == 1)
		found = find_client_event(
			streams, &head, f->client_event_id, &reply.first);
	if (found < 0)
		return found;
	reply.has_first = found == 1;
	call_answer(call, &reply);
	return 0;
}

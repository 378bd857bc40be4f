/* streams_read.c - streams, their rows and whether they are whole (streams.h). */
#include "workers/store/service/services.h"
#include "workers/store/streams/streams.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- rows ---- */

static void read_row(sqlite3_stmt *query, struct arena *arena, struct stream_row *row)
{
	*row = (struct stream_row){
		.seq = sqlite3_column_int64(query, 0),
		.at = sqlite3_column_int64(query, 1),
		.actor = query_column(query, 2, arena),
		.type = query_column(query, 3, arena),
		.payload = query_column(query, 4, arena),
	};
}

static bool same_chain(sqlite3_stmt *query, int column, const struct stream_chain *chain)
{
	return sqlite3_column_bytes(query, column) == STREAM_CHAIN_BYTES &&
	       memcmp(sqlite3_column_blob(query, column), chain->sum,
		       STREAM_CHAIN_BYTES) == 0;
}

/* The checksum after row `seq`: 1, 0 when there is no such row, or -errno. */
static int chain_after(struct store *streams, int kind, struct str id,
	const struct stream_head *head, int64_t seq, struct stream_chain *chain)
{
	AUTO_QUERY *query = NULL;
	int found;

	if (seq == 0) {
		stream_chain_begin(
			chain, str_of(guard_kind_enumeration()->names[kind]), id);
		return 1;
	}
	query = query_begin(&streams->db, STREAMS_ROW_CHAIN);
	sqlite3_bind_int64(query, 1, head->number);
	sqlite3_bind_int64(query, 2, seq);
	found = query_step(&streams->db, query);
	if (found == 1 && sqlite3_column_bytes(query, 0) == STREAM_CHAIN_BYTES)
		memcpy(chain->sum, sqlite3_column_blob(query, 0), STREAM_CHAIN_BYTES);
	return found;
}

/*
 * Reads rows behind `since` and verifies them, until `most` rows or STREAMS_PAGE_BYTES.
 * `keep` gets them, NULL when they are only to be verified. *next is the number of the
 * next row that is expected; when that is beyond the cursor, all are there and the last
 * one's checksum is that of the stream. Returns the number of rows; -EBADMSG when row
 * *next is not there or not what it was; or -errno.
 */
static int read_rows(struct store *streams, const struct stream_head *head,
	struct stream_chain *chain, int64_t since, size_t most, struct stream_row *keep,
	struct arena *arena, int64_t *next)
{
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_ROWS_SINCE);
	size_t count = 0, bytes = 0;
	int found = 0;

	*next = since + 1;
	sqlite3_bind_int64(query, 1, head->number);
	sqlite3_bind_int64(query, 2, since);
	while (count < most && bytes < STREAMS_PAGE_BYTES &&
		(found = query_step(&streams->db, query)) == 1) {
		struct stream_row row;

		read_row(query, arena, &row);
		stream_chain_add(chain, &row);
		if (row.seq != *next || !same_chain(query, 5, chain))
			return -EBADMSG;
		if (keep)
			keep[count] = row;
		else
			arena_reset(arena);
		count++;
		bytes += row.payload.len;
		(*next)++;
	}
	if (found < 0)
		return found;
	/* The end: no row is missing there, and none is too many. */
	if (found == 0 && count < most && bytes < STREAMS_PAGE_BYTES &&
		(*next != head->cursor + 1 ||
			memcmp(chain->sum, head->chain.sum, STREAM_CHAIN_BYTES) != 0))
		return -EBADMSG;
	return (int)count;
}

static int damaged(struct call *call, int64_t seq)
{
	return call_refuse(call, ERROR_INTERNAL_ERROR,
		"the stream in guard.db is damaged: row %lld is missing or was changed",
		(long long)seq);
}

int stream_rows(struct store *streams, struct call *call)
{
	const struct stream_rows_query *q = call->message;
	struct stream_row *rows =
		arena_array(call->arena, STREAMS_PAGE_ROWS, sizeof(*rows));
	struct stream_head head;
	struct stream_chain chain;
	struct stream_rows reply;
	int64_t next = 0;
	int result = streams_get(streams, call, q->kind, q->id, &head);

	if (result == 0)
		return streams_not_found(call);
	if (result < 0)
		return result;
	reply = (struct stream_rows){.cursor = head.cursor, .rows.items = rows};
	if (q->since < head.cursor) {
		result = chain_after(streams, q->kind, q->id, &head, q->since, &chain);
		if (result == 1)
			result = read_rows(streams, &head, &chain, q->since,
				STREAMS_PAGE_ROWS, rows, call->arena, &next);
		else if (result == 0)
			return damaged(call, q->since);
		if (result == -EBADMSG)
			return damaged(call, next);
		if (result < 0)
			return result;
		reply.rows.count = (size_t)result;
	}
	call_answer(call, &reply);
	return 0;
}

int stream_check(struct store *streams, struct call *call)
{
	const struct stream_ref *ref = call->message;
	struct stream_head head;
	struct stream_chain chain;
	AUTO_ARENA arena = {0};
	struct stream_check reply;
	int64_t next = 1;
	int result = streams_get(streams, call, ref->kind, ref->id, &head);

	if (result == 0)
		return streams_not_found(call);
	if (result < 0)
		return result;
	reply = (struct stream_check){.cursor = head.cursor};
	stream_chain_begin(
		&chain, str_of(guard_kind_enumeration()->names[ref->kind]), ref->id);
	do
		result = read_rows(streams, &head, &chain, next - 1, STREAMS_PAGE_ROWS,
			NULL, &arena, &next);
	while (result > 0 && next <= head.cursor);
	if (result < 0 && result != -EBADMSG)
		return result;
	if (result == -EBADMSG)
		reply.problem = arena_printf(call->arena,
			"row %lld is missing or was changed: its checksum does not "
			"follow from the rows before",
			(long long)next);
	call_answer(call, &reply);
	return 0;
}

/* ---- where a stream can be taken up ---- */

static int read_first(struct store *streams, const struct stream_head *head,
	struct call *call, struct stream_loaded *reply)
{
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_ROWS_SINCE);
	int found;

	sqlite3_bind_int64(query, 1, head->number);
	sqlite3_bind_int64(query, 2, 0);
	found = query_step(&streams->db, query);
	if (found == 1)
		read_row(query, call->arena, &reply->created);
	return found;
}

/* A snapshot is only for speed: one that cannot be read is left out. */
static int read_snapshot(struct store *streams, const struct stream_head *head,
	struct call *call, struct stream_loaded *reply, yyjson_doc **doc)
{
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_SNAPSHOT_GET);
	struct proto_error error;
	int found;

	sqlite3_bind_int64(query, 1, head->number);
	found = query_step(&streams->db, query);
	if (found != 1)
		return found;
	*doc = proto_parse(query_column(query, 1, call->arena), &error);
	reply->has_snapshot =
		*doc &&
		proto_decode(stream_snapshot_type(), yyjson_doc_get_root(*doc),
			"snapshot", DECODE_STRICT, call->arena, &reply->snapshot,
			&error) == 0 &&
		reply->snapshot.cursor <= head->cursor;
	return 1;
}

int stream_load(struct store *streams, struct call *call)
{
	const struct stream_ref *ref = call->message;
	struct stream_head head;
	struct stream_loaded reply;
	AUTO_DOC *doc = NULL;
	int result = streams_get(streams, call, ref->kind, ref->id, &head);

	if (result == 0)
		return streams_not_found(call);
	if (result < 0)
		return result;
	reply = (struct stream_loaded){
		.cursor = head.cursor, .has_clock = true, .clock = head.clock};
	result = read_first(streams, &head, call, &reply);
	if (result == 0)
		return damaged(call, 1);
	if (result > 0)
		result = read_snapshot(streams, &head, call, &reply, &doc);
	if (result >= 0)
		call_answer(call, &reply);
	return result < 0 ? result : 0;
}

/* ---- lists ---- */

static bool read_info(sqlite3_stmt *query, struct arena *arena, struct stream_info *info)
{
	struct str kind = query_column(query, 1, arena);
	int index = enumeration_index(guard_kind_enumeration(), kind);

	if (index < 0)
		return false;
	*info = (struct stream_info){
		.kind = index,
		.id = query_column(query, 2, arena),
		.cursor = sqlite3_column_int64(query, 3),
		.created_ms = sqlite3_column_int64(query, 4),
		.changed_ms = sqlite3_column_int64(query, 5),
		.has_deadline_ms = sqlite3_column_type(query, 6) != SQLITE_NULL,
		.deadline_ms = sqlite3_column_int64(query, 6),
		.asking = sqlite3_column_int(query, 7) != 0,
		.has_clock = true,
		.clock = {.boot_id = query_column(query, 8, arena),
			.offset_ms = sqlite3_column_int64(query, 9)},
	};
	return true;
}

int stream_list(struct store *streams, struct call *call)
{
	const struct stream_page *page = call->message;
	AUTO_QUERY *query = query_begin(
		&streams->db, page->waiting ? STREAMS_LIST_WAITING : STREAMS_LIST);
	struct stream_list reply = {
		.streams.items = arena_array(
			call->arena, STREAMS_PAGE_STREAMS, sizeof(*reply.streams.items))};
	int64_t last = 0;
	int found = 0, seen = 0;

	sqlite3_bind_int64(query, 1, page->after);
	if (page->has_kind)
		query_text(query, 2, str_of(guard_kind_enumeration()->names[page->kind]));
	sqlite3_bind_int(query, 3, STREAMS_PAGE_STREAMS);
	while ((found = query_step(&streams->db, query)) == 1) {
		last = sqlite3_column_int64(query, 0);
		seen++;
		if (read_info(query, call->arena,
			    &reply.streams.items[reply.streams.count]))
			reply.streams.count++;
	}
	if (found < 0)
		return found;
	reply.has_next = seen == STREAMS_PAGE_STREAMS;
	reply.next = last;
	call_answer(call, &reply);
	return 0;
}

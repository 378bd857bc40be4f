/* streams.c - guard.db: is it there, can it be used (streams.h). */
#include "workers/store/streams/streams.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "workers/store/service/serve.h"
#include "workers/store/service/upkeep.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct store *streams_new(struct store *main)
{
	struct store *streams = xcalloc(1, sizeof(*streams));

	*streams = (struct store){
		.worker = main->worker,
		.bus = main->bus,
		.beside = main,
		.keys = keys_new(),
	};
	return streams;
}

/* It will not get better by itself. */
static bool is_final(int error)
{
	return error == -EUCLEAN || error == -ENAMETOOLONG;
}

static void try_to_open(struct store *streams)
{
	struct error_text problem;
	int result =
		database_open(&streams->db, streams->path, &streams_schema, &problem);

	if (result < 0) {
		streams->health.problem = problem;
		streams->health.failing = true;
		streams->health.damaged = is_final(result);
		streams->reopen_after = mono_add_ms(clock_mono(), STREAMS_REOPEN_MS);
		upkeep_tell(streams);
		return;
	}
	streams->health.failing = false;
	if (streams->worker)
		upkeep_start(streams);
}

void streams_open(struct store *streams, const char *data_dir)
{
	streams->path = xasprintf("%s/guard.db", data_dir);
	try_to_open(streams);
}

bool streams_ready(struct store *streams)
{
	if (!streams->db.handle && !streams->health.damaged && streams->path &&
		clock_mono().us >= streams->reopen_after.us)
		try_to_open(streams);
	return streams->db.handle != NULL;
}

void streams_close(struct store *streams)
{
	if (streams->db.handle) {
		upkeep_stop(streams);
		database_close(&streams->db);
	}
	keys_free(streams->keys);
	free(streams->path);
	free(streams);
}

/* ---- for the services ---- */

int streams_not_found(struct call *call)
{
	return call_refuse(call, ERROR_NOT_FOUND, "There is no such guard machine");
}

static void read_chain(sqlite3_stmt *query, int column, struct stream_chain *chain)
{
	if (sqlite3_column_bytes(query, column) == STREAM_CHAIN_BYTES)
		memcpy(chain->sum, sqlite3_column_blob(query, column),
			STREAM_CHAIN_BYTES);
	else
		*chain = (struct stream_chain){{0}};
}

int streams_get(struct store *streams, struct call *call, int kind, struct str id,
	struct stream_head *head)
{
	AUTO_QUERY *query = query_begin(&streams->db, STREAMS_GET);
	int found;

	query_text(query, 1, str_of(guard_kind_enumeration()->names[kind]));
	query_text(query, 2, id);
	found = query_step(&streams->db, query);
	if (found != 1)
		return found;
	*head = (struct stream_head){
		.number = sqlite3_column_int64(query, 0),
		.cursor = sqlite3_column_int64(query, 1),
		.last_key = query_column(query, 3, call->arena),
		.clock = {.boot_id = query_column(query, 4, call->arena),
			.offset_ms = sqlite3_column_int64(query, 5)},
	};
	read_chain(query, 2, &head->chain);
	return 1;
}

/* memory.c - memory.db: is it there, can it be used (memory.h). */
#include "workers/store/memory/memory.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "workers/store/service/store.h"
#include "workers/store/service/upkeep.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void tell(struct store *store, const struct error_text *problem)
{
	store->health.memory_away = problem != NULL;
	store->health.memory = problem ? *problem : (struct error_text){0};
	upkeep_tell(store);
}

/* It will not get better by itself. */
static bool is_final(int error)
{
	return error == -EUCLEAN || error == -ENAMETOOLONG;
}

static void on_log_change(void *arg)
{
	struct store *store = arg;

	store->health.memory_pinned = store->memory->wal_timer.pinned;
	store->health.memory_pin = store->memory->wal_timer.pin;
	upkeep_tell(store);
}

static void try_to_open(struct store *store)
{
	struct memory *m = store->memory;
	struct error_text problem;
	int result = database_open(&m->db, m->path, &memory_schema, &problem);

	m->open = result == 0;
	if (result < 0) {
		m->given_up = is_final(result);
		m->open_after = mono_add_ms(clock_mono(), MEMORY_REOPEN_MS);
		tell(store, &problem);
		return;
	}
	if (store->worker)
		wal_timer_start(
			&m->wal_timer, store->worker->base, &m->db, on_log_change, store);
	tell(store, NULL);
}

void memory_open(struct store *store, const char *data_dir)
{
	store->memory->path = xasprintf("%s/memory.db", data_dir);
	try_to_open(store);
}

void memory_close(struct store *store)
{
	struct memory *m = store->memory;

	if (m->open) {
		if (!wal_timer_stop(&m->wal_timer, !m->given_up))
			log_warn("the log was not cut at the end", "path", "%s", m->path,
				NULL);
		database_close(&m->db);
	}
	if (m->turn)
		event_free(m->turn);
	free(m->path);
	*m = (struct memory){0};
}

static void give_up(struct store *store, const struct error_text *problem)
{
	/* A search may have a statement open: the file is closed at the end only. */
	store->memory->given_up = true;
	tell(store, problem);
}

bool memory_ready(struct store *store)
{
	struct memory *m = store->memory;
	struct error_text problem;

	if (m->given_up)
		return false;
	if (!m->open && clock_mono().us >= m->open_after.us)
		try_to_open(store);
	if (m->open && !database_in_place(&m->db)) {
		error_text_set(&problem,
			"%s or its log was moved or removed while in use. Put it back "
			"and restart "
			"the daemon.",
			m->path);
		give_up(store, &problem);
		return false;
	}
	return m->open;
}

int memory_failed(struct store *store, struct call *call, int error)
{
	struct memory *m = store->memory;
	struct error_text problem;

	database_error_text(&m->db, &problem);
	if (!sqlite3_get_autocommit(m->db.handle) &&
		database_execute(&m->db, STATEMENT_ROLLBACK) < 0)
		log_error("a transaction could not be rolled back", "path", "%s", m->path,
			NULL);
	if (is_final(error))
		give_up(store, &problem);
	return error == -EBUSY
		       ? error
		       : call_refuse(call, ERROR_STORAGE_FAILED, "%s", problem.text);
}

void memory_committed(struct store *store)
{
	if (store->memory->wal_timer.db)
		wal_timer_after_commit(&store->memory->wal_timer);
}

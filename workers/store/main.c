/*
 * main.c - paige-store, the worker that owns the databases: its methods, its start and
 * its end.
 */
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/worker.h"
#include "workers/store/backup_service.h"
#include "workers/store/memory/memory.h"
#include "workers/store/mirror/consent.h"
#include "workers/store/service/serve.h"
#include "workers/store/service/store.h"
#include "workers/store/service/upkeep.h"
#include "workers/store/streams/streams.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Between attempts to open a database that another process has locked. */
#define OPEN_RETRY_MS 50
/* Calls that wait get so long to be done when the store is told to stop. */
#define STOP_PATIENCE_MS 3000
#define STOP_LOOK_MS 10

static struct store store;
static struct memory memory;
static struct consent consent;
static char path[PATH_MAX];
static struct event *open_timer;
static struct event *stop_timer;
static struct mono stop_deadline;

static const struct serve_beside beside = {
	.streams_ready = streams_ready,
	.memory_take = memory_take,
	.memory_waiting = memory_waiting,
};

/* ---- start ---- */

static int exit_code_of(int error)
{
	switch (error) {
	case -ENOSPC:
	case -EIO:
	case -ENOMEM:
		return WORKER_EXIT_DEPENDENCY;
	default:
		return WORKER_EXIT_CONFIG;
	}
}

/* 0, -EBUSY while the database is locked, or another -errno having logged why. */
static int open_store(void)
{
	struct error_text problem;
	struct mono start = clock_mono();
	int result = database_open(&store.db, path, &paige_schema, &problem);

	if (result == 0) {
		result = sessions_load(&store, clock_wall());
		if (result < 0) {
			database_error_text(&store.db, &problem);
			database_close(&store.db);
		}
	}
	if (result == -EBUSY)
		return result;
	if (result < 0) {
		log_error("the database cannot be used", "problem", "%s", problem.text,
			NULL);
		return result;
	}
	memory_open(&store, store.worker->settings->data_dir);
	streams_open(store.streams, store.worker->settings->data_dir);
	backup_service_open(&store, store.worker->settings->data_dir);
	upkeep_start(&store);
	log_info("database opened", "path", "%s", path, "ms", "%lld",
		(long long)mono_diff_ms(clock_mono(), start), "session", "%s",
		store.sessions.active.id[0] ? store.sessions.active.id : "none", NULL);
	worker_ready(store.worker);
	return 0;
}

static void open_later(void)
{
	event_add_ms(open_timer, OPEN_RETRY_MS);
}

static void on_open_timer(EVENT_UNUSED, void *arg)
{
	int result = open_store();

	(void)arg;
	if (result == -EBUSY)
		open_later();
	else if (result < 0)
		worker_die(store.worker, (enum worker_exit)exit_code_of(result));
}

static int init(struct worker *w)
{
	char seed;
	int result;

	if (snprintf(path, sizeof(path), "%s/paige.db", w->settings->data_dir) >=
		(int)sizeof(path)) {
		log_error("the path of the database is too long", "DATA_DIR", "%s",
			w->settings->data_dir, NULL);
		return WORKER_EXIT_CONFIG;
	}
	store = (struct store){
		.worker = w,
		.bus = w->bus,
		.project_dir = w->settings->project_dir,
		.keys = keys_new(),
		.memory = &memory,
		.consent = &consent,
		.started = clock_wall(),
	};
	/* Nobody reads these figures, and they take a lock per allocation. Before SQLite
	 * is used; fails only after that. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	store.streams = streams_new(&store);
	open_timer = evtimer_new(w->base, on_open_timer, NULL);
	if (!open_timer)
		return WORKER_EXIT_INTERNAL;
	result = open_calls_load(&store.open_calls, w->settings->data_dir);
	if (result < 0)
		log_warn("the list of unfinished calls to Claude cannot be read", "error",
			"%s", file_error_text(result), NULL);
	result = paid_works_load(&store.paid_works, w->settings->data_dir);
	if (result < 0)
		log_warn("Claude's answers to flows that were cut off cannot be "
			 "read",
			"error", "%s", file_error_text(result), NULL);
	result = consent_load(&consent, w->settings->data_dir);
	if (result < 0)
		log_warn("what the learner decided about the mirror cannot be read, so "
			 "nothing is carried",
			"path", "%s", consent.path, "error", "%s",
			file_error_text(result), NULL);
	/* SQLite opens /dev/urandom once, which it may not do any more when confined. */
	sqlite3_randomness(sizeof(seed), &seed);
	serve_open(&store, &beside);
	result = open_store();
	if (result == -EBUSY) {
		log_warn("the database is locked by another process; waiting", "path",
			"%s", path, NULL);
		open_later();
		return 0;
	}
	return result < 0 ? exit_code_of(result) : 0;
}

static void confine(struct worker *w, struct confinement *c)
{
	c->read_write[0] = w->settings->data_dir;
}

/* ---- end ---- */

static void on_stop_timer(EVENT_UNUSED, void *arg)
{
	size_t waiting = store.group.waiting + memory_waiting(&store) +
			 store.streams->group.waiting;

	(void)arg;
	if (waiting > 0 && clock_mono().us < stop_deadline.us) {
		event_add_ms(stop_timer, STOP_LOOK_MS);
		return;
	}
	if (waiting > 0)
		log_warn("calls are left undone", "waiting", "%zu", waiting, NULL);
	serve_close(&store);
	serve_close(store.streams);
	streams_close(store.streams);
	if (store.db.handle) {
		backup_service_close(&store);
		memory_close(&store);
		upkeep_stop(&store);
		database_close(&store.db);
	}
	worker_stopped(store.worker);
}

static void stop(struct worker *w)
{
	event_del(open_timer);
	stop_deadline = mono_add_ms(clock_mono(), STOP_PATIENCE_MS);
	stop_timer = evtimer_new(w->base, on_stop_timer, NULL);
	if (stop_timer)
		event_add_ms(stop_timer, 0);
	else
		worker_stopped(w);
}

static const struct worker_spec spec = {
	.id = WORKER_STORE,
	.init = init,
	.confine = confine,
	.stop = stop,
	.ready_later = true,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}

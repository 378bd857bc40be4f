/* upkeep.c - what the store does beside calls (upkeep.h). */
#include "workers/store/service/upkeep.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/worker.h"
#include "workers/store/db/inspect.h"
#include "workers/store/db/wal_timer.h"
#include "workers/store/service/serve.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

struct upkeep {
	struct wal_timer wal_timer;
	struct event *check_timer;
	struct event *probe_timer;
	struct mono warn_after; /* not before */
	struct timespec file_changed;
	enum worker_condition condition; /* as told to the supervisor */
	struct error_text reason;
	char session[UUID_SIZE];
	bool session_told;
};

static struct upkeep *upkeep_of(struct store *store)
{
	return store->upkeep;
}

/* ---- health and status ---- */

/* What ails a store beside this one does not stop this one. */
static void tell_beside(struct store *streams)
{
	struct store *main = streams->beside;
	const char *reason;

	main->health.streams_away =
		health_condition(&streams->health, &reason) != WORKER_FINE;
	error_text_set(&main->health.streams, "%s", reason ? reason : "");
	upkeep_tell(main);
}

void upkeep_tell(struct store *store)
{
	struct upkeep *u = upkeep_of(store);
	const char *reason;
	enum worker_condition condition;

	if (store->beside) {
		tell_beside(store);
		return;
	}
	if (!u)
		return;
	condition = health_condition(&store->health, &reason);

	if (condition != u->condition ||
		strcmp(reason ? reason : "", u->reason.text) != 0) {
		if (condition == WORKER_FINE)
			log_info("the database is fine again", "path", "%s",
				store->db.path, NULL);
		else
			log_line(condition == WORKER_FAILING ? LOG_LEVEL_ERROR
							     : LOG_LEVEL_WARN,
				condition == WORKER_FAILING ? "the store cannot write"
							    : "the store is degraded",
				"problem", "%s", reason, NULL);
		u->condition = condition;
		error_text_set(&u->reason, "%s", reason ? reason : "");
		worker_set_condition(store->worker, condition, reason);
	}
	if (!u->session_told || strcmp(u->session, store->sessions.active.id) != 0) {
		const char *id = store->sessions.active.id;
		char detail[64];

		u->session_told = true;
		memcpy(u->session, id, sizeof(u->session));
		snprintf(detail, sizeof(detail), "{\"session\":%s%s%s}",
			id[0] ? "\"" : "", id[0] ? id : "null", id[0] ? "\"" : "");
		worker_set_detail(store->worker, str_of(detail));
	}
}

static void warn_of_dropped(struct store *store)
{
	struct upkeep *u = upkeep_of(store);
	struct mono now = clock_mono();

	if (store->dropped == 0 || now.us < u->warn_after.us)
		return;
	log_warn("actions dropped: they came without an active session", "count", "%lu",
		store->dropped, NULL);
	store->dropped = 0;
	u->warn_after = mono_add_ms(now, UPKEEP_DROPPED_MS);
}

/* ---- the log ---- */

static void on_log_change(void *arg)
{
	struct store *store = arg;
	struct upkeep *u = upkeep_of(store);

	store->health.pinned = u->wal_timer.pinned;
	store->health.pin = u->wal_timer.pin;
	upkeep_tell(store);
}

/* ---- writing that fails ---- */

static void on_probe_timer(EVENT_UNUSED, void *arg)
{
	struct store *store = arg;

	if (store->health.failing && health_may_write(&store->health) &&
		database_probe(&store->db) == 0)
		store->health.failing = false;
	if (store->health.failing)
		event_add_ms(upkeep_of(store)->probe_timer, UPKEEP_PROBE_MS);
	else
		serve_wake(store);
	upkeep_tell(store);
}

void upkeep_after_group(struct store *store, int result)
{
	struct upkeep *u = upkeep_of(store);

	if (result == -EUCLEAN) {
		store->health.damaged = true;
	} else if (result < 0) {
		store->health.failing = true;
		event_add_ms(u->probe_timer, UPKEEP_PROBE_MS);
	}
	if (result < 0)
		store->health.problem = store->group.problem;
	if (wal_timer_after_commit(&u->wal_timer))
		store->health.failing = false;
	warn_of_dropped(store);
	on_log_change(store);
}

/* ---- the file ---- */

/* Time of the last change, by whomever; zero when it cannot be told. */
static struct timespec changed_at(const struct store *store)
{
	struct stat st;

	if (stat(store->db.path, &st) < 0)
		return (struct timespec){0};
	return st.st_mtim;
}

static void look_at_file(struct store *store)
{
	struct upkeep *u = upkeep_of(store);
	struct timespec changed = changed_at(store);
	struct inspection seen;
	struct health *h = &store->health;

	if (!health_may_write(h))
		return;
	if (!database_in_place(&store->db)) {
		h->misplaced = true;
		error_text_set(&h->problem,
			"%s or its log was moved or removed while in use: what is "
			"written now would be "
			"lost. Put it back and restart the daemon.",
			store->db.path);
		return;
	}
	/* Checkpoints change it too, and they are worth a look for the same price. */
	if (changed.tv_sec == u->file_changed.tv_sec &&
		changed.tv_nsec == u->file_changed.tv_nsec)
		return;
	u->file_changed = changed;
	if (inspect_running(store->db.path, INSPECT_RUNNING_MS, &seen) == -EUCLEAN) {
		h->damaged = true;
		h->problem = seen.problem;
	}
}

static void on_check_timer(EVENT_UNUSED, void *arg)
{
	struct store *store = arg;

	event_add_in_step_ms(upkeep_of(store)->check_timer, UPKEEP_CHECK_MS);
	look_at_file(store);
	warn_of_dropped(store);
	upkeep_tell(store);
}

/* ---- life ---- */

void upkeep_start(struct store *store)
{
	struct event_base *base = store->worker->base;
	struct upkeep *u = xcalloc(1, sizeof(*u));

	store->upkeep = u;
	u->probe_timer = alloc_checked(evtimer_new(base, on_probe_timer, store));
	u->check_timer = alloc_checked(evtimer_new(base, on_check_timer, store));
	event_add_in_step_ms(u->check_timer, UPKEEP_CHECK_MS);
	u->file_changed = changed_at(store);
	wal_timer_start(&u->wal_timer, base, &store->db, on_log_change, store);
	upkeep_tell(store);
}

void upkeep_stop(struct store *store)
{
	struct upkeep *u = upkeep_of(store);

	if (!u)
		return;
	event_free(u->probe_timer);
	event_free(u->check_timer);
	if (!wal_timer_stop(&u->wal_timer, health_may_write(&store->health)))
		log_warn("the log was not cut at the end", "path", "%s", store->db.path,
			NULL);
	free(u);
	store->upkeep = NULL;
}

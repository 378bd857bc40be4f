/* load.c - instances from the store (engine.h). */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/guard-engine/engine/folds.h"
#include <stdio.h>
#include <stdlib.h>

static const char *kind_name(const struct instance *i)
{
	return guard_kind_enumeration()->names[i->kind];
}

/* ---- whose turn it is ---- */

static void begin(struct instance *i);

/* One was read: the next one's turn. */
static void next_turn(struct engine *e)
{
	e->loading--;
	while (e->to_load_count && e->loading < ENGINE_MAX_LOADING)
		begin(e->to_load[--e->to_load_count]);
}

void load_start(struct instance *i)
{
	struct engine *e = i->engine;

	i->phase = INSTANCE_LOADING;
	if (e->loading < ENGINE_MAX_LOADING) {
		begin(i);
		return;
	}
	if (e->to_load_count == e->to_load_room) {
		e->to_load_room = e->to_load_room ? 2 * e->to_load_room : 256;
		e->to_load =
			xrealloc(e->to_load, e->to_load_room * sizeof(struct instance *));
	}
	e->to_load[e->to_load_count++] = i;
}

void load_again(struct instance *i)
{
	instances_unload(i);
	i->wanted = true;
	load_start(i);
}

/* ---- how it ends ---- */

static void on_retry(EVENT_UNUSED, void *arg)
{
	struct instance *i = arg;

	if (i->phase == INSTANCE_LOADING)
		load_start(i);
}

/* Timers and models try again; for anybody else it need not stay in memory. */
static void postpone(struct instance *i, const char *problem)
{
	int pause_ms =
		engine_pause_ms(ENGINE_RETRY_MS, ENGINE_RETRY_MAX_MS, ++i->failures);

	if (pause_ms < ENGINE_RETRY_MAX_MS)
		log_warn("a guard could not be read or written", "kind", "%s",
			kind_name(i), "id", "%s", i->id, "problem", "%s", problem, NULL);
	ops_fail_clients(
		i, "UNAVAILABLE", "The store does not answer; try again in a moment");
	if (!i->wanted && TAILQ_EMPTY(&i->ops) && !i->alarm.place && i->asked_count == 0)
		instances_drop(i);
	else
		event_once_ms(i->engine->worker->base, on_retry, i, pause_ms);
}

void load_later(struct instance *i, const char *problem)
{
	instances_unload(i);
	i->phase = INSTANCE_LOADING;
	i->wanted = true;
	postpone(i, problem);
}

static void not_found(struct instance *i)
{
	ops_fail_all(i, "NOT_FOUND", "There is no such guard machine");
	instances_drop(i);
}

void load_break_off(struct instance *i, const char *problem)
{
	char *kept = xstrdup(problem); /* which may be the one that is unloaded */

	log_error("a guard cannot continue", "kind", "%s", kind_name(i), "id", "%s",
		i->id, "problem", "%s", kept, NULL);
	instances_unload(i);
	i->phase = INSTANCE_BROKEN;
	i->problem = kept;
	i->wanted = false;
	ops_fail_all(i, "INTERNAL_ERROR", kept);
	instances_touch(i);
}

static void on_folded(struct fold *f)
{
	struct instance *i = f->arg;
	struct engine *e = i->engine;
	const struct machine_base *base = f->stream.state;
	struct moment now;

	if (f->code && strcmp(f->code, "INTERNAL_ERROR") == 0) {
		load_break_off(i, f->message);
	} else if (f->code && strcmp(f->code, "NOT_FOUND") == 0) {
		not_found(i);
	} else if (f->code) {
		postpone(i, f->message);
	} else {
		now = clocks_now(&e->clocks, f->stream.machine->clock);
		i->timeline = timeline_resume(str_of(i->timeline.boot_id),
			i->timeline.offset_ms, base->at_ms, &now);
		i->stream = f->stream;
		f->stream.state = NULL;
		i->phase = INSTANCE_READY;
		i->wanted = false;
		instances_touch(i);
		requests_sync(i);
		apply_go_on(i);
	}
	next_turn(e);
}

/* Takes the snapshot if it can be read; else the fold begins with the first row. */
static void take_snapshot(
	struct instance *i, struct fold *f, const struct stream_loaded *loaded)
{
	AUTO_ARENA arena = {0};
	struct proto_error error;

	i->snapshot_cursor = 0;
	if (!loaded->has_snapshot)
		return;
	if (stream_load(&f->stream, &loaded->created, loaded->snapshot.state.val,
		    loaded->snapshot.cursor, &arena, &error) == 0) {
		i->snapshot_cursor = loaded->snapshot.cursor;
	} else {
		log_warn("a snapshot of a guard cannot be read; its stream is read from "
			 "the beginning",
			"kind", "%s", kind_name(i), "id", "%s", i->id, "problem", "%s",
			error.text, NULL);
		f->stream.cursor = 0;
	}
}

static void on_loaded(void *arg, const struct bus_reply *reply)
{
	struct instance *i = arg;
	struct engine *e = i->engine;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_loaded loaded;
	struct fold *f;

	if (reply->status != BUS_OK && str_is(reply->code, "NOT_FOUND")) {
		not_found(i);
		next_turn(e);
	} else if (reply->status != BUS_OK || bus_reply_decode(METHOD_STREAM_LOAD, reply,
						      &arena, &loaded, &error) < 0) {
		char *message = arena_cstr(&arena, reply->message);

		if (reply->status == BUS_OK)
			load_break_off(i, error.text);
		else if (folds_is_final(reply))
			load_break_off(i, message);
		else
			postpone(i, message);
		next_turn(e);
	} else {
		waiting_store_answers(e);
		f = fold_new(e, i->kind, str_of(i->id), on_folded);
		f->arg = i;
		snprintf(i->timeline.boot_id, sizeof(i->timeline.boot_id), "%.*s",
			STR_ARG(loaded.clock.boot_id));
		i->timeline.offset_ms = loaded.clock.offset_ms;
		take_snapshot(i, f, &loaded);
		if (f->stream.cursor == loaded.cursor) {
			/* The snapshot is of the last row. */
			fold_end(f);
		} else {
			fold_run(f);
		}
	}
}

static void begin(struct instance *i)
{
	struct stream_ref ref = {.kind = i->kind, .id = str_of(i->id)};

	i->engine->loading++;
	bus_call_message(i->engine->bus, METHOD_STREAM_LOAD, (struct str){0}, &ref, 0,
		on_loaded, i);
}

/* idle_driver.c - see idle_driver.h. */
#include "workers/agent/idle_driver.h"
#include <errno.h>
#include <stdio.h>

/* Between two events a countdown can end at most twice: in a grace and in a kill. */
#define CHECKS_MAX 64

int idle_driver_init(struct idle_driver *t, const struct machine_defaults *limits)
{
	AUTO_DOC *config = yyjson_read("{}", 2, 0);
	AUTO_ARENA arena = {0};
	struct proto_error error;
	int r = -ENOMEM;

	if (config)
		r = idle_machine.create(
			yyjson_doc_get_root(config), limits, &arena, &t->idle, &error);
	return r;
}

static void read_outcome(
	const struct machine_out *out, struct idle_driver_outcome *outcome)
{
	for (int i = 0; i < out->count; i++) {
		const void *payload = out->items[i].payload;

		if (out->items[i].type == IDLE_KILL) {
			const struct idle_kill *kill = payload;

			outcome->verdict = IDLE_DRIVER_KILL;
			snprintf(outcome->reason, sizeof(outcome->reason), "%.*s",
				STR_ARG(kill->reason));
		} else if (out->items[i].type == IDLE_RECHECK) {
			const struct idle_recheck *recheck = payload;

			outcome->verdict = IDLE_DRIVER_RECHECK;
			outcome->guard_deferred = recheck->guard_deferred;
			outcome->delay_ms = recheck->delay_ms;
			snprintf(outcome->reason, sizeof(outcome->reason), "%.*s",
				STR_ARG(recheck->reason));
		}
	}
}

static void apply(struct idle_driver *t, int type, int64_t now_ms,
	struct idle_driver_outcome *outcome)
{
	static struct machine_out out; /* large, and of no meaning between calls */
	struct idle_output output = {.json = true, .has_json = true};
	struct machine_event event = {.type = type,
		.at_ms = now_ms,
		.fields = type == IDLE_OUTPUT ? &output : NULL};

	if (machine_step(&idle_machine, &t->idle, &event, &out) == 0)
		read_outcome(&out, outcome);
}

struct idle_driver_outcome idle_driver_tick(struct idle_driver *t, int64_t now_ms)
{
	struct idle_driver_outcome outcome = {.verdict = IDLE_DRIVER_NOTHING};

	for (int i = 0; i < CHECKS_MAX && idle_driver_deadline(t) <= now_ms; i++)
		apply(t, ITEM_TICK, now_ms, &outcome);
	return outcome;
}

struct idle_driver_outcome idle_driver_event(
	struct idle_driver *t, int event, int64_t now_ms)
{
	struct idle_driver_outcome outcome = idle_driver_tick(t, now_ms);

	apply(t, event, now_ms, &outcome);
	return outcome;
}

int64_t idle_driver_deadline(const struct idle_driver *t)
{
	return idle_machine.deadline(&t->idle);
}

struct idle_driver_outcome idle_driver_foresee(const struct idle_driver *t)
{
	const int64_t deadline = idle_driver_deadline(t);
	struct idle_driver_outcome outcome = {.verdict = IDLE_DRIVER_NOTHING};
	struct idle_driver then = *t;

	if (deadline != MACHINE_NEVER)
		apply(&then, ITEM_TICK, deadline, &outcome);
	return outcome;
}

int64_t idle_driver_latest(const struct idle_driver *t)
{
	const struct idle *s = &t->idle;

	/* The cap is exceeded, not reached (idle_next_check). */
	return s->counting ? s->idle_start_ms + s->limits.max_idle_ms + 1 : MACHINE_NEVER;
}

bool idle_driver_in_progress(const struct idle_driver *t)
{
	return t->idle.turns > 0;
}

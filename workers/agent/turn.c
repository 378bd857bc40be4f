/* turn.c - see turn.h. */
#include "workers/agent/turn.h"
#include <errno.h>
#include <stdio.h>

/* Between two events a countdown can end at most twice: in a grace and in a kill. */
#define CHECKS_MAX 64

int turn_init(struct turn *t, const struct machine_defaults *limits)
{
	yyjson_doc *config = yyjson_read("{}", 2, 0);
	struct arena arena = {0};
	struct proto_error error;
	int r = -ENOMEM;

	if (config)
		r = idle_machine.create(
			yyjson_doc_get_root(config), limits, &arena, &t->idle, &error);
	yyjson_doc_free(config);
	arena_free(&arena);
	return r;
}

static void read_outcome(const struct machine_out *out, struct turn_outcome *outcome)
{
	for (int i = 0; i < out->count; i++) {
		const void *payload = out->items[i].payload;

		if (out->items[i].type == IDLE_KILL) {
			const struct idle_kill *kill = payload;

			outcome->verdict = TURN_KILL;
			snprintf(outcome->reason, sizeof(outcome->reason), "%.*s",
				STR_ARG(kill->reason));
		} else if (out->items[i].type == IDLE_RECHECK) {
			const struct idle_recheck *recheck = payload;

			outcome->verdict = TURN_RECHECK;
			outcome->guard_deferred = recheck->guard_deferred;
			outcome->delay_ms = recheck->delay_ms;
			snprintf(outcome->reason, sizeof(outcome->reason), "%.*s",
				STR_ARG(recheck->reason));
		}
	}
}

static void apply(struct turn *t, int type, int64_t now_ms, struct turn_outcome *outcome)
{
	static struct machine_out out; /* large, and of no meaning between calls */
	struct idle_output output = {.json = true, .has_json = true};
	struct machine_event event = {.type = type,
		.at_ms = now_ms,
		.fields = type == IDLE_OUTPUT ? &output : NULL};

	if (machine_step(&idle_machine, &t->idle, &event, &out) == 0)
		read_outcome(&out, outcome);
}

struct turn_outcome turn_tick(struct turn *t, int64_t now_ms)
{
	struct turn_outcome outcome = {.verdict = TURN_NOTHING};

	for (int i = 0; i < CHECKS_MAX && turn_deadline(t) <= now_ms; i++)
		apply(t, ITEM_TICK, now_ms, &outcome);
	return outcome;
}

struct turn_outcome turn_event(struct turn *t, int event, int64_t now_ms)
{
	struct turn_outcome outcome = turn_tick(t, now_ms);

	apply(t, event, now_ms, &outcome);
	return outcome;
}

int64_t turn_deadline(const struct turn *t)
{
	return idle_machine.deadline(&t->idle);
}

bool turn_in_progress(const struct turn *t)
{
	return t->idle.turns > 0;
}

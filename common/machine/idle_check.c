/* idle_check.c - see idle_check.h. Clients compare the reasons word for word. */
#include "common/machine/idle_check.h"
#include <stdio.h>

static struct idle_opinion active_turn(
	const struct idle_session *s, const struct idle_limits *limits, int64_t now_ms)
{
	if (!s->turn_in_progress)
		return (struct idle_opinion){.keep = false};
	if (s->has_output && now_ms - s->last_output_ms > limits->stale_output_ms)
		return (struct idle_opinion){
			.keep = false, .reason = "mid-turn but stale — likely stuck"};
	return (struct idle_opinion){.keep = true, .reason = "CC is mid-turn"};
}

const struct idle_guard idle_active_turn = {.name = "active-turn", .look = active_turn};

const struct idle_guard *const idle_guards[] = {&idle_active_turn};
const int idle_guard_count = sizeof(idle_guards) / sizeof(idle_guards[0]);

static void end(struct idle_action *out, const char *reason)
{
	*out = (struct idle_action){.kill = true};
	snprintf(out->reason, sizeof(out->reason), "%s", reason);
}

void idle_check(const struct idle_session *s, const struct idle_limits *limits,
	const struct idle_guard *const *guards, int count, int64_t now_ms,
	struct idle_action *out)
{
	if (now_ms - s->idle_start_ms > limits->max_idle_ms) {
		end(out, "safety cap exceeded");
		out->cap = true;
		return;
	}
	for (int i = 0; i < count; i++) {
		struct idle_opinion o = guards[i]->look(s, limits, now_ms);

		if (!o.keep)
			continue;
		*out = (struct idle_action){
			.delay_ms = o.recheck_ms ? o.recheck_ms : limits->recheck_ms,
			.guard_deferred = true,
		};
		snprintf(out->reason, sizeof(out->reason), "kept alive by %s: %s",
			guards[i]->name, o.reason ? o.reason : "no reason given");
		return;
	}
	if (s->guard_was_deferred) {
		*out = (struct idle_action){.delay_ms = limits->idle_timeout_ms};
		snprintf(out->reason, sizeof(out->reason),
			"grace period — CC finished working, restarting idle countdown");
		return;
	}
	end(out, "idle timeout");
}

int64_t idle_next_check(const struct idle_session *s, const struct idle_limits *limits,
	int64_t now_ms, int64_t delay_ms)
{
	int64_t cap_ms = s->idle_start_ms + limits->max_idle_ms + 1;

	return now_ms + delay_ms < cap_ms ? now_ms + delay_ms : cap_ms;
}

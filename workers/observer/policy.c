/* policy.c - when the Observer looks, and when it holds back (policy.h). */
#include "workers/observer/policy.h"
#include "common/base/alloc.h"
#include <stdio.h>
#include <stdlib.h>

void policy_init(struct policy *p, const struct policy_config *config, int64_t now_ms)
{
	*p = (struct policy){.config = *config, .last_activity_ms = now_ms};
	p->recent_size = (size_t)config->flow_actions + 1;
	p->recent = xcalloc(p->recent_size, sizeof(*p->recent));
}

void policy_fini(struct policy *p)
{
	free(p->recent);
	*p = (struct policy){0};
}

static void note_activity(struct policy *p, int64_t at_ms, int64_t now_ms)
{
	if (at_ms > now_ms)
		at_ms = now_ms;
	p->recent[p->recent_next] = at_ms;
	p->recent_next = (p->recent_next + 1) % p->recent_size;
	if (at_ms > p->last_activity_ms)
		p->last_activity_ms = at_ms;
	p->idle_asked = p->idle_logged = false;
}

bool policy_is_idle(const struct policy *p, int64_t now_ms)
{
	return now_ms - p->last_activity_ms > p->config.idle_ms;
}

/* The oldest of the last flow_actions + 1 actions lies in the window: so all of them do.
 */
static bool in_flow(const struct policy *p, int64_t now_ms)
{
	int64_t oldest = p->recent[p->recent_next];

	return oldest != 0 && now_ms - oldest <= p->config.flow_window_ms;
}

static bool cooling_down(const struct policy *p, int64_t now_ms)
{
	return p->last_nudge_ms != 0 && now_ms - p->last_nudge_ms < p->config.cooldown_ms;
}

static bool is_trigger(const struct policy *p, enum policy_event event, int64_t now_ms)
{
	switch (event) {
	case POLICY_TRIGGER:
	case POLICY_PHASE:
		return true;
	case POLICY_BUFFER_UPDATE:
		return p->buffer_updates >= p->config.buffer_updates;
	case POLICY_IDLE_CHECK:
		return !p->idle_asked && policy_is_idle(p, now_ms);
	case POLICY_ACTIVITY:
		break;
	}
	return false;
}

/* A suppression that repeats itself is told once: per crossing of the edits, per
 * idleness. */
static enum policy_verdict hold_back(
	struct policy *p, enum policy_event event, enum policy_verdict reason)
{
	bool *told = event == POLICY_BUFFER_UPDATE ? &p->crossing_logged
		     : event == POLICY_IDLE_CHECK  ? &p->idle_logged
						   : NULL;

	if (told && *told)
		return POLICY_NOTHING;
	if (told)
		*told = true;
	return reason;
}

static void ask(struct policy *p, enum policy_event event)
{
	p->evaluating = true;
	p->buffer_updates = 0;
	p->crossing_logged = false;
	if (event == POLICY_IDLE_CHECK)
		p->idle_asked = true;
}

enum policy_verdict policy_step(
	struct policy *p, enum policy_event event, int64_t at_ms, int64_t now_ms)
{
	if (event == POLICY_ACTIVITY || event == POLICY_TRIGGER ||
		event == POLICY_BUFFER_UPDATE)
		note_activity(p, at_ms, now_ms);
	p->buffer_updates += event == POLICY_BUFFER_UPDATE;
	/* The order of FR-133, with P10.7 between. */
	if (!is_trigger(p, event, now_ms) || p->muted || p->evaluating)
		return POLICY_NOTHING;
	if (cooling_down(p, now_ms))
		return hold_back(p, event, POLICY_COOLDOWN);
	if (in_flow(p, now_ms))
		return hold_back(p, event, POLICY_FLOW);
	ask(p, event);
	return POLICY_ASK;
}

enum policy_outcome policy_answered(struct policy *p, bool should_nudge,
	double confidence, bool signal_is_none, int64_t now_ms)
{
	p->evaluating = false;
	p->last_evaluation_ms = now_ms;
	if (!should_nudge)
		return POLICY_NO_NUDGE;
	if (signal_is_none)
		return POLICY_CONTRADICTION;
	if (confidence < p->config.min_confidence)
		return POLICY_LOW_CONFIDENCE;
	p->last_nudge_ms = now_ms;
	return POLICY_NUDGE;
}

void policy_not_now(struct policy *p, int64_t at_ms)
{
	if (at_ms > p->last_nudge_ms)
		p->last_nudge_ms = at_ms;
}

void policy_failed(struct policy *p)
{
	p->evaluating = false;
}

void ago_text(int64_t then_ms, int64_t now_ms, char out[AGO_SIZE])
{
	int64_t seconds = now_ms > then_ms ? (now_ms - then_ms) / 1000 : 0;
	long long minutes = (long long)seconds / 60, rest = (long long)seconds % 60;

	if (minutes == 0)
		snprintf(out, AGO_SIZE, "%llds", rest);
	else if (rest == 0)
		snprintf(out, AGO_SIZE, "%lldm", minutes);
	else
		snprintf(out, AGO_SIZE, "%lldm%llds", minutes, rest);
}

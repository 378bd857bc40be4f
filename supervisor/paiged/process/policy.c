/*
 * policy.c - see policy.h. Called by process.c. Reads no clock, sends no signal,
 * allocates nothing.
 */
#include "supervisor/paiged/process/policy.h"

#define NEVER ((struct mono){0})

static void enter(struct policy *p, enum policy_state state, struct mono now)
{
	p->state = state;
	p->since = now;
	p->deadline = NEVER;
	p->slow = p->forced = p->killed = false;
}

static unsigned start(struct policy *p, struct mono now)
{
	enter(p, POLICY_STARTING, now);
	p->restarting = false;
	p->ready_at = NEVER;
	p->sign_at = now;
	p->deadline = mono_add_ms(now, p->start_deadline_ms);
	p->started[p->starts++ % POLICY_RING] = now;
	return POLICY_DO_SPAWN;
}

/* A worker that is not READY may not read its socket yet; nothing is lost by ending it at
 * once. */
static unsigned stop(struct policy *p, struct mono now)
{
	bool was_ready = p->state == POLICY_READY;

	enter(p, POLICY_STOPPING, now);
	p->kill_at = mono_add_ms(now, p->stop_grace_ms);
	p->forced = !was_ready;
	p->deadline = was_ready ? mono_add_ms(now, POLICY_TERM_AFTER_MS) : p->kill_at;
	return was_ready ? POLICY_DO_SEND_STOP : POLICY_DO_SEND_STOP | POLICY_DO_TERM;
}

/* Aborted rather than killed, so that it can say where it stands. */
static unsigned abort_hung(struct policy *p, struct mono now)
{
	enter(p, POLICY_HUNG, now);
	p->forced = true;
	p->deadline = mono_add_ms(now, POLICY_ABORT_GRACE_MS);
	return POLICY_DO_ABORT;
}

int64_t policy_backoff_ms(int failures, int cap_ms, double jitter)
{
	int64_t delay = POLICY_BACKOFF_FIRST_MS;

	if (failures <= 0)
		return 0;
	for (int i = 1; i < failures && delay < cap_ms; i++)
		delay *= 2;
	if (delay > cap_ms)
		delay = cap_ms;
	delay += (int64_t)((double)delay * jitter / 5);
	return delay > cap_ms ? cap_ms : delay;
}

static unsigned exited(struct policy *p, struct policy_event event, struct mono now)
{
	int64_t delay;

	if (p->ready_at.us && mono_diff_ms(now, p->ready_at) >= POLICY_STABLE_MS)
		p->failures = 0;
	p->ready_at = NEVER;
	if (p->state == POLICY_STOPPING && p->restarting && p->want_up)
		return start(p, now);
	if (!p->want_up) {
		enter(p, POLICY_DOWN, now);
		return 0;
	}
	if (event.parks) {
		enter(p, POLICY_PARKED, now);
		return 0;
	}
	delay = policy_backoff_ms(p->failures++, p->backoff_cap_ms, event.jitter);
	if (delay == 0)
		return start(p, now);
	enter(p, POLICY_BACKOFF, now);
	p->deadline = mono_add_ms(now, delay);
	return 0;
}

static unsigned wanted_down(struct policy *p, struct mono now)
{
	p->want_up = p->restarting = false;
	switch (p->state) {
	case POLICY_STARTING:
	case POLICY_READY:
		return stop(p, now);
	case POLICY_BACKOFF:
	case POLICY_PARKED:
		enter(p, POLICY_DOWN, now);
		return 0;
	case POLICY_DOWN:
	case POLICY_STOPPING:
	case POLICY_HUNG: /* is being ended already */
		return 0;
	}
	return 0;
}

static unsigned restart(struct policy *p, struct mono now)
{
	p->want_up = true;
	p->failures = 0;
	switch (p->state) {
	case POLICY_STARTING:
	case POLICY_READY:
		p->restarting = true;
		return stop(p, now);
	case POLICY_STOPPING:
		p->restarting = true;
		return 0;
	case POLICY_BACKOFF:
	case POLICY_PARKED:
	case POLICY_DOWN:
		return start(p, now);
	case POLICY_HUNG:
		return 0;
	}
	return 0;
}

static unsigned want_up(struct policy *p, struct mono now)
{
	p->want_up = true;
	switch (p->state) {
	case POLICY_DOWN:
	case POLICY_BACKOFF:
	case POLICY_PARKED:
		return start(p, now);
	case POLICY_STOPPING:
		p->restarting = true;
		return 0;
	case POLICY_STARTING:
	case POLICY_READY:
	case POLICY_HUNG:
		return 0;
	}
	return 0;
}

static unsigned hurry(struct policy *p, struct mono now)
{
	struct mono soon = mono_add_ms(now, POLICY_HURRY_MS);

	if (p->state != POLICY_STOPPING && p->state != POLICY_HUNG)
		return 0;
	if (p->killed)
		return 0;
	if (p->state == POLICY_HUNG || p->kill_at.us > soon.us)
		p->kill_at = soon;
	p->deadline = p->kill_at;
	if (p->forced)
		return 0;
	p->forced = true;
	return POLICY_DO_TERM;
}

static unsigned kill_again(struct policy *p, struct mono now)
{
	bool stopping = p->state == POLICY_STOPPING;

	/* A process that the kernel cannot end must not keep the daemon from ending. */
	if (p->killed && stopping)
		return POLICY_DO_ABANDON;
	p->killed = true;
	p->deadline = mono_add_ms(now, POLICY_ABORT_GRACE_MS);
	return POLICY_DO_KILL;
}

static unsigned time_came(struct policy *p, struct mono now)
{
	switch (p->state) {
	case POLICY_STARTING:
		return abort_hung(p, now);
	case POLICY_READY:
		if (mono_diff_ms(now, p->sign_at) >= POLICY_HUNG_MS)
			return abort_hung(p, now);
		p->deadline = mono_add_ms(p->sign_at, POLICY_HUNG_MS);
		if (p->slow)
			return 0;
		p->slow = true;
		return POLICY_DO_BACKTRACE;
	case POLICY_STOPPING:
		if (p->forced)
			return kill_again(p, now);
		p->forced = true;
		p->deadline = p->kill_at;
		return POLICY_DO_TERM;
	case POLICY_HUNG:
		return kill_again(p, now);
	case POLICY_BACKOFF:
		return start(p, now);
	case POLICY_DOWN:
	case POLICY_PARKED:
		p->deadline = NEVER;
		return 0;
	}
	return 0;
}

static void sign_of_life(struct policy *p, struct mono now)
{
	p->sign_at = now;
	if (p->state != POLICY_READY)
		return;
	p->slow = false;
	p->deadline = mono_add_ms(now, POLICY_SLOW_MS);
}

static unsigned ready(struct policy *p, struct mono now)
{
	if (p->state != POLICY_STARTING)
		return 0;
	enter(p, POLICY_READY, now);
	p->ready_at = now;
	sign_of_life(p, now);
	return 0;
}

/* The time that was lost is given to everybody whose silence is being measured; false for
 * others. */
static bool late(struct policy *p, struct mono now)
{
	if (p->state == POLICY_READY)
		sign_of_life(p, now);
	else if (p->state == POLICY_STARTING)
		p->deadline = mono_add_ms(now, p->start_deadline_ms);
	else
		return false;
	return true;
}

unsigned policy_step(struct policy *p, struct policy_event event, struct mono now)
{
	switch (event.kind) {
	case POLICY_WANT_UP:
		return want_up(p, now);
	case POLICY_WANT_DOWN:
		return wanted_down(p, now);
	case POLICY_RESTART:
		return restart(p, now);
	case POLICY_HURRY:
		return hurry(p, now);
	case POLICY_GOT_READY:
		return ready(p, now);
	case POLICY_GOT_SIGN:
		sign_of_life(p, now);
		return 0;
	case POLICY_EXITED:
		return exited(p, event, now);
	case POLICY_TIME:
		if (p->deadline.us == 0 || p->deadline.us > now.us)
			return 0;
		if (mono_diff_ms(now, p->deadline) > POLICY_LATE_MS && late(p, now))
			return 0;
		return time_came(p, now);
	case POLICY_LATE:
		late(p, now);
		return 0;
	}
	return 0;
}

unsigned policy_restarts(const struct policy *p)
{
	return p->starts ? p->starts - 1 : 0;
}

unsigned policy_restarts_in_window(const struct policy *p, struct mono now)
{
	unsigned n = 0;
	unsigned restarts = policy_restarts(p);

	for (unsigned i = 0; i < restarts && i < POLICY_RING; i++) {
		struct mono at = p->started[(p->starts - 1 - i) % POLICY_RING];

		if (mono_diff_ms(now, at) <= POLICY_WINDOW_MS)
			n++;
	}
	return n;
}

const char *policy_state_name(enum policy_state state)
{
	static const char *const names[] = {
		[POLICY_DOWN] = "down",
		[POLICY_STARTING] = "starting",
		[POLICY_READY] = "ready",
		[POLICY_STOPPING] = "stopping",
		[POLICY_BACKOFF] = "backoff",
		[POLICY_HUNG] = "hung",
		[POLICY_PARKED] = "parked",
	};

	return names[state];
}

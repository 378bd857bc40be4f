/* process_table.c - see process_table.h. */
#include "supervisor/paiged/process/process_table.h"
#include "common/base/alloc.h"
#include "common/loop/timer.h"

#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "supervisor/paiged/process/environment.h"
#include <errno.h>
#include <limits.h>

/* ---- describing ---- */

static struct str reason_of(const struct process *p, struct buf *scratch)
{
	struct str reason = process_reason(p);

	if (reason.len > 0)
		return reason;
	if (p->policy.state == POLICY_READY || p->last.kind == EXIT_REASON_NONE)
		return (struct str){0};
	exit_reason_print(&p->last, scratch);
	return buf_str(scratch);
}

/* Appends the fleet of proto/catalogue/bus.def as JSON. */
static void describe_fleet(const struct process_table *ps, struct buf *out)
{
	struct fleet_worker items[WORKER_COUNT];
	struct buf scratch[WORKER_COUNT] = {0};
	struct fleet fleet = {.started_ms = ps->started.us / 1000,
		.has_started_ms = true,
		.workers = {.items = items}};

	for (int i = 0; i < WORKER_COUNT; i++) {
		const struct process *p = &ps->workers[i];

		if (process_absent(p))
			continue;
		items[fleet.workers.count++] = (struct fleet_worker){
			.name = str_of(worker_infos[i].name),
			.up = p->policy.state == POLICY_READY,
			.has_up = true,
			.state = str_of(process_state_name(p)),
			.condition = process_condition(p),
			.reason = reason_of(p, &scratch[i]),
			.restarts = policy_restarts(&p->policy),
			.has_restarts = true,
		};
	}
	proto_encode(fleet_type(), &fleet, out);
	for (int i = 0; i < WORKER_COUNT; i++)
		buf_free(&scratch[i]);
}

/* The gateway answers /health and /ready from this: when it becomes READY, and at every
 * change. */
static void tell_gateway(struct process_table *ps)
{
	struct process *gateway = &ps->workers[WORKER_GATEWAY];
	AUTO_BUF now = {0};

	if (gateway->policy.state != POLICY_READY)
		return;
	describe_fleet(ps, &now);
	if (gateway->pid != ps->told_pid || !str_eq(buf_str(&now), buf_str(&ps->told))) {
		channel_send_fleet(&gateway->channel, buf_str(&now));
		ps->told_pid = gateway->pid;
		buf_clear(&ps->told);
		buf_add_str(&ps->told, buf_str(&now));
	}
}

/* ---- stopping ---- */

static bool ended(const struct process *p)
{
	return p->policy.state == POLICY_DOWN || p->policy.state == POLICY_PARKED;
}

/* And was not told to stop. */
static bool is_running(const struct process *p)
{
	return !ended(p) && p->policy.state != POLICY_STOPPING;
}

/* The lowest stage that has somebody left, or INT_MAX. */
static int next_stage(const struct process_table *ps)
{
	int stage = INT_MAX;

	for (int i = 0; i < WORKER_COUNT; i++)
		if (!ended(&ps->workers[i]) && worker_infos[i].stop_stage < stage)
			stage = worker_infos[i].stop_stage;
	return stage;
}

static void stop_one(struct process_table *ps, struct process *p)
{
	log_info("stopping worker", "name", "%s", worker_infos[p->id].name, NULL);
	process_step(p, POLICY_WANT_DOWN);
	if (ps->hurried || (ps->abandoned && p->id != WORKER_STORE))
		process_step(p, POLICY_HURRY);
}

/* Goes on to the next stage as soon as one is empty. */
static void advance(struct process_table *ps)
{
	int stage = next_stage(ps);

	if (stage == INT_MAX) {
		if (!ps->stopped) {
			ps->stopped = true;
			ps->on_stopped(ps->arg);
		}
		return;
	}
	if (stage == ps->stage)
		return;
	ps->stage = stage;
	for (int i = 0; i < WORKER_COUNT; i++)
		if (worker_infos[i].stop_stage == stage && is_running(&ps->workers[i]))
			stop_one(ps, &ps->workers[i]);
}

void process_table_stop(struct process_table *ps)
{
	if (ps->shared.stopping) {
		ps->hurried = true;
		for (int i = 0; i < WORKER_COUNT; i++)
			process_step(&ps->workers[i], POLICY_HURRY);
		return;
	}
	ps->shared.stopping = true;
	ps->stage = INT_MIN;
	/* Whoever waits for its next start has nothing to finish. */
	for (int i = 0; i < WORKER_COUNT; i++)
		if (ps->workers[i].policy.state == POLICY_BACKOFF)
			process_step(&ps->workers[i], POLICY_WANT_DOWN);
	event_active(ps->shared.changed, EV_TIMEOUT, 0);
}

void process_table_abandon(struct process_table *ps)
{
	ps->abandoned = true;
	for (int i = 0; i < WORKER_COUNT; i++)
		if (is_running(&ps->workers[i]))
			stop_one(ps, &ps->workers[i]);
}

/* ---- changes ---- */

static void on_changed(EVENT_UNUSED, void *arg)
{
	struct process_table *ps = arg;

	if (process_table_all_ready(ps))
		ps->shared.booted = true;
	tell_gateway(ps);
	if (ps->shared.stopping)
		advance(ps);
	ps->on_change(ps->arg);
}

/* Whether it is, or should be, running. */
static bool is_expected(const struct process *p)
{
	return p->policy.state != POLICY_DOWN || process_wanted(p);
}

bool process_table_all_ready(const struct process_table *ps)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		if (ps->workers[i].policy.state != POLICY_READY &&
			is_expected(&ps->workers[i]))
			return false;
	return true;
}

int process_table_count(const struct process_table *ps)
{
	int count = 0;

	for (int i = 0; i < WORKER_COUNT; i++)
		count += is_expected(&ps->workers[i]);
	return count;
}

const struct process *process_table_failed_start(const struct process_table *ps)
{
	for (int i = 0; i < WORKER_COUNT && !ps->shared.booted; i++)
		if (ps->workers[i].policy.state == POLICY_PARKED)
			return &ps->workers[i];
	return NULL;
}

void process_table_start(struct process_table *ps)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		if (process_wanted(&ps->workers[i]))
			process_step(&ps->workers[i], POLICY_WANT_UP);
}

void process_table_reload(struct process_table *ps)
{
	AUTO_BUF json = {0};

	for (int i = 0; i < WORKER_COUNT; i++) {
		if (ps->workers[i].pid <= 0)
			continue;
		buf_clear(&json);
		environment_changes((enum worker_id)i, ps->shared.settings, &json);
		channel_send_reload(&ps->workers[i].channel, buf_str(&json));
	}
}

void process_table_late(struct process_table *ps)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		process_step(&ps->workers[i], POLICY_LATE);
}

void process_table_sample(struct process_table *ps, int64_t age_ms)
{
	struct mono now = clock_mono();

	if (mono_diff_ms(now, ps->sampled_at) < age_ms)
		return;
	ps->sampled_at = now;
	for (int i = 0; i < WORKER_COUNT; i++) {
		struct process *p = &ps->workers[i];
		struct usage usage;

		if (p->pid > 0 && usage_read(p->pid, &usage) == 0)
			p->usage =
				(struct usage_sample){.at = now, .cpu_ms = usage.cpu_ms};
		process_look(p);
	}
}

void process_table_init(struct process_table *ps)
{
	ps->shared.changed =
		alloc_checked(event_new(ps->shared.base, -1, EV_PERSIST, on_changed, ps));
	for (int i = 0; i < WORKER_COUNT; i++)
		process_init(&ps->workers[i], (enum worker_id)i, &ps->shared);
}

void process_table_fini(struct process_table *ps)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		process_fini(&ps->workers[i]);
	if (ps->shared.changed)
		event_free(ps->shared.changed);
	ps->shared.changed = NULL;
	buf_free(&ps->told);
}

/* breakloop.c - the rules of BreakLoop; see breakloop.h. */
#include "workers/guard-engine/breakloop/breakloop.h"
#include "workers/guard-engine/breakloop/breakloop_config.h"
#include "workers/guard-engine/breakloop/breakloop_view.h"
#include <assert.h>
#include <errno.h>

static const char *const action_names[] = {
	[BREAKLOOP_NO_ACTION] = "NoAction",
	[BREAKLOOP_QUICK_TASK] = "StartQuickTask",
	[BREAKLOOP_INTERVENTION] = "StartIntervention",
};

int breakloop_find(const struct breakloop *s, struct str name)
{
	for (int i = 0; i < s->app_count; i++)
		if (str_eq(name, breakloop_name(s, i)))
			return i;
	return BREAKLOOP_OTHER;
}

struct str breakloop_name(const struct breakloop *s, int app)
{
	return (struct str){s->names + s->name_start[app],
		(size_t)(s->name_start[app + 1] - s->name_start[app])};
}

static struct breakloop_verdict verdict(
	enum breakloop_action action, const char *reason, int64_t left_ms)
{
	return (struct breakloop_verdict){action, reason, left_ms};
}

struct breakloop_verdict breakloop_decide(
	const struct breakloop *s, int app, int64_t at_ms)
{
	const struct breakloop_app *a;

	if (app < 0)
		return verdict(BREAKLOOP_NO_ACTION, "NOT_MONITORED", -1);
	a = &s->apps[app];
	if (a->phase == BREAKLOOP_INTERVENTION_ACTIVE)
		return verdict(BREAKLOOP_NO_ACTION,
			a->preserved ? "START_INTERVENTION_PRESERVED"
				     : "ALREADY_ACTIVE_SESSION",
			-1);
	if (a->intention_until_ms > at_ms)
		return verdict(BREAKLOOP_NO_ACTION, "T_INTENTION_ACTIVE",
			a->intention_until_ms - at_ms);
	if (a->phase == BREAKLOOP_POST_QUICK_TASK_CHOICE)
		return verdict(BREAKLOOP_NO_ACTION, "POST_CHOICE_ACTIVE", -1);
	if (a->quick_task_until_ms > at_ms)
		return verdict(BREAKLOOP_NO_ACTION, "T_QUICK_TASK_ACTIVE", -1);
	if (a->suppressed_until_ms > at_ms)
		return verdict(BREAKLOOP_NO_ACTION, "SUPPRESSION_QUIT",
			a->suppressed_until_ms - at_ms);
	if (s->quota.remaining > 0)
		return verdict(BREAKLOOP_QUICK_TASK, "START_QUICK_TASK", -1);
	return verdict(BREAKLOOP_INTERVENTION, "START_INTERVENTION", -1);
}

/* ---- changes of one app ---- */

static void make_idle(struct breakloop_app *a)
{
	*a = (struct breakloop_app){.phase = BREAKLOOP_IDLE};
}

static void add_effect(struct breakloop *s, int type, int app, struct machine_out *out)
{
	struct breakloop_effect *effect = machine_add(out, &breakloop_machine, type);

	effect->app = breakloop_name(s, app);
}

/* The quota goes down at the start, not at the end (invariant 4). */
static void start_quick_task(
	struct breakloop *s, int app, int64_t at_ms, struct machine_out *out)
{
	struct breakloop_quick_task *effect;

	assert(s->quota.remaining > 0);
	s->quota.remaining--;
	make_idle(&s->apps[app]);
	s->apps[app].phase = BREAKLOOP_QUICK_TASK_ACTIVE;
	s->apps[app].quick_task_until_ms = at_ms + s->quick_task_ms;
	effect = machine_add(out, &breakloop_machine, BREAKLOOP_START_QUICK_TASK);
	effect->app = breakloop_name(s, app);
	effect->until_ms = s->apps[app].quick_task_until_ms;
}

static void start_intervention(struct breakloop *s, int app, struct machine_out *out)
{
	make_idle(&s->apps[app]);
	s->apps[app].phase = BREAKLOOP_INTERVENTION_ACTIVE;
	add_effect(s, BREAKLOOP_START_INTERVENTION, app, out);
}

static bool is_preserved(enum breakloop_step step)
{
	return step == BREAKLOOP_STEP_ACTION_TIMER || step == BREAKLOOP_STEP_TIMER ||
	       step == BREAKLOOP_STEP_IDLE;
}

/* The app in front is left. */
static void leave(struct breakloop *s, int64_t at_ms)
{
	int app = s->foreground;
	struct breakloop_app *a;

	s->foreground = BREAKLOOP_NOBODY;
	s->foreground_name[0] = '\0';
	s->left_app = app;
	if (app < 0)
		return;
	a = &s->apps[app];
	s->left_at_ms = at_ms;
	s->cleared_phase = BREAKLOOP_IDLE;
	if (a->phase == BREAKLOOP_INTERVENTION_ACTIVE && is_preserved(a->step)) {
		a->preserved = true;
	} else if (a->phase == BREAKLOOP_INTERVENTION_ACTIVE ||
		   a->phase == BREAKLOOP_POST_QUICK_TASK_CHOICE) {
		s->cleared_phase = a->phase;
		make_idle(a);
	}
}

/* ---- timers ---- */

/* From when on it is certain that the user is not on the app. */
static int64_t away_from_ms(const struct breakloop *s, int app)
{
	if (s->foreground == BREAKLOOP_NOBODY && s->left_app == app)
		return s->left_at_ms + BREAKLOOP_AWAY_MS;
	return 0;
}

/* When the end of a timer is dealt with: at once on the app, else when the user is
 * certainly away. */
static int64_t expiry_ms(const struct breakloop *s, int app, int64_t until_ms)
{
	int64_t away_ms = away_from_ms(s, app);

	if (until_ms == 0)
		return MACHINE_NEVER;
	return s->foreground != app && away_ms > until_ms ? away_ms : until_ms;
}

struct expired {
	int app;
	const char *timer;
};

struct expiries {
	int count;
	struct expired list[BREAKLOOP_MAX_APPS];
};

static void expire_app(struct breakloop *s, int app, int64_t at_ms, struct expiries *done,
	struct machine_out *out)
{
	struct breakloop_app *a = &s->apps[app];
	bool on_app = s->foreground == app;

	if (expiry_ms(s, app, a->quick_task_until_ms) <= at_ms) {
		done->list[done->count++] = (struct expired){app, "quick_task"};
		make_idle(a);
		if (on_app) {
			a->phase = BREAKLOOP_POST_QUICK_TASK_CHOICE;
			add_effect(s, BREAKLOOP_SHOW_POST_CHOICE, app, out);
		}
	} else if (expiry_ms(s, app, a->intention_until_ms) <= at_ms) {
		done->list[done->count++] = (struct expired){app, "intention"};
		make_idle(a);
		if (on_app)
			start_intervention(
				s, app, out); /* whatever the quota (invariant 6) */
	} else if (a->activity_until_ms && a->activity_until_ms <= at_ms) {
		done->list[done->count++] = (struct expired){app, "activity"};
		a->activity_until_ms = 0;
		a->step = BREAKLOOP_STEP_REFLECTION;
	}
}

/* Deals with every timer that is over. An app has one timer at most. */
static void expire(struct breakloop *s, int64_t at_ms, struct expiries *done,
	struct machine_out *out)
{
	done->count = 0;
	for (int i = 0; i < s->app_count; i++)
		expire_app(s, i, at_ms, done, out);
}

static int64_t deadline(const void *state)
{
	const struct breakloop *s = state;
	int64_t first = MACHINE_NEVER;

	for (int i = 0; i < s->app_count; i++) {
		const struct breakloop_app *a = &s->apps[i];
		int64_t at[3] = {expiry_ms(s, i, a->quick_task_until_ms),
			expiry_ms(s, i, a->intention_until_ms),
			a->activity_until_ms ? a->activity_until_ms : MACHINE_NEVER};

		for (int t = 0; t < 3; t++)
			if (at[t] < first)
				first = at[t];
	}
	return first;
}

/* ---- rows ---- */

static struct breakloop_row *add_row(
	const struct machine_event *e, struct machine_out *out)
{
	struct breakloop_row *row = machine_add(out, &breakloop_machine, e->type);

	row->has_facts = e->facts.has_window_start_ms;
	row->facts = e->facts;
	return row;
}

static void note_expiries(const struct breakloop *s, const struct expiries *done,
	struct breakloop_row *row, struct machine_out *out)
{
	if (!done->count)
		return;
	row->expired.items = machine_strings(out, (size_t)done->count * 2);
	for (int i = 0; i < done->count; i++) {
		row->expired.items[row->expired.count++] =
			breakloop_name(s, done->list[i].app);
		row->expired.items[row->expired.count++] = str_of(done->list[i].timer);
	}
}

static void note_decision(
	struct breakloop_verdict v, struct breakloop_row *row, struct machine_out *out)
{
	row->has_decision = true;
	row->decision.action = str_of(action_names[v.action]);
	row->decision.reason = v.left_ms < 0 ? str_of(v.reason)
					     : machine_text(out, "%s_%lldms", v.reason,
						       (long long)v.left_ms);
	out->decision = &row->decision;
}

/* ---- events ---- */

static void come_to_front(struct breakloop *s, int app, struct str name)
{
	s->foreground = app;
	memcpy(s->foreground_name, name.ptr, name.len);
	s->foreground_name[name.len] = '\0';
}

/*
 * A gap of some moments is no exit: what the exit cleared is there again. True when the
 * entry is the one before.
 */
static bool same_entry(struct breakloop *s, int app, int64_t at_ms)
{
	if (app < 0 || s->entered_app != app || s->left_app != app ||
		at_ms - s->entered_at_ms >= BREAKLOOP_SAME_ENTRY_MS ||
		s->apps[app].phase != BREAKLOOP_IDLE)
		return false;
	if (s->cleared_phase == BREAKLOOP_IDLE)
		return false;
	s->apps[app].phase = s->cleared_phase;
	return true;
}

static void act(struct breakloop *s, int app, enum breakloop_action action, int64_t at_ms,
	struct machine_out *out)
{
	switch (action) {
	case BREAKLOOP_QUICK_TASK:
		start_quick_task(s, app, at_ms, out);
		return;
	case BREAKLOOP_INTERVENTION:
		start_intervention(s, app, out);
		return;
	case BREAKLOOP_NO_ACTION:
		break;
	}
	if (app >= 0 && s->apps[app].preserved) {
		s->apps[app].preserved = false;
		add_effect(s, BREAKLOOP_RESUME, app, out);
	}
}

static int on_entered(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	const struct breakloop_app_event *entry = e->fields;
	struct breakloop_row *row = add_row(e, out);
	int app = breakloop_find(s, entry->app);
	struct breakloop_verdict v;
	struct expiries done = {0};

	row->app = entry->app;
	if (str_is(entry->app, s->foreground_name)) {
		/* It was in front already: no entry. */
		v = breakloop_decide(s, app, e->at_ms);
		if (v.action != BREAKLOOP_NO_ACTION)
			v = verdict(BREAKLOOP_NO_ACTION, "SAME_APP", -1);
		note_decision(v, row, out);
		return 0;
	}
	if (s->foreground != BREAKLOOP_NOBODY)
		leave(s, e->at_ms);
	come_to_front(s, app, entry->app);
	if (same_entry(s, app, e->at_ms)) {
		note_decision(
			verdict(BREAKLOOP_NO_ACTION, "DUPLICATE_ENTRY", -1), row, out);
		return 0;
	}
	s->entered_app = app;
	s->entered_at_ms = e->at_ms;
	expire(s, e->at_ms, &done, out);
	note_expiries(s, &done, row, out);
	v = breakloop_decide(s, app, e->at_ms);
	note_decision(v, row, out);
	act(s, app, v.action, e->at_ms, out);
	return 0;
}

static int on_exited(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	const struct breakloop_app_event *exit = e->fields;
	struct breakloop_row *row = add_row(e, out);

	row->app = exit->app;
	/* Of an app that is not in front it comes late: the next entry was its exit. */
	if (str_is(exit->app, s->foreground_name))
		leave(s, e->at_ms);
	return 0;
}

/* The app of an event that is about an app in a phase, or BREAKLOOP_OTHER. */
static int app_in(const struct breakloop *s, struct str name, enum breakloop_phase phase)
{
	int app = breakloop_find(s, name);

	return app >= 0 && s->apps[app].phase == phase ? app : BREAKLOOP_OTHER;
}

static void quit(struct breakloop *s, int app, int64_t at_ms, struct machine_out *out)
{
	make_idle(&s->apps[app]);
	if (s->quit_suppression_ms)
		s->apps[app].suppressed_until_ms = at_ms + s->quit_suppression_ms;
	if (s->foreground == app) {
		leave(s, at_ms);
		s->left_app = BREAKLOOP_NOBODY;
	}
	machine_add_ref(out, BREAKLOOP_GO_HOME, NULL);
}

static int on_choice(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	const struct breakloop_choice *choice = e->fields;
	int app = app_in(s, choice->app, BREAKLOOP_POST_QUICK_TASK_CHOICE);
	bool in_dialog = app >= 0;
	struct breakloop_row *row;

	if (!in_dialog)
		app = app_in(s, choice->app, BREAKLOOP_INTERVENTION_ACTIVE);
	if (app < 0)
		return machine_refuse(
			out, "the app is in no dialog and in no intervention");
	if (!in_dialog && choice->choice == BREAKLOOP_CONTINUE)
		return machine_refuse(out,
			"an intervention is not continued; set an intention or quit");
	row = add_row(e, out);
	row->app = choice->app;
	row->has_choice = true;
	row->choice = choice->choice;
	if (choice->choice == BREAKLOOP_QUIT)
		quit(s, app, e->at_ms, out);
	else if (s->quota.remaining > 0)
		start_quick_task(s, app, e->at_ms, out);
	else
		start_intervention(s, app, out);
	return 0;
}

static int on_duration(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	const struct breakloop_duration *d = e->fields;
	int app = app_in(s, d->app, BREAKLOOP_INTERVENTION_ACTIVE);
	struct breakloop_row *row;

	if (app < 0)
		return machine_refuse(out, "the app is in no intervention");
	row = add_row(e, out);
	row->app = d->app;
	row->has_duration_ms = true;
	row->duration_ms = d->duration_ms;
	if (e->type == BREAKLOOP_INTENTION_SET) {
		make_idle(&s->apps[app]);
		s->apps[app].intention_until_ms = e->at_ms + d->duration_ms;
	} else {
		s->apps[app].step = BREAKLOOP_STEP_ACTION_TIMER;
		s->apps[app].activity_until_ms = e->at_ms + d->duration_ms;
	}
	return 0;
}

static int on_step(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	const struct breakloop_step_event *step = e->fields;
	int app = app_in(s, step->app, BREAKLOOP_INTERVENTION_ACTIVE);
	struct breakloop_row *row;

	if (app < 0)
		return machine_refuse(out, "the app is in no intervention");
	row = add_row(e, out);
	row->app = step->app;
	row->has_step = true;
	row->step = step->step;
	if (step->step == BREAKLOOP_STEP_DONE) {
		make_idle(&s->apps[app]);
		return 0;
	}
	s->apps[app].step = (enum breakloop_step)step->step;
	if (step->step != BREAKLOOP_STEP_ACTION_TIMER)
		s->apps[app].activity_until_ms = 0;
	return 0;
}

/* Another limit or another length fills the quota at once; another zone never does (R51).
 */
static int on_settings(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	const struct breakloop_config *c = e->fields;
	int64_t limit = s->quota.limit;
	int hours = s->window_hours;
	struct breakloop_row_settings *row;
	const char *problem;

	if (breakloop_apply_config(s, c, &problem) < 0)
		return machine_refuse(out, problem);
	row = machine_add(out, &breakloop_machine, e->type);
	*row = (struct breakloop_row_settings){
		.n_quick_task = c->n_quick_task,
		.has_n_quick_task = c->has_n_quick_task,
		.window_hours = c->window_hours,
		.has_window_hours = c->has_window_hours,
		.quick_task_ms = c->quick_task_ms,
		.has_quick_task_ms = c->has_quick_task_ms,
		.timezone = c->timezone,
		.monitored = c->monitored,
		.quit_suppression_ms = c->quit_suppression_ms,
		.has_quit_suppression_ms = c->has_quit_suppression_ms,
		.has_facts = e->facts.has_window_start_ms,
		.facts = e->facts,
	};
	if (s->quota.limit != limit || s->window_hours != hours)
		quota_fill(&s->quota, (struct quota_window){e->facts.window_start_ms,
					      e->facts.window_end_ms});
	return 0;
}

static int on_tick(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	struct breakloop_row *row = add_row(e, out);
	struct expiries done = {0};

	expire(s, e->at_ms, &done, out);
	note_expiries(s, &done, row, out);
	return 0;
}

static int dispatch(
	struct breakloop *s, const struct machine_event *e, struct machine_out *out)
{
	switch (e->type) {
	case ITEM_CREATED:
		s->quota.remaining = s->quota.limit;
		return 0;
	case ITEM_TICK:
		return on_tick(s, e, out);
	case BREAKLOOP_APP_ENTERED:
		return on_entered(s, e, out);
	case BREAKLOOP_APP_EXITED:
		return on_exited(s, e, out);
	case BREAKLOOP_CHOICE:
		return on_choice(s, e, out);
	case BREAKLOOP_INTENTION_SET:
	case BREAKLOOP_ACTIVITY_STARTED:
		return on_duration(s, e, out);
	case BREAKLOOP_INTERVENTION_STEP:
		return on_step(s, e, out);
	case BREAKLOOP_SETTINGS:
		return on_settings(s, e, out);
	default:
		return machine_refuse(out, "not an event of this machine");
	}
}

static int step(void *state, const struct machine_event *e, struct machine_out *out)
{
	struct breakloop *s = state;
	struct quota before = s->quota;
	int err;

	if (e->facts.has_window_start_ms)
		quota_roll(&s->quota, e->facts.wall_ms,
			(struct quota_window){
				e->facts.window_start_ms, e->facts.window_end_ms});
	err = dispatch(s, e, out);
	if (err)
		s->quota = before;
	return err;
}

static void window(const void *state, const struct machine_event *event,
	struct str *timezone, int *hours)
{
	const struct breakloop *s = state;
	const struct breakloop_config *c;

	*timezone = str_of(s->timezone);
	*hours = s->window_hours;
	if (!event || event->type != BREAKLOOP_SETTINGS)
		return;
	c = event->fields;
	if (c->timezone.ptr)
		*timezone = c->timezone;
	if (c->has_window_hours)
		*hours = (int)c->window_hours;
}

static const struct machine_item_info items[BREAKLOOP_ITEMS] = {
	MACHINE_COMMON_ITEMS("created", "refused", "tick", breakloop_row_type),
#define ITEM(symbol, ...) [BREAKLOOP_##symbol] = MACHINE_ITEM(__VA_ARGS__),
#include "workers/guard-engine/breakloop/breakloop.def"
#undef ITEM
};

const struct machine breakloop_machine = {
	.kind = GUARD_BREAKLOOP,
	.rules = BREAKLOOP_RULES,
	.clock = MACHINE_CLOCK_BOOT,
	.state_size = sizeof(struct breakloop),
	.items = items,
	.item_count = BREAKLOOP_ITEMS,
	.create = breakloop_create,
	.config = breakloop_config_out,
	.step = step,
	.deadline = deadline,
	.render = breakloop_render,
	.save = breakloop_save,
	.load = breakloop_load,
	.window = window,
};

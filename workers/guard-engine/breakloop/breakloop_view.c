/* breakloop_view.c - see breakloop_view.h. */
#include "workers/guard-engine/breakloop/breakloop_view.h"
#include "workers/guard-engine/breakloop/breakloop_config.h"
#include <errno.h>
#include <stdio.h>

static struct breakloop_app_view app_view(const struct breakloop_app *a)
{
	return (struct breakloop_app_view){
		.phase = a->phase,
		.intention_until_ms = a->intention_until_ms,
		.has_intention_until_ms = a->intention_until_ms != 0,
		.quick_task_until_ms = a->quick_task_until_ms,
		.has_quick_task_until_ms = a->quick_task_until_ms != 0,
		.activity_until_ms = a->activity_until_ms,
		.has_activity_until_ms = a->activity_until_ms != 0,
		.suppressed_until_ms = a->suppressed_until_ms,
		.has_suppressed_until_ms = a->suppressed_until_ms != 0,
		.step = a->step,
		.has_step = a->phase == BREAKLOOP_INTERVENTION_ACTIVE,
		.preserved = a->preserved,
	};
}

void breakloop_render(const void *state, const struct machine_view *view, struct buf *out)
{
	const struct breakloop *s = state;
	struct quota quota = s->quota;
	AUTO_BUF apps = {0};
	struct breakloop_view v;

	if (view->facts.has_window_start_ms)
		quota_roll(&quota, view->facts.wall_ms,
			(struct quota_window){
				view->facts.window_start_ms, view->facts.window_end_ms});
	buf_add_char(&apps, '{');
	for (int i = 0; i < s->app_count; i++) {
		struct breakloop_app_view a = app_view(&s->apps[i]);

		if (i)
			buf_add_char(&apps, ',');
		buf_add_json_string(&apps, breakloop_name(s, i));
		buf_add_char(&apps, ':');
		proto_encode(breakloop_app_view_type(), &a, &apps);
	}
	buf_add_char(&apps, '}');
	v = (struct breakloop_view){
		.foreground = s->foreground_name[0] ? str_of(s->foreground_name)
						    : (struct str){0},
		.remaining = quota.remaining,
		.limit = quota.limit,
		.window_start_ms = quota.window.start_ms,
		.window_end_ms = quota.window.end_ms,
		.window_hours = s->window_hours,
		.timezone = str_of(s->timezone),
		.quick_task_ms = s->quick_task_ms,
		.quit_suppression_ms = s->quit_suppression_ms,
		.apps.raw = buf_str(&apps),
	};
	proto_encode(breakloop_view_type(), &v, out);
}

static bool is_fresh(const struct breakloop_app *a)
{
	return a->phase == BREAKLOOP_IDLE && !a->intention_until_ms &&
	       !a->suppressed_until_ms;
}

void breakloop_save(const void *state, struct buf *out)
{
	const struct breakloop *s = state;
	struct str names[BREAKLOOP_MAX_APPS];
	struct breakloop_app_snapshot apps[BREAKLOOP_MAX_APPS];
	struct breakloop_snapshot v = {
		.rules = s->base.rules,
		.at_ms = s->base.at_ms,
		.config = breakloop_config_of(s, names),
		.foreground = str_of(s->foreground_name),
		.last_left =
			s->left_app >= 0 ? breakloop_name(s, s->left_app) : STR_LIT(""),
		.left_at_ms = s->left_at_ms,
		.last_entered = s->entered_app >= 0 ? breakloop_name(s, s->entered_app)
						    : STR_LIT(""),
		.entered_at_ms = s->entered_at_ms,
		.cleared_phase = s->cleared_phase,
		.remaining = s->quota.remaining,
		.window_start_ms = s->quota.window.start_ms,
		.window_end_ms = s->quota.window.end_ms,
		.apps.items = apps,
	};

	for (int i = 0; i < s->app_count; i++) {
		const struct breakloop_app *a = &s->apps[i];

		if (is_fresh(a))
			continue;
		apps[v.apps.count++] = (struct breakloop_app_snapshot){
			.app = i,
			.phase = a->phase,
			.step = a->step,
			.preserved = a->preserved,
			.intention_until_ms = a->intention_until_ms,
			.quick_task_until_ms = a->quick_task_until_ms,
			.activity_until_ms = a->activity_until_ms,
			.suppressed_until_ms = a->suppressed_until_ms,
		};
	}
	proto_encode(breakloop_snapshot_type(), &v, out);
}

static int load_apps(struct breakloop *s, const struct breakloop_snapshot *v,
	struct proto_error *error)
{
	for (size_t i = 0; i < v->apps.count; i++) {
		const struct breakloop_app_snapshot *a = &v->apps.items[i];

		if (a->app >= s->app_count) {
			snprintf(error->text, sizeof(error->text),
				"snapshot.apps[%zu].app: no such app", i);
			return -EINVAL;
		}
		s->apps[a->app] = (struct breakloop_app){
			.phase = (enum breakloop_phase)a->phase,
			.step = (enum breakloop_step)a->step,
			.preserved = a->preserved,
			.intention_until_ms = a->intention_until_ms,
			.quick_task_until_ms = a->quick_task_until_ms,
			.activity_until_ms = a->activity_until_ms,
			.suppressed_until_ms = a->suppressed_until_ms,
		};
	}
	return 0;
}

static int app_or_nobody(const struct breakloop *s, struct str name)
{
	return name.len ? breakloop_find(s, name) : BREAKLOOP_NOBODY;
}

int breakloop_load(
	yyjson_val *snapshot, struct arena *arena, void *state, struct proto_error *error)
{
	struct breakloop *s = state;
	struct breakloop_snapshot v;
	const char *problem;
	int err = proto_decode(breakloop_snapshot_type(), snapshot, "snapshot",
		DECODE_STRICT, arena, &v, error);

	if (err)
		return err;
	err = breakloop_apply_config(s, &v.config, &problem);
	if (err) {
		snprintf(error->text, sizeof(error->text), "snapshot.config.%s", problem);
		return err;
	}
	s->base = (struct machine_base){.rules = (int)v.rules, .at_ms = v.at_ms};
	snprintf(s->foreground_name, sizeof(s->foreground_name), "%.*s",
		STR_ARG(v.foreground));
	s->foreground = app_or_nobody(s, v.foreground);
	s->left_app = app_or_nobody(s, v.last_left);
	s->left_at_ms = v.left_at_ms;
	s->cleared_phase = (enum breakloop_phase)v.cleared_phase;
	s->entered_app = app_or_nobody(s, v.last_entered);
	s->entered_at_ms = v.entered_at_ms;
	s->quota.remaining = v.remaining;
	s->quota.window = (struct quota_window){v.window_start_ms, v.window_end_ms};
	return load_apps(s, &v, error);
}

/* breakloop_config.c - see breakloop_config.h. */
#include "workers/guard-engine/breakloop/breakloop_config.h"
#include "workers/guard-engine/breakloop/zone_rules.h"
#include <errno.h>
#include <stdio.h>

static const char *check_monitored(struct strs names)
{
	size_t bytes = 0;

	for (size_t i = 0; i < names.count; i++) {
		struct str name = names.items[i];

		if (name.len == 0 || name.len > BREAKLOOP_MAX_NAME ||
			memchr(name.ptr, '\0', name.len))
			return "monitored: a name has 1 to 255 bytes";
		bytes += name.len;
		for (size_t j = 0; j < i; j++)
			if (str_eq(name, names.items[j]))
				return "monitored: a name stands there twice";
	}
	return bytes > BREAKLOOP_MAX_NAMES
		       ? "monitored: the names have more than 4096 bytes"
		       : NULL;
}

static const char *check(const struct breakloop_config *c)
{
	int64_t h = c->window_hours;

	if (c->has_window_hours && h != 1 && h != 4 && h != 12 && h != 24)
		return "windowHours: expected 1, 4, 12 or 24";
	if (c->timezone.ptr && !zone_name_valid(c->timezone))
		return "timezone: expected a name of the time zone database, like "
		       "Europe/Berlin";
	return c->monitored.items ? check_monitored(c->monitored) : NULL;
}

/* The place that an app of `old` has now. */
static int moved(const struct breakloop *s, const struct breakloop *old, int app)
{
	return app < 0 ? app : breakloop_find(s, breakloop_name(old, app));
}

static void monitor(struct breakloop *s, struct strs names)
{
	struct breakloop old = *s;
	int used = 0;

	s->app_count = 0;
	for (size_t i = 0; i < names.count; i++) {
		struct str name = names.items[i];
		int was = breakloop_find(&old, name);

		memcpy(s->names + used, name.ptr, name.len);
		s->name_start[i] = used;
		used += (int)name.len;
		s->name_start[i + 1] = used;
		s->apps[i] = was >= 0 ? old.apps[was]
				      : (struct breakloop_app){.phase = BREAKLOOP_IDLE};
		s->app_count++;
	}
	if (s->foreground != BREAKLOOP_NOBODY)
		s->foreground = breakloop_find(s, str_of(s->foreground_name));
	s->entered_app = moved(s, &old, s->entered_app);
	s->left_app = moved(s, &old, s->left_app);
}

int breakloop_apply_config(
	struct breakloop *s, const struct breakloop_config *c, const char **problem)
{
	*problem = check(c);
	if (*problem)
		return -EINVAL;
	if (c->has_n_quick_task)
		s->quota.limit = c->n_quick_task;
	if (c->has_window_hours)
		s->window_hours = (int)c->window_hours;
	if (c->has_quick_task_ms)
		s->quick_task_ms = c->quick_task_ms;
	if (c->has_quit_suppression_ms)
		s->quit_suppression_ms = c->quit_suppression_ms;
	if (c->timezone.ptr)
		snprintf(s->timezone, sizeof(s->timezone), "%.*s", STR_ARG(c->timezone));
	if (c->monitored.items)
		monitor(s, c->monitored);
	return 0;
}

int breakloop_create(yyjson_val *config, const struct machine_defaults *defaults,
	struct arena *arena, void *state, struct proto_error *error)
{
	struct breakloop *s = state;
	struct breakloop_config c;
	const char *problem;
	int err = proto_decode(breakloop_config_type(), config, "config", DECODE_STRICT,
		arena, &c, error);

	if (err)
		return err;
	*s = (struct breakloop){
		.base.rules = BREAKLOOP_RULES,
		.quick_task_ms = 180000,
		.window_hours = 1,
		.quota.limit = 3,
		.foreground = BREAKLOOP_NOBODY,
		.entered_app = BREAKLOOP_NOBODY,
		.left_app = BREAKLOOP_NOBODY,
	};
	snprintf(s->timezone, sizeof(s->timezone), "%.*s", STR_ARG(defaults->timezone));
	err = breakloop_apply_config(s, &c, &problem);
	if (err)
		snprintf(error->text, sizeof(error->text), "config.%s", problem);
	s->quota.remaining = s->quota.limit;
	return err;
}

struct breakloop_config breakloop_config_of(
	const struct breakloop *s, struct str names[BREAKLOOP_MAX_APPS])
{
	for (int i = 0; i < s->app_count; i++)
		names[i] = breakloop_name(s, i);
	return (struct breakloop_config){
		.n_quick_task = s->quota.limit,
		.has_n_quick_task = true,
		.window_hours = s->window_hours,
		.has_window_hours = true,
		.quick_task_ms = s->quick_task_ms,
		.has_quick_task_ms = true,
		.timezone = str_of(s->timezone),
		.monitored = {names, (size_t)s->app_count},
		.quit_suppression_ms = s->quit_suppression_ms,
		.has_quit_suppression_ms = true,
	};
}

void breakloop_config_out(const void *state, struct buf *out)
{
	struct str names[BREAKLOOP_MAX_APPS];
	struct breakloop_config c = breakloop_config_of(state, names);

	proto_encode(breakloop_config_type(), &c, out);
}

/* reload.c - see reload.h. Called by daemon.c. */
#include "supervisor/paiged/reload.h"

#include "common/base/alloc.h"
#include "common/base/log.h"
#include "supervisor/paiged/notify.h"
#include "supervisor/shared/settings_report.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The lock, the sockets, the log files and what clients know depend on these. */
static bool is_fixed(enum setting_id id)
{
	return id == SETTING_ID_port || id == SETTING_ID_host ||
	       id == SETTING_ID_data_dir || id == SETTING_ID_project_dir;
}

static void log_problems(const struct buf *problems)
{
	struct str rest = buf_str(problems), line;

	while (str_take_line(&rest, &line))
		log_error("reload refused, the old settings stay", "problem", "%.*s",
			STR_ARG(line), NULL);
}

/* Logs each change. True when one cannot be applied at all. */
static bool log_changes(const struct settings *old, const struct settings *now,
	enum reload_change changes[SETTING_COUNT])
{
	bool fixed = false;

	for (int i = 0; i < SETTING_COUNT; i++) {
		enum setting_id id = (enum setting_id)i;

		changes[i] = !settings_differ(old, now, id) ? RELOAD_SAME
			     : is_fixed(id)		    ? RELOAD_LATER
							    : RELOAD_CHANGED;
		if (changes[i] == RELOAD_LATER)
			log_warn("setting changes with the next start of the daemon",
				"name", "%s", setting_info(id)->name, NULL);
		else if (changes[i] == RELOAD_CHANGED)
			log_info("setting changed", "name", "%s", setting_info(id)->name,
				NULL);
		fixed = fixed || changes[i] == RELOAD_LATER;
	}
	return fixed;
}

/* Whether a worker must be restarted for one of the changes. */
static bool wants_restart(
	enum worker_id worker, const struct settings *old, const struct settings *now)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		enum setting_id id = (enum setting_id)i;

		if (!settings_differ(old, now, id))
			continue;
		if (!(setting_info(id)->flags & SETTING_RELOAD))
			return true;
		/* It may read the one that it was started with alone. */
		if (worker == WORKER_LLM && id == SETTING_ID_prompts_dir)
			return true;
		/* It hands them on in an environment that it made at its start. */
		if (worker == WORKER_AGENT && now->agent_api_key &&
			(id == SETTING_ID_anthropic_api_key ||
				id == SETTING_ID_anthropic_base_url))
			return true;
	}
	return false;
}

/* The fixed ones keep the values that the daemon works with. */
static void keep_fixed(const struct settings *old, struct settings *now)
{
	free(now->host);
	free(now->data_dir);
	free(now->project_dir);
	now->port = old->port;
	now->host = xstrdup(old->host);
	now->data_dir = xstrdup(old->data_dir);
	now->project_dir = xstrdup(old->project_dir);
	free(now->project_spelling);
	now->project_spelling =
		old->project_spelling ? xstrdup(old->project_spelling) : NULL;
}

static void apply(
	struct daemon *d, struct settings *now, enum reload_change changes[SETTING_COUNT])
{
	bool restart[WORKER_COUNT], any = false;

	if (log_changes(&d->settings, now, changes))
		keep_fixed(&d->settings, now);
	for (int i = 0; i < WORKER_COUNT; i++) {
		restart[i] = wants_restart((enum worker_id)i, &d->settings, now);
		any = any || restart[i];
	}
	settings_log(now, &d->settings);
	settings_fini(&d->settings);
	d->settings = *now;
	log_set_level((enum log_level)d->settings.log_level);
	process_table_reload(&d->processes);
	for (int i = 0; i < WORKER_COUNT; i++) {
		struct process *p = &d->processes.workers[i];

		if (!process_wanted(p))
			process_step(p, POLICY_WANT_DOWN);
		else if (restart[i])
			process_step(p, POLICY_RESTART);
		else if (p->policy.state == POLICY_PARKED)
			process_step(p, POLICY_WANT_UP);
	}
	log_info("settings reloaded", "workers", "%s", any ? "restarted" : "informed",
		NULL);
}

int reload_settings(
	struct daemon *d, enum reload_change changes[SETTING_COUNT], struct buf *problems)
{
	enum reload_change unasked[SETTING_COUNT];
	struct settings now;
	int error;

	if (d->processes.shared.stopping)
		return -ESHUTDOWN;
	notify_reloading();
	error = settings_load(&now, d->config_file, problems);
	if (error == 0) {
		apply(d, &now, changes ? changes : unasked);
	} else {
		log_problems(problems);
		settings_fini(&now);
	}
	if (d->announced)
		notify_ready();
	return error ? -EINVAL : 0;
}

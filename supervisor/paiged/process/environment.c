/* environment.c - see environment.h. Called by process.c for every start. Pure but for
 * memory. */
#include "supervisor/paiged/process/environment.h"
#include "common/base/alloc.h"

#include "common/base/inherited.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
	char **items;
	size_t count, room;
};

static void add(struct list *l, char *entry)
{
	if (l->count + 1 >= l->room) {
		l->room = l->room ? l->room * 2 : 64;
		l->items = xreallocarray(l->items, l->room, sizeof(*l->items));
	}
	l->items[l->count++] = entry;
	l->items[l->count] = NULL;
}

__attribute__((format(printf, 2, 3))) static void add_printf(
	struct list *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(l, xvasprintf(format, args));
	va_end(args);
}

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Set anew for each worker, or meant for the supervisor alone. */
static bool is_own(const char *entry)
{
	static const char *const prefixes[] = {"PAIGE_WORKER=", "PAIGE_GENERATION=",
		"PAIGE_RUNTIME_DIR=", "PAIGE_BROKER=", SETTINGS_PROJECT_SPELLING "=",
		"PAIGE_EPOCH=", "PAIGE_TOKEN=", "PAIGE_LISTEN_FDS=", "NOTIFY_SOCKET=",
		"WATCHDOG_PID=", "WATCHDOG_USEC=", "LISTEN_PID=", "LISTEN_FDS=",
		"LISTEN_FDNAMES=", "MAINPID="};
	struct str name = {entry, strcspn(entry, "=")};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (starts(entry, prefixes[i]))
			return true;
	return setting_by_name(name) >= 0;
}

/* PAIGE_... that are the supervisor's own were taken away before. */
static bool is_harmless(const char *entry)
{
	return inherited_harmless(entry) || starts(entry, "PAIGE_");
}

/* Whether a worker is told a setting: all of them are told all but the secrets. */
static bool is_told(
	enum worker_id id, const struct settings *settings, enum setting_id setting)
{
	const char *own = worker_infos[id].needs_setting;

	if (!(setting_info(setting)->flags & SETTING_SECRET))
		return true;
	if (setting != SETTING_ID_anthropic_api_key)
		return own && strcmp(own, setting_info(setting)->name) == 0;
	/* What an agent runs is told nothing that it was not meant to have. */
	return worker_infos[id].needs_api_key &&
	       (id != WORKER_AGENT || settings->agent_api_key);
}

void environment_changes(
	enum worker_id id, const struct settings *settings, struct buf *json)
{
	AUTO_BUF value = {0};
	char between = '{';

	for (int i = 0; i < SETTING_COUNT; i++) {
		enum setting_id setting = (enum setting_id)i;

		if (!(setting_info(setting)->flags & SETTING_RELOAD) ||
			!is_told(id, settings, setting))
			continue;
		buf_clear(&value);
		settings_print(settings, setting, true, &value);
		buf_add_char(json, between);
		between = ',';
		buf_add_json_string(json, str_of(setting_info(setting)->name));
		buf_add_char(json, ':');
		buf_add_json_string(json, buf_str(&value));
	}
	buf_add_char(json, '}');
}

char **environment_for(
	enum worker_id id, const struct environment_given *given, char *const *inherited)
{
	bool trusted = worker_infos[id].needs_api_key;
	struct list l = {0};
	AUTO_BUF keys = {0};

	for (; *inherited; inherited++)
		if (!is_own(*inherited) && (trusted || is_harmless(*inherited)))
			add(&l, xstrdup(*inherited));
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_info *info = setting_info((enum setting_id)i);
		AUTO_BUF value = {0};

		if (!is_told(id, given->settings, (enum setting_id)i))
			continue;
		if (i == SETTING_ID_port)
			buf_printf(&value, "%d", given->port);
		else
			settings_print(given->settings, (enum setting_id)i, true, &value);
		add_printf(&l, "%s=%.*s", info->name, STR_ARG(buf_str(&value)));
	}
	/* A burst needs more blocks of a size at once than a thread keeps at hand by
	 * default (7). */
	if (!trusted)
		add_printf(&l, "GLIBC_TUNABLES=glibc.malloc.tcache_count=100");
	add_printf(&l, "PAIGE_WORKER=%s", worker_infos[id].name);
	add_printf(&l, "PAIGE_GENERATION=%016" PRIx64, given->generation);
	add_printf(&l, "PAIGE_EPOCH=%016" PRIx64, given->epoch);
	bus_keys_print(&given->bus_keys, &keys);
	add_printf(&l, "PAIGE_BUS_KEYS=%.*s", STR_ARG(buf_str(&keys)));
	add_printf(&l, "PAIGE_RUNTIME_DIR=%s", given->runtime_dir);
	if (given->broker)
		add(&l, xstrdup("PAIGE_BROKER=1"));
	if (given->settings->project_spelling)
		add_printf(&l, SETTINGS_PROJECT_SPELLING "=%s",
			given->settings->project_spelling);
	if (id == WORKER_GATEWAY) {
		add_printf(&l, "PAIGE_TOKEN=%s", given->token);
		add_printf(&l, "PAIGE_LISTEN_FDS=%zu", given->listen_count);
	}
	return l.items;
}

void environment_free(char **environment)
{
	for (char **entry = environment; entry && *entry; entry++)
		free(*entry);
	free(environment);
}

/* settings_report.c - see settings_report.h. */
#include "supervisor/shared/settings_report.h"

#include "common/base/inherited.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"

void settings_report(const struct settings *settings, struct buf *out)
{
	struct ctl_setting items[SETTING_COUNT] = {0};
	struct buf values[SETTING_COUNT] = {0};
	struct ctl_config config = {.settings = {.items = items, .count = SETTING_COUNT}};

	for (int i = 0; i < SETTING_COUNT; i++) {
		enum setting_id id = (enum setting_id)i;

		settings_print(settings, id, false, &values[i]);
		items[i] = (struct ctl_setting){.name = str_of(setting_info(id)->name),
			.value = values[i].len ? buf_str(&values[i]) : STR_LIT(""),
			.source = str_of(
				setting_source_name(settings_source(settings, id))),
			.meaning = str_of(setting_info(id)->meaning)};
	}
	proto_encode(ctl_config_type(), &config, out);
	for (int i = 0; i < SETTING_COUNT; i++)
		buf_free(&values[i]);
}

/* Appends a value without the name and password that may stand in its addresses. */
static void add_without_login(struct str value, struct buf *out)
{
	size_t at = 0;

	while (at < value.len) {
		struct str rest = {value.ptr + at, value.len - at};
		size_t authority, sign;

		buf_add_char(out, value.ptr[at++]);
		if (!str_starts(rest, "://"))
			continue;
		buf_add_str(out, STR_LIT("//"));
		at += 2;
		for (authority = at; authority < value.len &&
				     !strchr("/?# \"'", value.ptr[authority]);)
			authority++;
		for (sign = authority; sign > at && value.ptr[sign - 1] != '@';)
			sign--;
		if (sign > at) {
			buf_add_str(out, STR_LIT("********@"));
			at = sign;
		}
	}
}

void settings_log(const struct settings *settings, const struct settings *before)
{
	struct str rest = buf_str(&settings->warnings), line;

	while (before && str_take_line(&rest, &line))
		log_warn("part of the configuration is ignored", "problem", "%.*s",
			STR_ARG(line), NULL);
	for (int i = 0; i < SETTING_COUNT; i++) {
		enum setting_id id = (enum setting_id)i;
		AUTO_BUF value = {0}, shown = {0};

		if (!(setting_info(id)->flags & SETTING_RISKY) ||
			settings_source(settings, id) == SETTING_DEFAULT ||
			(before && !settings_differ(before, settings, id)))
			continue;
		settings_print(settings, id, false, &value);
		add_without_login(buf_str(&value), &shown);
		log_info("setting that decides where data goes or what runs", "name",
			"%s", setting_info(id)->name, "value", "%.*s",
			STR_ARG(buf_str(&shown)), "from", "%s",
			settings_origin(settings, id), NULL);
	}
}

void settings_log_network(char *const *environment)
{
	for (; *environment; environment++) {
		struct str name = {*environment, strcspn(*environment, "=")};
		AUTO_BUF shown = {0};

		if (!inherited_network(*environment))
			continue;
		add_without_login(str_of(*environment + name.len + 1), &shown);
		log_info("variable that decides how the network is reached", "name",
			"%.*s", STR_ARG(name), "value", "%.*s", STR_ARG(buf_str(&shown)),
			NULL);
	}
}

/* settings_report.c - see settings_report.h. */
#include "supervisor/settings_report.h"

#include "proto/messages.h"

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

/*
 * settings_values.h - what settings.c needs of a single setting; everybody else uses
 * settings.h.
 */
#pragma once

#include "common/settings/settings.h"

/* Where the value is in *s. */
void *setting_member(const struct settings *s, enum setting_id id);
/* TEXT or PATH: the member is a char * that *s owns. */
bool setting_is_text(enum setting_kind kind);
/* Reads `text` strictly ("12abc" is no number) and writes the member. 0, or -EINVAL with
 * it untouched. */
int setting_set(struct settings *s, enum setting_id id, const char *text)
	__attribute__((warn_unused_result));
/* Appends the rule that a value must keep, for a message. */
void setting_rule(enum setting_id id, struct buf *out);
/* Appends the value in quotes for a message: secrets masked, control characters escaped,
 * long ones cut. */
void setting_show_value(enum setting_id id, struct str value, struct buf *out);

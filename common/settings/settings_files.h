/*
 * settings_files.h - what settings.c needs of its files; everybody else uses settings.h.
 */
#pragma once

#include "common/settings/settings.h"

/* A value as it was found, before it is understood. `text` is the holder's, NULL when
 * nobody set it. */
struct candidate {
	char *text;
	enum setting_source source;
};

/* Takes `value`. Blanks at the ends are never meant, except in the name of a directory;
 * nothing but blanks is empty (P1.4). */
void candidate_propose(struct candidate *c, enum setting_id id, struct str value,
	enum setting_source source);
void candidates_forget(struct candidate candidates[SETTING_COUNT]);
/*
 * Reads .env, and `config_file` or paige.conf at its place, for what nobody has proposed:
 * the environment's values stand in `candidates` already. What cannot be used goes to
 * *problems, what is ignored to s->warnings; sets the paths in *s.
 */
void settings_read_files(struct settings *s, struct candidate candidates[SETTING_COUNT],
	const char *config_file, struct buf *problems);

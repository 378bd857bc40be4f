/* environment.h - the environment of an agent. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/str.h"
#include <stdbool.h>

/* In the order of the setting's choices. */
enum agent_key { AGENT_KEY_OWN, AGENT_KEY_PAIGE };

/* `inherited` without what belongs to Paige: its settings and PAIGE_...; with `key` the
 * API key and the address of the API stay. Borrows the entries. */
char **environment_for_agent(char *const *inherited, bool key, struct arena *arena);
/* `base` with the assignments of a file (common/settings/envfile.h), which count more. The new
 * list, or NULL with the *line that is no assignment of a name. */
char **environment_with(
	char *const *base, struct str file, struct arena *arena, int *line);
/* What a variable is set to, within the entry; NULL: it is not set. */
const char *environment_value(char *const *list, const char *name);

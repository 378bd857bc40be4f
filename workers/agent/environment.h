/* environment.h - what an agent finds in its environment. Pure. */
#ifndef PAIGE_AGENT_ENVIRONMENT_H
#define PAIGE_AGENT_ENVIRONMENT_H

#include "common/arena.h"
#include <stdbool.h>

/* In the order of the setting's choices. */
enum agent_key { AGENT_KEY_OWN, AGENT_KEY_PAIGE };

/* `inherited` without what belongs to Paige: its settings and PAIGE_...; with `key` the
 * API key and the address of the API stay. Borrows the entries. */
char **environment_for_agent(char *const *inherited, bool key, struct arena *arena);

#endif

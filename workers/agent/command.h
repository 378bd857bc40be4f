/*
 * command.h - AGENT_COMMAND as arguments, and the flags of stream-json behind it (rulings
 * 003.1). Pure.
 */
#ifndef PAIGE_AGENT_COMMAND_H
#define PAIGE_AGENT_COMMAND_H

#include "common/arena.h"

#define COMMAND_MAX_ARGUMENTS 64

/*
 * Splits at blanks; single and double quotes keep blanks together and a backslash the
 * next character, as a shell does; nothing is expanded. 0 with *argv ended by NULL, of
 * the arena; -EINVAL when it is empty or a quote does not end; -E2BIG.
 */
int command_split(const char *text, struct arena *arena, char ***argv)
	__attribute__((warn_unused_result));

/* `base` with print mode, stream-json in both directions and requests for permissions put
 * to us, and the session behind all others: its id is given (fresh) or resumed. */
char **command_for_session(
	char *const *base, const char *session_id, bool resume, struct arena *arena);

#endif

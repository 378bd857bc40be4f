/*
 * command.h - AGENT_COMMAND as arguments, and the flags of stream-json behind it. Pure.
 */
#pragma once

#include "common/base/arena.h"

#define COMMAND_MAX_ARGUMENTS 64

/*
 * Splits at blanks; single and double quotes keep blanks together and a backslash the
 * next character, as a shell does; nothing is expanded. 0 with *argv ended by NULL, of
 * the arena; -EINVAL when it is empty or a quote does not end; -E2BIG.
 */
int command_split(const char *text, struct arena *arena, char ***argv)
	__attribute__((warn_unused_result));

/* What a session adds to the command. */
struct command_session {
	const char *id;
	bool resume;	 /* the program knows the session; else it is given the id */
	const char *mcp; /* a file of MCP servers; NULL for none */
};

/* `base` with print mode, stream-json in both directions, requests for permissions put to
 * us and the MCP servers, unless it says itself whom to ask and what servers there are;
 * the session behind all others. */
char **command_for_session(
	char *const *base, const struct command_session *session, struct arena *arena);

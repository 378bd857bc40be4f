/* command.c - see command.h. */
#include "workers/agent/process/command.h"
#include <errno.h>

struct splitter {
	const char *at;
	char *out; /* where the next character goes */
};

/* Copies one word, which ends at a blank or at the end. 0 or -EINVAL. */
static int take_word(struct splitter *s)
{
	char quote = '\0';

	for (; *s->at; s->at++) {
		char c = *s->at;

		if (!quote && (c == ' ' || c == '\t'))
			break;
		if (!quote && (c == '\'' || c == '"')) {
			quote = c;
		} else if (c == quote) {
			quote = '\0';
		} else if (c == '\\' && quote != '\'') {
			if (!*++s->at)
				return -EINVAL;
			*s->out++ = *s->at;
		} else {
			*s->out++ = c;
		}
	}
	*s->out++ = '\0';
	return quote ? -EINVAL : 0;
}

int command_split(const char *text, struct arena *arena, char ***argv)
{
	struct splitter s = {.at = text, .out = arena_alloc(arena, strlen(text) + 2)};
	char **list = arena_array(arena, COMMAND_MAX_ARGUMENTS + 1, sizeof(*list));
	size_t count = 0;

	for (;;) {
		s.at += strspn(s.at, " \t");
		if (!*s.at)
			break;
		if (count == COMMAND_MAX_ARGUMENTS)
			return -E2BIG;
		list[count++] = s.out;
		if (take_word(&s) < 0)
			return -EINVAL;
	}
	if (count == 0 || !*list[0])
		return -EINVAL;
	*argv = list;
	return 0;
}

/* True when the command names this flag, with or without a value behind "=". */
static bool has_flag(char *const *argv, const char *flag)
{
	size_t len = strlen(flag);

	for (; *argv; argv++)
		if (strncmp(*argv, flag, len) == 0 &&
			((*argv)[len] == '\0' || (*argv)[len] == '='))
			return true;
	return false;
}

char **command_for_session(
	char *const *base, const struct command_session *session, struct arena *arena)
{
	static const char *const flags[] = {"--print", "--verbose", "--input-format",
		"stream-json", "--output-format", "stream-json",
		"--include-partial-messages", "--replay-user-messages"};
	static const char ask_flag[] = "--permission-prompt-tool",
			  mcp_flag[] = "--mcp-config";
	const size_t flag_count = sizeof(flags) / sizeof(flags[0]);
	size_t n = 0;
	char **argv;

	while (base[n])
		n++;
	argv = arena_array(arena, n + flag_count + 7, sizeof(*argv));
	memcpy(argv, base, n * sizeof(*argv));
	for (size_t i = 0; i < flag_count; i++)
		argv[n++] = arena_cstr(arena, str_of(flags[i]));
	if (!has_flag(base, ask_flag)) {
		argv[n++] = arena_cstr(arena, str_of(ask_flag));
		argv[n++] = arena_cstr(arena, STR_LIT("stdio"));
	}
	if (session->mcp && !has_flag(base, mcp_flag)) {
		argv[n++] = arena_cstr(arena, str_of(mcp_flag));
		argv[n++] = arena_cstr(arena, str_of(session->mcp));
	}
	argv[n++] =
		arena_cstr(arena, str_of(session->resume ? "--resume" : "--session-id"));
	argv[n] = arena_cstr(arena, str_of(session->id));
	return argv;
}

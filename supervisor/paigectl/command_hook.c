/*
 * command_hook.c - paigectl hook and edits: what the plugin for Claude Code asks (config/claude-code).
 *
 * A hook reads one event from standard input and answers on standard output. Whatever goes wrong, it says nothing and
 * exits with 0, so that Claude Code goes on as if it were not there.
 */
#include "common/base/file_io.h"
#include "common/base/private_file.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An event holds the prompt, or the text of a whole file. */
#define EVENT_MAX (32u * 1024 * 1024)
/* For everything. A daemon that is slower is treated as one that is not there. */
#define LIMIT_SECONDS 3
#define ASK_MS 2000
/* Of the files that are told. */
#define FILES_MAX 20
/* In DATA_DIR: the id of the session in which Claude may edit. */
#define ALLOWED_FILE "edits-allowed"
#define SESSION_MAX 64

/* ---- whether Claude may edit ---- */

static const char *allowed_file(struct arena *arena, struct str data_dir)
{
	return arena_printf(arena, "%.*s/" ALLOWED_FILE, STR_ARG(data_dir)).ptr;
}

static bool allowed(struct str data_dir, struct str session)
{
	AUTO_ARENA arena = {0};
	AUTO_BUF text = {0};

	return file_read_named(AT_FDCWD, allowed_file(&arena, data_dir), SESSION_MAX,
		       &text) == 0 &&
	       str_eq(buf_str(&text), session);
}

/* ---- answers ---- */

/* `members` are JSON, of the answer to this event. */
static void answer(const char *event, const struct buf *members)
{
	printf("{\"hookSpecificOutput\":{\"hookEventName\":\"%s\",%.*s}}\n", event,
		STR_ARG(buf_str(members)));
}

static void decide(const char *decision, const char *reason)
{
	AUTO_BUF members = {0};

	buf_printf(&members,
		"\"permissionDecision\":\"%s\",\"permissionDecisionReason\":", decision);
	buf_add_json_string(&members, str_of(reason));
	answer("PreToolUse", &members);
}

static void tell(struct str context)
{
	AUTO_BUF members = {0};

	buf_add_str(&members, STR_LIT("\"additionalContext\":"));
	buf_add_json_string(&members, context);
	answer("UserPromptSubmit", &members);
}

/* ---- before a tool is used ---- */

/* The path that an edit is about, absolute; NULL: none. */
static const char *edited_path(yyjson_val *event)
{
	yyjson_val *input = yyjson_obj_get(event, "tool_input");
	const char *path = yyjson_get_str(yyjson_obj_get(input, "file_path"));

	return path ? path : yyjson_get_str(yyjson_obj_get(input, "notebook_path"));
}

/* A tool of the server that .mcp.json of the plugin, or a person, calls paige. */
static bool is_ours(const char *tool)
{
	return str_starts(str_of(tool), "mcp__plugin_paige_paige__") ||
	       str_starts(str_of(tool), "mcp__paige__");
}

static void before_tool(yyjson_val *event)
{
	const char *tool = yyjson_get_str(yyjson_obj_get(event, "tool_name"));
	const char *path = edited_path(event);
	struct machine m;
	const struct machine_entry *daemon;

	if (!tool)
		return;
	if (is_ours(tool)) {
		decide("allow", "Paige's tools change no file.");
		return;
	}
	machine_look(&m);
	daemon = path ? machine_of_project(&m, path) : NULL;
	if (daemon && daemon->session.len &&
		!allowed(daemon->shown.data_dir, daemon->session))
		decide("deny",
			"A coaching session runs in this project: the learner writes the "
			"code. Explain, hint "
			"and review instead; paige_highlight_lines and "
			"paige_show_message point at places. If the "
			"learner wants you to edit, they run `paigectl edits allow`.");
	machine_free(&m);
}

/* ---- at each prompt ---- */

static void add_files(yyjson_val *buffers, struct buf *out)
{
	yyjson_val *buffer;
	size_t i, max, told = 0, unsaved = 0;

	yyjson_arr_foreach(buffers, i, max, buffer)
	{
		if (!yyjson_get_bool(yyjson_obj_get(buffer, "dirty")))
			continue;
		unsaved++;
		if (told == FILES_MAX)
			continue;
		buf_printf(out, "%s%s",
			told++ ? ", "
			       : "Unsaved in the editor, so the files on disk are "
				 "older: ",
			yyjson_get_str(yyjson_obj_get(buffer, "path")));
	}
	if (unsaved > told)
		buf_printf(out, " and %zu more", unsaved - told);
	if (told)
		buf_add_str(out, STR_LIT(". Read them with paige_get_buffer.\n"));
}

static void add_session(yyjson_val *state, struct buf *out)
{
	yyjson_val *session = yyjson_obj_get(state, "session"),
		   *phase = yyjson_obj_get(state, "phase");
	const char *level = yyjson_get_str(yyjson_obj_get(session, "hintLevel"));

	if (!yyjson_is_obj(session))
		return;
	buf_add_str(out, STR_LIT("A coaching session of Paige runs."));
	if (level)
		buf_printf(out, " The learner wants help of the level %s.", level);
	if (yyjson_is_obj(phase))
		buf_printf(out, " Phase %d: %s.",
			(int)yyjson_get_sint(yyjson_obj_get(phase, "number")),
			yyjson_get_str(yyjson_obj_get(phase, "title")));
	buf_add_char(out, '\n');
}

/* What the daemon answers at a path; NULL when it does not. */
static yyjson_doc *ask(const struct machine_entry *daemon, const char *path)
{
	AUTO_PLACE place = {0};
	yyjson_doc *doc = NULL;

	machine_place(daemon, &place);
	if (gateway_ask(&place, path, NULL, ASK_MS, &doc) != 0)
		doc = NULL;
	return doc;
}

static void at_prompt(yyjson_val *event)
{
	const char *cwd = yyjson_get_str(yyjson_obj_get(event, "cwd"));
	const struct machine_entry *daemon;
	AUTO_DOC *state = NULL, *files = NULL;
	struct machine m;
	AUTO_BUF text = {0};

	machine_look(&m);
	daemon = cwd ? machine_of_project(&m, cwd) : NULL;
	if (daemon) {
		files = ask(daemon, "/unsaved");
		state = daemon->session.len ? ask(daemon, "/session") : NULL;
	}
	add_session(yyjson_doc_get_root(state), &text);
	add_files(yyjson_obj_get(yyjson_doc_get_root(files), "buffers"), &text);
	if (text.len)
		tell(buf_str(&text));
	machine_free(&m);
}

/* ---- hook ---- */

static void on_alarm(int number)
{
	(void)number;
	_exit(PAIGECTL_DONE);
}

static bool read_event(struct buf *out)
{
	ssize_t n;

	while (out->len <= EVENT_MAX &&
		(n = read(STDIN_FILENO, buf_reserve(out, 65536), 65536)) > 0)
		out->len += (size_t)n;
	return out->len <= EVENT_MAX;
}

int paigectl_hook(const struct options *o)
{
	AUTO_BUF text = {0};
	struct proto_error problem;
	AUTO_DOC *doc = NULL;
	yyjson_val *event;
	const char *name;

	(void)o;
	signal(SIGALRM, on_alarm);
	alarm(LIMIT_SECONDS);
	/* What would be said about a daemon that is away is nobody's concern. */
	if (!freopen("/dev/null", "w", stderr))
		return PAIGECTL_DONE;
	if (read_event(&text))
		doc = proto_parse(buf_str(&text), &problem);
	event = yyjson_doc_get_root(doc);
	name = yyjson_get_str(yyjson_obj_get(event, "hook_event_name"));
	if (name && strcmp(name, "PreToolUse") == 0)
		before_tool(event);
	else if (name && strcmp(name, "UserPromptSubmit") == 0)
		at_prompt(event);
	return PAIGECTL_DONE;
}

/* ---- edits ---- */

static int allow(const char *file, struct str session)
{
	int error = private_file_replace(file, session);

	return error ? paigectl_fail(PAIGECTL_FAILED, "cannot write %s: %s", file,
			       strerror(-error))
		     : PAIGECTL_DONE;
}

static int refuse(const char *file)
{
	return unlink(file) < 0 && errno != ENOENT
		       ? paigectl_fail(PAIGECTL_FAILED, "cannot remove %s: %s", file,
				 strerror(errno))
		       : PAIGECTL_DONE;
}

static void print_edits(const struct paigectl_edits *now, const char *what)
{
	if (strcmp(what, "refuse") == 0)
		puts("Claude may not edit the learner's files while a session runs.");
	else if (!now->session)
		puts("No coaching session runs: Claude may edit.");
	else if (strcmp(what, "allow") == 0)
		puts("Claude may edit the learner's files until this session ends.");
	else
		printf("A coaching session runs: Claude %s edit the learner's files.\n",
			now->allowed ? "may" : "may not");
}

static int steer(
	const struct options *o, const struct ctl_status *daemon, const char *what)
{
	struct paigectl_edits now = {.session = daemon->session.len > 0,
		.has_session = true,
		.has_allowed = true};
	AUTO_ARENA arena = {0};
	const char *file = allowed_file(&arena, daemon->data_dir);
	int code = PAIGECTL_DONE;

	if (strcmp(what, "refuse") == 0)
		code = refuse(file);
	else if (strcmp(what, "allow") == 0 && now.session)
		code = allow(file, daemon->session);
	if (code != PAIGECTL_DONE)
		return code;
	now.allowed = !now.session || allowed(daemon->data_dir, daemon->session);
	if (options_get(o, "json"))
		return paigectl_print_message(paigectl_edits_type(), &now);
	print_edits(&now, what);
	return PAIGECTL_DONE;
}

int paigectl_edits(const struct options *o)
{
	const char *what = o->operand_count > 0 ? o->operands[0] : "";
	AUTO_PLACE place = {0};
	AUTO_ARENA arena = {0};
	struct ctl_status daemon;
	AUTO_DOC *doc = NULL;
	int code;

	if (*what && strcmp(what, "allow") != 0 && strcmp(what, "refuse") != 0)
		return paigectl_fail(PAIGECTL_USAGE, "\"%s\": allow or refuse", what);
	code = place_find(o, &place);
	if (code == PAIGECTL_DONE)
		code = client_status(&place, ASK_MS, &arena, &daemon, &doc);
	if (code == PAIGECTL_DONE)
		code = steer(o, &daemon, what);
	return code;
}

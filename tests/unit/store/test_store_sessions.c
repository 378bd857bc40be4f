/* Sessions, hint levels, phases, editor tools and the session state. */
#include "tests/unit/store/store_fixture.h"

#define PLAN                                                                             \
	"INSERT INTO plans VALUES ('plan', (SELECT id FROM sessions WHERE status = "     \
	"'active'), 'text', "                                                            \
	"'2026-01-01T00:00:00.000Z');"                                                   \
	"INSERT INTO phases VALUES ('p1', 'plan', 1, 'One', 'Do one', 'pending', "       \
	"'file', '[\"a.ts\"]', "                                                         \
	"NULL, NULL), ('p2', 'plan', 2, 'Two', 'Do two', 'pending', 'line', '[]', "      \
	"NULL, NULL), "                                                                  \
	"('p3', 'plan', 3, 'Three', 'Do three', 'pending', 'none', '[]', NULL, NULL)"

static const char *start_session(void)
{
	must_call(METHOD_SESSION_START, NULL, "{\"issueNumber\":7}");
	return arena_cstr(&fixture_arena, str_of(store.sessions.active.id));
}

static void start_with_plan(void)
{
	start_session();
	execute(PLAN);
}

START_TEST(a_session_starts_ends_and_goes_on)
{
	const char *id = start_session();
	struct call *call;
	char want[256];

	ck_assert_str_eq(rows("SELECT project_dir, issue_number, issue_title, status, "
			      "ended_at FROM sessions"),
		"/project|7|-|active|-");
	ck_assert_str_eq(rows("SELECT action_type, data FROM action_log"),
		"session_started|{\"issueNumber\":7}");
	call = must_call(METHOD_SESSION_ACTIVE, NULL, "{}");
	ck_assert_ptr_nonnull(strstr(call->outcome.answer.ptr, id));
	must_call(METHOD_HINTS_LEVEL_CHANGE, NULL, "{\"level\":\"region\"}");
	call = must_call(METHOD_SESSION_END, NULL, "{}");
	snprintf(want, sizeof(want), "{\"sessionId\":\"%s\",\"issueNumber\":7}\n", id);
	ck_assert_str_eq(published(call, "session/ended"), want);
	ck_assert_str_eq(
		rows("SELECT status, ended_at IS NOT NULL FROM sessions"), "abandoned|1");
	refused_call(METHOD_SESSION_END, "{}", ERROR_NO_SESSION);
	answered(must_call(METHOD_SESSION_ACTIVE, NULL, "{}"), "{\"sessionId\":null}");

	snprintf(want, sizeof(want), "{\"sessionId\":\"%s\"}", id);
	call = must_call(METHOD_SESSION_RESUME, NULL, want);
	ck_assert_str_eq(rows("SELECT status, ended_at FROM sessions"), "active|-");
	ck_assert_int_eq(store.sessions.hint_level, HINT_LEVEL_REGION);
	ck_assert_str_eq(
		rows("SELECT data FROM action_log WHERE action_type = 'session_resumed'"),
		arena_printf(&fixture_arena, "{\"previousSessionId\":\"%s\"}", id).ptr);
	refused_call(
		METHOD_SESSION_RESUME, "{\"sessionId\":\"nobody\"}", ERROR_NOT_FOUND);
	ck_assert_str_eq(store.sessions.active.id, id);
}
END_TEST

START_TEST(one_session_is_active_at_most)
{
	const char *first = start_session(), *second = start_session();
	char want[128];

	ck_assert_str_ne(first, second);
	ck_assert_str_eq(
		rows("SELECT status FROM sessions ORDER BY rowid"), "abandoned\nactive");
	ck_assert_str_eq(rows("SELECT action_type FROM action_log ORDER BY rowid"),
		"session_started\nsession_ended\nsession_started");
	snprintf(want, sizeof(want), "{\"sessionId\":\"%s\"}", first);
	must_call(METHOD_SESSION_RESUME, NULL, want);
	ck_assert_str_eq(
		rows("SELECT status FROM sessions ORDER BY rowid"), "active\nabandoned");
	/* A file in which two claim it: the newest one goes on (P5.1). */
	execute("UPDATE sessions SET status = 'active', ended_at = NULL");
	execute("INSERT INTO sessions VALUES ('old', '/p', 1, NULL, 'active', "
		"'2020-01-01T00:00:00.000Z', NULL)");
	fixture_restart();
	ck_assert_str_eq(store.sessions.active.id, second);
	ck_assert_str_eq(rows("SELECT status FROM sessions ORDER BY rowid"),
		"abandoned\nactive\nabandoned");
}
END_TEST

START_TEST(a_wrapped_up_session_is_completed)
{
	const char *id = start_session();
	char json[128];
	struct call *call;
	const char *key = new_key();

	answered(must_call(METHOD_SESSION_NEWEST, NULL, "{}"),
		arena_printf(&fixture_arena,
			"{\"sessionId\":\"%s\",\"status\":\"active\"}", id)
			.ptr);
	snprintf(json, sizeof(json), "{\"sessionId\":\"%s\"}", id);
	refused_call(
		METHOD_SESSION_COMPLETE, "{\"sessionId\":\"another\"}", ERROR_NO_SESSION);
	call = must_call(METHOD_SESSION_COMPLETE, key, json);
	ck_assert_ptr_nonnull(
		strstr(call->outcome.answer.ptr, "\"status\":\"completed\""));
	fixture_restart();
	/* Repeated after a crash: the same answer, no second row. */
	ck_assert(str_eq(must_call(METHOD_SESSION_COMPLETE, key, json)->outcome.answer,
		call->outcome.answer));
	refused_call(METHOD_SESSION_COMPLETE, json, ERROR_NO_SESSION);
	ck_assert_str_eq(rows("SELECT count(*) FROM action_log WHERE action_type = "
			      "'session_ended'"),
		"1");
	ck_assert_str_eq(rows("SELECT status FROM sessions"), "completed");
}
END_TEST

START_TEST(titles_come_later)
{
	const char *id = start_session();

	must_call(METHOD_SESSION_SET_TITLE, NULL,
		arena_printf(&fixture_arena,
			"{\"sessionId\":\"%s\",\"issueTitle\":\"It's late\"}", id)
			.ptr);
	ck_assert_str_eq(rows("SELECT issue_title FROM sessions"), "It's late");
	refused_call(METHOD_SESSION_SET_TITLE,
		"{\"sessionId\":\"x\",\"issueTitle\":\"t\"}", ERROR_NOT_FOUND);
}
END_TEST

START_TEST(hint_levels_are_kept_and_escalations_recorded)
{
	start_with_plan();
	must_call(METHOD_HINTS_LEVEL_CHANGE, NULL, "{\"level\":1}");
	ck_assert_str_eq(rows("SELECT count(*) FROM progress_events"),
		"0"); /* no phase is active */
	execute("UPDATE phases SET status = 'active' WHERE number IN (2, 3)");
	must_call(METHOD_HINTS_LEVEL_CHANGE, NULL, "{\"level\":3}");
	must_call(METHOD_HINTS_LEVEL_CHANGE, NULL, "{\"level\":2,\"previousLevel\":3}");
	ck_assert_str_eq(rows("SELECT data FROM action_log WHERE action_type = "
			      "'hint_level_change' ORDER BY rowid"),
		"{\"level\":1,\"previousLevel\":0}\n{\"level\":3,\"previousLevel\":1}\n"
		"{\"level\":2,\"previousLevel\":3}");
	/* Of the active phase with the lowest number (P6.9). */
	ck_assert_str_eq(rows("SELECT phase_id, event_type FROM progress_events"),
		"p2|hint_escalated");
	fixture_restart();
	ck_assert_int_eq(store.sessions.hint_level, 2);
}
END_TEST

/* ---- phases ---- */

START_TEST(phases_move_forward_only)
{
	static const struct {
		const char *json;
		int error; /* -1: none */
		const char *statuses, *logged;
	} steps[] = {
		{"{\"phase\":1,\"status\":\"active\"}", -1, "active,pending,pending",
			"phase_started 1"},
		{"{\"phase\":1,\"status\":\"active\"}", -1, "active,pending,pending", ""},
		{"{\"phase\":2,\"status\":\"complete\"}", -1, "active,complete,pending",
			"phase_started 2,phase_completed 2"},
		{"{\"phase\":2,\"status\":\"active\"}", ERROR_NOT_ALLOWED,
			"active,complete,pending", ""},
		{"{\"phase\":1,\"status\":\"complete\"}", -1, "complete,complete,pending",
			"phase_completed 1"},
		{"{\"phase\":9,\"status\":\"active\"}", ERROR_NOT_FOUND,
			"complete,complete,pending", ""},
		{"{\"phase\":3,\"status\":\"active\"}", -1, "complete,complete,active",
			"phase_started 3"},
	};

	refused_call(METHOD_PHASE_UPDATE, "{\"phase\":1,\"status\":\"active\"}",
		ERROR_NO_SESSION);
	start_session();
	refused_call(METHOD_PHASE_UPDATE, "{\"phase\":1,\"status\":\"active\"}",
		ERROR_NOT_FOUND);
	execute(PLAN);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct call *call;

		execute("DELETE FROM action_log");
		call = run_call(METHOD_PHASE_UPDATE, NULL, steps[i].json);
		if (steps[i].error < 0)
			ck_assert_msg(!call->outcome.error, "%s", steps[i].json);
		else
			ck_assert_ptr_eq(
				call->outcome.error, &error_code_infos[steps[i].error]);
		ck_assert_str_eq(rows("SELECT group_concat(status) FROM (SELECT status "
				      "FROM phases ORDER BY number)"),
			steps[i].statuses);
		ck_assert_str_eq(
			rows("SELECT coalesce(group_concat(action_type || ' ' || "
			     "json_extract(data, '$.phaseNumber')), '') FROM action_log"),
			steps[i].logged);
		/* Windows hear of what changed, and of nothing else (EC-32). */
		ck_assert_int_eq(published(call, "ui/coaching:phase_update")[0] != '\0',
			steps[i].logged[0] != '\0');
	}
	ck_assert_str_eq(
		rows("SELECT count(*) FROM phases WHERE status = 'complete' "
		     "AND started_at IS NOT NULL AND completed_at >= started_at"),
		"2");
}
END_TEST

START_TEST(a_phase_change_repeated_after_a_kill_tells_the_windows)
{
	const char *key = new_key();
	struct call *first, *again;

	start_with_plan();
	first = must_call(
		METHOD_PHASE_UPDATE, key, "{\"phase\":1,\"status\":\"active\"}");
	fixture_restart();
	again = must_call(
		METHOD_PHASE_UPDATE, key, "{\"phase\":1,\"status\":\"active\"}");
	ck_assert(str_eq(first->outcome.answer, again->outcome.answer));
	ck_assert_str_eq(published(again, "ui/coaching:phase_update"),
		published(first, "ui/coaching:phase_update"));
	ck_assert_str_eq(rows("SELECT count(*) FROM action_log WHERE action_type = "
			      "'phase_started'"),
		"1");
}
END_TEST

/* ---- tools ---- */

START_TEST(tools_log_and_publish)
{
	static const struct {
		enum method method;
		const char *json, *topic, *body, *logged;
	} cases[] = {
		{METHOD_UI_HIGHLIGHT_LINES,
			"{\"path\":\"a\",\"start\":1,\"end\":2,\"style\":\"focus\","
			"\"hoverText\":\"h\"}",
			"ui/editor:highlight_lines",
			"{\"path\":\"a\",\"start\":1,\"end\":2,\"style\":\"focus\","
			"\"hoverText\":\"h\"}\n",
			"decorations_applied|{\"path\":\"a\",\"count\":1}"},
		{METHOD_UI_CLEAR_HIGHLIGHTS, "{}", "ui/editor:clear_highlights", "{}\n",
			""},
		{METHOD_UI_CLEAR_HIGHLIGHTS, "{\"path\":\"a\"}",
			"ui/editor:clear_highlights", "{\"path\":\"a\"}\n", ""},
		{METHOD_UI_HINT_FILES, "{\"paths\":[\"a\",\"b\"],\"style\":\"subtle\"}",
			"ui/explorer:hint_files",
			"{\"hints\":[{\"path\":\"a\",\"style\":\"subtle\"},{\"path\":"
			"\"b\","
			"\"style\":\"subtle\"}],\"paths\":[\"a\",\"b\"],\"style\":"
			"\"subtle\"}\n",
			"file_hints_applied|{\"paths\":[\"a\",\"b\"]}"},
		{METHOD_UI_HINT_FILES,
			"{\"hints\":[{\"path\":\"a\",\"style\":\"error\",\"directories\":"
			"[\"d\"]}]}",
			"ui/explorer:hint_files",
			"{\"hints\":[{\"path\":\"a\",\"style\":\"error\",\"directories\":"
			"[\"d\"]}]}\n",
			"file_hints_applied|{\"paths\":[\"a\"]}"},
		{METHOD_UI_CLEAR_HINTS, "{}", "ui/explorer:clear_hints", "{}\n", ""},
		{METHOD_UI_SHOW_MESSAGE, "{\"message\":\"m\",\"type\":\"hint\"}",
			"ui/coaching:message", "{\"message\":\"m\",\"type\":\"hint\"}\n",
			"coaching_message|{\"messageType\":\"hint\"}"},
		{METHOD_UI_SHOW_ISSUE_CONTEXT,
			"{\"title\":\"t\",\"summary\":\"s\",\"labels\":[\"l\"]}",
			"ui/coaching:issue_context",
			"{\"title\":\"t\",\"summary\":\"s\",\"labels\":[\"l\"]}\n", ""},
	};

	/* Without a session they work just the same, but log nothing (P6.12). */
	for (int with_session = 0; with_session < 2; with_session++) {
		if (with_session)
			start_session();
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct call *call;

			execute("DELETE FROM action_log");
			call = must_call(cases[i].method, NULL, cases[i].json);
			answered(call, "{\"success\":true}");
			ck_assert_str_eq(published(call, cases[i].topic), cases[i].body);
			ck_assert_str_eq(rows("SELECT action_type, data FROM action_log "
					      "WHERE action_type <> 'mcp_tool_call'"),
				with_session ? cases[i].logged : "");
			ck_assert_str_eq(rows("SELECT count(*) FROM action_log WHERE "
					      "action_type = 'mcp_tool_call'"),
				with_session ? "1" : "0");
		}
	}
	refused_call(METHOD_UI_HIGHLIGHT_LINES,
		"{\"path\":\"a\",\"start\":3,\"end\":2,\"style\":\"hint\"}",
		ERROR_INVALID_MESSAGE);
	refused_call(METHOD_UI_HINT_FILES, "{}", ERROR_INVALID_MESSAGE);
	refused_call(METHOD_UI_HINT_FILES, "{\"paths\":[\"a\"]}", ERROR_INVALID_MESSAGE);
}
END_TEST

START_TEST(hints_are_progress_of_the_active_phase)
{
	start_with_plan();
	execute("UPDATE phases SET status = 'active' WHERE number = 1");
	must_call(METHOD_UI_HIGHLIGHT_LINES, NULL,
		"{\"path\":\"a\",\"start\":1,\"end\":1,\"style\":\"hint\"}");
	must_call(METHOD_UI_HINT_FILES, NULL, "{\"paths\":[\"a\"],\"style\":\"subtle\"}");
	must_call(METHOD_UI_SHOW_MESSAGE, NULL, "{\"message\":\"m\",\"type\":\"info\"}");
	ck_assert_str_eq(
		rows("SELECT phase_id, event_type FROM progress_events ORDER BY rowid"),
		"p1|hint_used\np1|hint_used");
}
END_TEST

/* ---- state ---- */

START_TEST(state_items_are_those_asked_for)
{
	struct call *call;

	refused_call(METHOD_SESSION_STATE, "{\"include\":[\"phase\"]}", ERROR_NO_SESSION);
	start_session();
	answered(must_call(METHOD_SESSION_STATE, NULL,
			 "{\"include\":[\"plan\",\"phase\",\"hints\",\"progress\","
			 "\"dreyfus\"]}"),
		"{\"phase\":null,\"plan\":null,\"progress\":[],"
		"\"hints\":{\"fileHints\":[],\"lineHints\":[]},\"dreyfus\":[]}");
	execute(PLAN);
	execute("UPDATE phases SET status = 'active' WHERE number = 1;"
		"INSERT INTO phase_hints VALUES ('h1', 'p1', 'file', 'a', NULL, NULL, "
		"'critical', NULL),"
		"('h2', 'p1', 'line', 'b', 1, 2, 'focus', 'look'), ('h3', 'p2', 'file', "
		"'c', NULL, NULL, 'x', NULL);"
		"INSERT INTO progress_events VALUES ('e1', 'p2', 'hint_used', NULL, "
		"'2026-01-01T00:00:02.000Z'),"
		"('e2', 'p1', 'hint_escalated', '{\"n\":1}', '2026-01-01T00:00:01.000Z');"
		"INSERT INTO dreyfus_assessments VALUES ('d', 'css', 'novice', 0.25, "
		"'e', '2026-01-01T00:00:00.000Z')");
	answered(must_call(METHOD_SESSION_STATE, NULL,
			 "{\"include\":[\"plan\",\"phase\",\"hints\",\"progress\","
			 "\"dreyfus\"]}"),
		"{\"phase\":{\"id\":\"p1\",\"number\":1,\"title\":\"One\",\"status\":"
		"\"active\",\"hintLevel\":\"file\"},"
		"\"plan\":{\"id\":\"plan\",\"phases\":[{\"number\":1,\"title\":\"One\","
		"\"status\":\"active\"},"
		"{\"number\":2,\"title\":\"Two\",\"status\":\"pending\"},{\"number\":3,"
		"\"title\":\"Three\",\"status\":\"pending\"}]},"
		"\"progress\":[{\"eventType\":\"hint_escalated\",\"data\":{\"n\":1},"
		"\"createdAt\":\"2026-01-01T00:00:01.000Z\"},"
		"{\"eventType\":\"hint_used\",\"data\":null,\"createdAt\":\"2026-01-"
		"01T00:00:02.000Z\"}],"
		"\"hints\":{\"fileHints\":[{\"path\":\"a\",\"style\":\"critical\"}],"
		"\"lineHints\":[{\"path\":\"b\",\"start\":1,\"end\":2,\"style\":"
		"\"focus\",\"hoverText\":\"look\"}]},"
		"\"dreyfus\":[{\"skillArea\":\"css\",\"stage\":\"novice\",\"confidence\":"
		"0.25}]}");
	/* What only the file worker knows is asked for after the commit. */
	call = must_call(
		METHOD_SESSION_STATE, NULL, "{\"include\":[\"diffs\",\"phase\"]}");
	ck_assert_ptr_null(call->outcome.answer.ptr);
	ck_assert(call->outcome.after != NULL);
}
END_TEST

START_TEST(the_newest_plan_counts)
{
	struct call *call;

	start_with_plan();
	execute("INSERT INTO plans SELECT 'newer', session_id, 't', "
		"'2026-01-02T00:00:00.000Z' FROM plans;"
		"INSERT INTO phases VALUES ('n1', 'newer', 1, 'Newer', 'd', 'pending', "
		"'file', '[]', NULL, NULL)");
	call = must_call(
		METHOD_PHASE_UPDATE, NULL, "{\"phase\":1,\"status\":\"active\"}");
	ck_assert_ptr_nonnull(strstr(call->outcome.answer.ptr, "\"title\":\"Newer\""));
	refused_call(METHOD_PHASE_UPDATE, "{\"phase\":2,\"status\":\"active\"}",
		ERROR_NOT_FOUND);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("sessions");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_add_test(tc, a_session_starts_ends_and_goes_on);
	tcase_add_test(tc, one_session_is_active_at_most);
	tcase_add_test(tc, a_wrapped_up_session_is_completed);
	tcase_add_test(tc, titles_come_later);
	tcase_add_test(tc, hint_levels_are_kept_and_escalations_recorded);
	tcase_add_test(tc, phases_move_forward_only);
	tcase_add_test(tc, a_phase_change_repeated_after_a_kill_tells_the_windows);
	tcase_add_test(tc, tools_log_and_publish);
	tcase_add_test(tc, hints_are_progress_of_the_active_phase);
	tcase_add_test(tc, state_items_are_those_asked_for);
	tcase_add_test(tc, the_newest_plan_counts);
	return check_run(tc);
}

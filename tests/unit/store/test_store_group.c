/* Group commit, the action log and what a failure leaves: nothing of itself, all of the
 * others. */
#include "proto/tables/actions.h"
#include "tests/unit/proto/sample.h"
#include "tests/unit/store/store_fixture.h"
#include "workers/store/coaching/actions.h"

static void start_session(void)
{
	must_call(METHOD_SESSION_START, NULL, "{\"issueNumber\":7}");
}

static const char *append_json(const char *type, const char *data, const char *created_at)
{
	return arena_printf(&fixture_arena,
		"{\"actions\":[{\"id\":\"%s\",\"type\":\"%s\",\"data\":%s,\"createdAt\":"
		"\"%s\"}]}",
		new_key(), type, data, created_at)
		.ptr;
}

static const char *now_iso(void)
{
	char *at = arena_alloc(&fixture_arena, WALL_ISO_SIZE);

	wall_iso(clock_wall(), at);
	return at;
}

START_TEST(every_method_of_the_store_has_a_service)
{
	for (int m = 0; m < METHOD_COUNT; m++) {
		int found = 0;

		for (size_t i = 0; i < services_count; i++)
			found += services[i].method == (enum method)m;
		/* common/worker/worker.c answers that one. */
		ck_assert_msg(found == (method_infos[m].owner == WORKER_STORE &&
					       m != METHOD_STORE_METRICS),
			"%s has %d handlers", method_infos[m].name, found);
	}
	for (size_t i = 0; i < services_count; i++) {
		const struct method_info *method = &method_infos[services[i].method];

		/* Who writes is keyed, so that a repeat can be told from another call. */
		if (services[i].flags & SERVICE_WRITES)
			ck_assert_msg(method->flags & METHOD_KEYED, "%s", method->name);
		/* A tool's handler gets the arguments, and its call is logged. */
		ck_assert_msg(!(services[i].flags & SERVICE_TOOL) ==
				      (method->request != tool_request_type),
			"%s", method->name);
		if (services[i].flags & SERVICE_TOOL)
			ck_assert_msg(
				services[i].flags & SERVICE_WRITES, "%s", method->name);
	}
}
END_TEST

START_TEST(a_group_is_done_in_order_and_at_once)
{
	struct call *calls[5];

	start_session();
	done_count = 0;
	for (int i = 0; i < 5; i++)
		calls[i] = queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL,
			arena_printf(&fixture_arena, "{\"toPath\":\"%d\"}", i).ptr);
	ck_assert_str_eq(
		rows("SELECT count(*) FROM action_log WHERE action_type = 'tab_switch'"),
		"0");
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_uint_eq(done_count, 5);
	for (int i = 0; i < 5; i++) {
		ck_assert_ptr_eq(done_calls[i], calls[i]);
		answered(calls[i], "null");
	}
	ck_assert_str_eq(rows("SELECT json_extract(data, '$.toPath') FROM action_log "
			      "WHERE action_type = 'tab_switch' ORDER BY rowid"),
		"0\n1\n2\n3\n4");
}
END_TEST

START_TEST(a_refused_call_leaves_the_others)
{
	const char *half = arena_printf(&fixture_arena,
		"{\"actions\":[{\"id\":\"%s\",\"type\":\"idle_end\",\"createdAt\":\"%s\"}"
		","
		"{\"id\":\"%s\",\"type\":\"no_such\",\"createdAt\":\"%s\"}]}",
		new_key(), now_iso(), new_key(), now_iso())
				   .ptr;
	struct call *bad;

	start_session();
	done_count = 0;
	queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	bad = queue_call(METHOD_ACTION_APPEND, NULL, half);
	queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"b\"}");
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_str_eq(bad->outcome.error->name, "INVALID_MESSAGE");
	ck_assert(str_is(
		bad->outcome.message, "actions[1].type: no_such is no action type"));
	ck_assert_ptr_null(bad->outcome.first);
	/* Its first row, which was good, is not there either. */
	ck_assert_str_eq(rows("SELECT action_type FROM action_log ORDER BY rowid"),
		"session_started\ntab_switch\ntab_switch");
}
END_TEST

/* It has no savepoint then. */
START_TEST(a_refused_call_that_is_alone_leaves_nothing)
{
	const char *half = arena_printf(&fixture_arena,
		"{\"actions\":[{\"id\":\"%s\",\"type\":\"idle_end\",\"createdAt\":\"%s\"}"
		",{\"id\":\"%s\",\"type\":\"idle_end\",\"createdAt\":\"2026-02-31T00:00:"
		"00.000Z\"}]}",
		new_key(), now_iso(), new_key())
				   .ptr;
	struct call *bad;

	start_session();
	bad = queue_call(METHOD_ACTION_APPEND, NULL, half);
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_str_eq(bad->outcome.error->name, "INVALID_MESSAGE");
	ck_assert_str_eq(rows("SELECT action_type FROM action_log"), "session_started");
	must_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	ck_assert_str_eq(rows("SELECT action_type FROM action_log ORDER BY rowid"),
		"session_started\ntab_switch");
}
END_TEST

START_TEST(a_row_that_the_database_refuses_leaves_the_others)
{
	struct call *bad;

	start_session();
	done_count = 0;
	queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	bad = queue_call(METHOD_API_CALL_APPEND, NULL,
		"{\"sessionId\":\"nobody\",\"callType\":\"c\",\"model\":\"m\","
		"\"inputHash\":\"0123456789abcdef\",\"latencyMs\":1,\"inputTokens\":1,"
		"\"outputTokens\":1,\"costEstimate\":0.5,\"createdAt\":\"2026-01-01T00:"
		"00:00.000Z\"}");
	queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"b\"}");
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_str_eq(bad->outcome.error->name, "NOT_FOUND");
	ck_assert_str_eq(
		rows("SELECT count(*) FROM action_log WHERE action_type = 'tab_switch'"),
		"2");
	ck_assert_str_eq(rows("SELECT count(*) FROM api_call_log"), "0");
}
END_TEST

static int refuse_commit(void *arg)
{
	(void)arg;
	return 1;
}

START_TEST(a_commit_that_fails_leaves_nothing)
{
	struct call *start, *tab;
	char before[UUID_SIZE];

	start_session();
	memcpy(before, store.sessions.active.id, sizeof(before));
	sqlite3_commit_hook(store.db.handle, refuse_commit, NULL);
	done_count = 0;
	start = queue_call(METHOD_SESSION_START, NULL, "{}");
	tab = queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	ck_assert_int_lt(group_run(&store, fixture_done), 0);
	ck_assert_uint_eq(done_count, 2);
	ck_assert_str_eq(start->outcome.error->name, "STORAGE_FAILED");
	ck_assert_str_eq(tab->outcome.error->name, "STORAGE_FAILED");
	ck_assert_ptr_nonnull(strstr(tab->outcome.message.ptr, fixture_path));
	ck_assert_ptr_null(tab->outcome.first);
	/* What is remembered went back, too. */
	ck_assert_str_eq(store.sessions.active.id, before);
	sqlite3_commit_hook(store.db.handle, NULL, NULL);
	ck_assert_str_eq(rows("SELECT count(*) FROM sessions"), "1");
	must_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
}
END_TEST

START_TEST(a_lock_keeps_the_queue)
{
	sqlite3 *other;
	struct call *call;

	start_session();
	ck_assert_int_eq(sqlite3_open(fixture_path, &other), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	done_count = 0;
	call = queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(group_run(&store, fixture_done), -EBUSY);
	ck_assert_uint_eq(done_count, 0);
	ck_assert_uint_eq(store.group.waiting, 1);
	sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_ptr_eq(done_calls[0], call);
	answered(call, "null");
	sqlite3_close(other);
}
END_TEST

START_TEST(late_calls_are_dropped_unless_they_are_log_rows)
{
	struct call *late, *row;

	start_session();
	done_count = 0;
	late = queue_call(
		METHOD_UI_SHOW_MESSAGE, NULL, "{\"message\":\"m\",\"type\":\"info\"}");
	row = queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	late->deadline = row->deadline = (struct mono){clock_mono().us - 1};
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_str_eq(late->outcome.error->name, "TIMEOUT");
	ck_assert_ptr_null(row->outcome.error);
	ck_assert_str_eq(rows("SELECT action_type FROM action_log ORDER BY rowid"),
		"session_started\nmcp_tool_call\ntab_switch");
}
END_TEST

#define MESSAGE "{\"message\":\"m\",\"type\":\"info\"}"
#define HIGHLIGHT "{\"path\":\"a\",\"start\":1,\"end\":1,\"style\":\"hint\"}"
#define WRONG_HIGHLIGHT "{\"path\":\"a\",\"start\":3,\"end\":2,\"style\":\"hint\"}"

/* Also of calls that share a transaction with others. */
START_TEST(the_call_of_a_tool_is_logged_with_what_it_does)
{
	const char *key = new_key();

	start_session();
	must_call(METHOD_UI_HIGHLIGHT_LINES, key, HIGHLIGHT);
	ck_assert_str_eq(rows("SELECT action_type FROM action_log ORDER BY rowid"),
		"session_started\nmcp_tool_call\ndecorations_applied");
	ck_assert_str_eq(
		rows("SELECT data FROM action_log WHERE action_type = 'mcp_tool_call'"),
		"{\"toolName\":\"paige_highlight_lines\",\"sessionId\":\"m\"}");
	/* The row has the id of the call, so whoever logs it, too, adds none. */
	answered(
		must_call(METHOD_ACTION_APPEND, NULL,
			arena_printf(&fixture_arena,
				"{\"actions\":[{\"id\":\"%s\",\"type\":\"mcp_tool_call\","
				"\"data\":{\"toolName\":\"t\",\"sessionId\":null},"
				"\"createdAt\":\"%s\"}]}",
				key, now_iso())
				.ptr),
		"{\"count\":0}");
	fixture_restart();
	must_call(METHOD_UI_HIGHLIGHT_LINES, key, HIGHLIGHT);
	ck_assert_str_eq(rows("SELECT count(*) FROM action_log"), "3");
}
END_TEST

/* What is published of a tool that failed: its row in the log, if that stands. */
static void publishes_its_row_alone(const struct call *call, bool stands)
{
	const struct publication *p = call->outcome.first;

	ck_assert_int_eq(p != NULL, stands);
	if (p) {
		ck_assert_str_eq(p->topic, "log/mcp_tool_call");
		ck_assert_ptr_null(p->next);
	}
}

START_TEST(a_tool_that_is_refused_leaves_its_row_and_nothing_else)
{
	struct call *calls[3];

	start_session();
	refused_call(METHOD_UI_HIGHLIGHT_LINES, WRONG_HIGHLIGHT, ERROR_INVALID_MESSAGE);
	refused_call(METHOD_PHASE_UPDATE, "{\"phase\":1,\"status\":\"active\"}",
		ERROR_NOT_FOUND);
	done_count = 0;
	calls[0] = queue_call(METHOD_UI_SHOW_MESSAGE, NULL, MESSAGE);
	calls[1] = queue_call(METHOD_UI_HIGHLIGHT_LINES, NULL, WRONG_HIGHLIGHT);
	calls[2] = queue_call(METHOD_UI_CLEAR_HINTS, NULL, "{}");
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_ptr_null(calls[0]->outcome.error);
	ck_assert_ptr_nonnull(calls[1]->outcome.error);
	publishes_its_row_alone(calls[1], true);
	ck_assert_ptr_null(calls[2]->outcome.error);
	ck_assert_str_eq(rows("SELECT action_type, data ->> 'toolName' FROM action_log "
			      "WHERE action_type <> 'session_started' ORDER BY rowid"),
		"mcp_tool_call|paige_highlight_lines\n"
		"mcp_tool_call|paige_update_phase\n"
		"mcp_tool_call|paige_show_message\n"
		"coaching_message|-\n"
		"mcp_tool_call|paige_highlight_lines\n"
		"mcp_tool_call|paige_clear_hints");
}
END_TEST

/* What a tool does does not stand when its call cannot be logged, nor the other way
 * round; the others of the group are not touched. */
START_TEST(a_tool_does_nothing_when_a_row_of_it_fails)
{
	static const struct {
		const char *type, *left;
	} cases[] = {
		{"mcp_tool_call", "session_started\ntab_switch"},
		{"decorations_applied", "session_started\nmcp_tool_call\ntab_switch"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int alone = 0; alone < 2; alone++) {
			struct call *tool;

			execute("DELETE FROM action_log; DELETE FROM sessions");
			fixture_restart();
			start_session();
			if (alone)
				must_call(METHOD_ACTIVITY_TAB_SWITCH, NULL,
					"{\"toPath\":\"a\"}");
			execute(arena_printf(&fixture_arena,
				"CREATE TEMP TRIGGER fails BEFORE INSERT ON action_log "
				"WHEN NEW.action_type = '%s' "
				"BEGIN SELECT RAISE(ABORT, 'no'); END",
				cases[i].type)
					.ptr);
			done_count = 0;
			tool = queue_call(METHOD_UI_HIGHLIGHT_LINES, NULL, HIGHLIGHT);
			if (!alone)
				queue_call(METHOD_ACTIVITY_TAB_SWITCH, NULL,
					"{\"toPath\":\"a\"}");
			ck_assert_int_eq(group_run(&store, fixture_done), 0);
			execute("DROP TRIGGER fails");
			ck_assert_str_eq(tool->outcome.error->name, "STORAGE_FAILED");
			publishes_its_row_alone(tool, i == 1);
			ck_assert_str_eq(
				rows("SELECT action_type FROM action_log "
				     "ORDER BY action_type = 'tab_switch', rowid"),
				cases[i].left);
		}
}
END_TEST

START_TEST(a_damaged_database_takes_no_more_rows)
{
	struct call *read;

	start_session();
	store.health.damaged = true;
	error_text_set(&store.health.problem, "damaged for a test");
	refused_call(
		METHOD_ACTIVITY_TAB_SWITCH, "{\"toPath\":\"a\"}", ERROR_STORAGE_FAILED);
	read = must_call(METHOD_SESSION_ACTIVE, NULL, "{}");
	ck_assert_ptr_nonnull(strstr(read->outcome.answer.ptr, store.sessions.active.id));
}
END_TEST

/* ---- the action log ---- */

START_TEST(every_action_type_is_taken_with_its_data)
{
	struct rng rng = {.state = 1};

	start_session();
	execute("DELETE FROM action_log");
	for (int i = 0; i < ACTION_COUNT; i++) {
		const char *name = action_infos[i].name;
		struct buf data = {0};
		char topic[64];
		struct call *call;

		sample_add(&rng, action_infos[i].data(), true, &data);
		buf_add_char(&data, '\0');
		call = must_call(METHOD_ACTION_APPEND, NULL,
			append_json(name, data.data, now_iso()));
		answered(call, "{\"count\":1}");
		snprintf(topic, sizeof(topic), "action/%s", name);
		if (action_infos[i].observer)
			ck_assert_msg(strstr(published(call, topic), data.data), "%s: %s",
				name, data.data);
		else
			ck_assert_str_eq(published(call, topic), "");
		ck_assert_str_eq(rows("SELECT data FROM action_log "
				      "ORDER BY rowid DESC LIMIT 1"),
			data.data);
		buf_free(&data);
	}
	ck_assert_str_eq(
		rows("SELECT count(*), count(DISTINCT action_type) FROM action_log"),
		arena_printf(&fixture_arena, "%d|%d", ACTION_COUNT, ACTION_COUNT).ptr);
}
END_TEST

START_TEST(what_is_no_row_is_refused_and_named)
{
	static const struct {
		const char *json, *message;
	} cases[] = {
		{"{\"actions\":[{\"id\":\"012345678901234567890123456789012345\","
		 "\"type\":\"idle_end\","
		 "\"createdAt\":\"2026-01-01T00:00:00.000Z\"}]}",
			"actions[0].id: expected a UUID"},
		{"{\"actions\":[{\"id\":\"0193a0c5-7b1e-7abc-8def-0123456789ab\","
		 "\"type\":\"idle_end\","
		 "\"createdAt\":\"2026-02-31T00:00:00.000Z\"}]}",
			"actions[0].createdAt: expected ISO 8601 with milliseconds and "
			"Z"},
		{"{\"actions\":[{\"id\":\"0193a0c5-7b1e-7abc-8def-0123456789ab\","
		 "\"type\":\"file_open\","
		 "\"data\":{\"path\":7},\"createdAt\":\"2026-01-01T00:00:00.000Z\"}]}",
			"actions[0].data.path: expected a string"},
	};

	start_session();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct call *call = run_call(METHOD_ACTION_APPEND, NULL, cases[i].json);

		ck_assert_msg(call->outcome.error &&
				      str_is(call->outcome.message, cases[i].message),
			"%.*s", STR_ARG(call->outcome.message));
	}
}
END_TEST

START_TEST(a_repeated_row_is_written_once)
{
	const char *json;

	start_session();
	json = append_json("idle_end", "{}", now_iso());
	answered(must_call(METHOD_ACTION_APPEND, NULL, json), "{\"count\":1}");
	answered(must_call(METHOD_ACTION_APPEND, NULL, json), "{\"count\":0}");
	ck_assert_str_eq(
		rows("SELECT count(*) FROM action_log WHERE action_type = 'idle_end'"),
		"1");
}
END_TEST

START_TEST(a_row_belongs_to_the_session_in_which_it_happened)
{
	char first[UUID_SIZE];
	const char *during;

	answered(must_call(METHOD_ACTION_APPEND, NULL,
			 append_json("idle_end", "{}", now_iso())),
		"{\"count\":0}");
	ck_assert_uint_eq(store.dropped, 1);
	start_session();
	memcpy(first, store.sessions.active.id, sizeof(first));
	usleep(3000);
	during = now_iso();
	usleep(3000);
	must_call(METHOD_SESSION_END, NULL, "{}");
	/* It was on its way when the session ended. */
	answered(must_call(METHOD_ACTION_APPEND, NULL,
			 append_json("file_close", "{\"path\":\"a\"}", during)),
		"{\"count\":1}");
	usleep(3000);
	answered(must_call(METHOD_ACTION_APPEND, NULL,
			 append_json("idle_end", "{}", now_iso())),
		"{\"count\":0}");
	start_session();
	answered(must_call(METHOD_ACTION_APPEND, NULL,
			 append_json("file_open", "{\"path\":\"b\"}", during)),
		"{\"count\":1}");
	fixture_restart();
	answered(must_call(METHOD_ACTION_APPEND, NULL,
			 append_json("file_save", "{\"path\":\"c\",\"charCount\":1}",
				 during)),
		"{\"count\":1}");
	ck_assert_str_eq(rows(arena_printf(&fixture_arena,
				 "SELECT action_type, session_id = '%s' FROM action_log "
				 "WHERE action_type LIKE 'file%%' ORDER BY rowid",
				 first)
					 .ptr),
		"file_close|1\nfile_open|1\nfile_save|1");
}
END_TEST

START_TEST(selections_have_a_length)
{
	static const struct {
		const char *json, *data;
	} cases[] = {
		{"{\"path\":\"a\",\"range\":{\"startLine\":1},\"textLength\":12}",
			"{\"path\":\"a\",\"range\":{\"startLine\":1},\"textLength\":12}"},
		{"{\"path\":\"a\",\"selectedText\":\"ž🦄\"}",
			"{\"path\":\"a\",\"textLength\":3}"},
		{"{\"path\":\"a\",\"selectedText\":\"abc\",\"textLength\":1}",
			"{\"path\":\"a\",\"textLength\":1}"},
		{"{\"path\":\"a\"}", "{\"path\":\"a\"}"},
	};

	start_session();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		must_call(METHOD_ACTIVITY_SELECTION, NULL, cases[i].json);
		ck_assert_str_eq(
			rows("SELECT data FROM action_log ORDER BY rowid DESC LIMIT 1"),
			cases[i].data);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("group");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_add_test(tc, every_method_of_the_store_has_a_service);
	tcase_add_test(tc, a_group_is_done_in_order_and_at_once);
	tcase_add_test(tc, a_refused_call_leaves_the_others);
	tcase_add_test(tc, a_refused_call_that_is_alone_leaves_nothing);
	tcase_add_test(tc, a_row_that_the_database_refuses_leaves_the_others);
	tcase_add_test(tc, a_commit_that_fails_leaves_nothing);
	tcase_add_test(tc, a_lock_keeps_the_queue);
	tcase_add_test(tc, late_calls_are_dropped_unless_they_are_log_rows);
	tcase_add_test(tc, the_call_of_a_tool_is_logged_with_what_it_does);
	tcase_add_test(tc, a_tool_that_is_refused_leaves_its_row_and_nothing_else);
	tcase_add_test(tc, a_tool_does_nothing_when_a_row_of_it_fails);
	tcase_add_test(tc, a_damaged_database_takes_no_more_rows);
	tcase_add_test(tc, every_action_type_is_taken_with_its_data);
	tcase_add_test(tc, what_is_no_row_is_refused_and_named);
	tcase_add_test(tc, a_repeated_row_is_written_once);
	tcase_add_test(tc, a_row_belongs_to_the_session_in_which_it_happened);
	tcase_add_test(tc, selections_have_a_length);
	return check_run(tc);
}

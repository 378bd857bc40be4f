/* Rows by themselves: create, get, list with filters, update and delete, each where it is
 * allowed (FR-022). */
#include "tests/unit/store/store_fixture.h"
#include "workers/store/entities/entity_sql.h"

static const char *session_id(void)
{
	return store.sessions.active.id;
}

/* Creates a row and gives back its id. */
static const char *create(const char *entity, const char *row)
{
	const char *key = new_key();
	char *id = arena_cstr(&fixture_arena, str_of(key));

	must_call(METHOD_ENTITY_CREATE, key,
		arena_printf(
			&fixture_arena, "{\"entity\":\"%s\",\"row\":%s}", entity, row)
			.ptr);
	id[14] = '4';
	return id;
}

static const char *text(const char *format, const char *a)
{
	struct str s = STR_LIT("");

	/* One %s at most, so that formats stay literal at the caller. */
	for (const char *p = format; *p; p++) {
		if (p[0] == '%' && p[1] == 's') {
			s = arena_printf(&fixture_arena, "%.*s%s", STR_ARG(s), a);
			p++;
		} else {
			s = arena_printf(&fixture_arena, "%.*s%c", STR_ARG(s), *p);
		}
	}
	return s.ptr;
}

static struct call *get(const char *entity, const char *id)
{
	return must_call(METHOD_ENTITY_GET, NULL,
		arena_printf(
			&fixture_arena, "{\"entity\":\"%s\",\"id\":\"%s\"}", entity, id)
			.ptr);
}

static const char *list(const char *rest)
{
	struct call *call = must_call(METHOD_ENTITY_LIST, NULL, rest);

	return call->outcome.answer.ptr;
}

static void setup(void)
{
	fixture_setup();
	must_call(METHOD_SESSION_START, NULL, "{\"issueNumber\":7}");
}

START_TEST(record_types_are_the_columns)
{
	for (int e = 0; e <= ENTITY_API_CALL; e++) {
		const struct entity_info *info = entity_info(e);
		const struct type *type = info->record();
		struct buf columns = {0};

		for (size_t i = 0; i < type->count; i++) {
			if (i > 0)
				buf_add_char(&columns, ',');
			entity_sql_column(type->fields[i].wire, &columns);
		}
		buf_add_char(&columns, '\0');
		ck_assert_str_eq(
			rows(arena_printf(&fixture_arena,
				"SELECT group_concat(name) FROM pragma_table_xinfo('%s')",
				info->table)
					.ptr),
			columns.data);
		buf_free(&columns);
		if (info->time)
			ck_assert_ptr_nonnull(entity_field(info, str_of(info->time)));
	}
}
END_TEST

START_TEST(a_whole_session_goes_round)
{
	const char *plan = create(
		"plan", text("{\"sessionId\":\"%s\",\"rawPlanText\":\"it's a plan\"}",
				session_id()));
	const char *phase =
		create("phase", text("{\"planId\":\"%s\",\"number\":1,\"title\":\"T\","
				     "\"description\":\"D\",\"hintLevel\":\"line\","
				     "\"expectedFiles\":[\"a\\\"b\"]}",
					plan));
	const char *file_hint =
		create("phase_hint", text("{\"phaseId\":\"%s\",\"type\":\"file\","
					  "\"path\":\"p\",\"style\":\"critical\"}",
					     phase));
	const char *line_hint =
		create("phase_hint", text("{\"phaseId\":\"%s\",\"type\":\"line\","
					  "\"path\":\"p\",\"startLine\":1,\"endLine\":2,"
					  "\"style\":\"focus\",\"hoverText\":\"h\"}",
					     phase));
	const char *progress =
		create("progress_event", text("{\"phaseId\":\"%s\",\"eventType\":\"hint_"
					      "used\",\"data\":{\"n\":[1,2]}}",
						 phase));
	const char *gap =
		create("knowledge_gap", text("{\"sessionId\":\"%s\",\"topic\":\"t\","
					     "\"severity\":\"high\",\"evidence\":\"e\"}",
						session_id()));
	const char *kata = create(
		"kata_spec", text("{\"knowledgeGapId\":\"%s\",\"title\":\"t\","
				  "\"description\":\"d\",\"scaffoldingCode\":\"s\","
				  "\"instructorNotes\":\"n\",\"constraints\":[{\"title\":"
				  "\"c\",\"description\":\"\",\"minLevel\":3}]}",
				     gap));

	ck_assert_ptr_nonnull(strstr(get("plan", plan)->outcome.answer.ptr,
		"\"rawPlanText\":\"it's a plan\""));
	answered(get("phase", phase),
		arena_printf(&fixture_arena,
			"{\"row\":{\"id\":\"%s\",\"planId\":\"%s\",\"number\":1,"
			"\"title\":\"T\",\"description\":\"D\","
			"\"status\":\"pending\",\"hintLevel\":\"line\",\"expectedFiles\":"
			"[\"a\\\"b\"],"
			"\"startedAt\":null,\"completedAt\":null}}",
			phase, plan)
			.ptr);
	answered(get("phase_hint", line_hint),
		arena_printf(&fixture_arena,
			"{\"row\":{\"id\":\"%s\",\"phaseId\":\"%s\",\"type\":\"line\","
			"\"path\":\"p\","
			"\"startLine\":1,\"endLine\":2,\"style\":\"focus\",\"hoverText\":"
			"\"h\"}}",
			line_hint, phase)
			.ptr);
	ck_assert_ptr_nonnull(strstr(
		get("phase_hint", file_hint)->outcome.answer.ptr, "\"startLine\":null"));
	ck_assert_ptr_nonnull(strstr(get("progress_event", progress)->outcome.answer.ptr,
		"\"data\":{\"n\":[1,2]}"));
	ck_assert_ptr_nonnull(strstr(get("knowledge_gap", gap)->outcome.answer.ptr,
		"\"relatedConcepts\":[],\"frequency\":1,"));
	ck_assert_ptr_nonnull(strstr(get("kata_spec", kata)->outcome.answer.ptr,
		"\"constraints\":[{\"title\":\"c\",\"description\":\"\",\"minLevel\":3}],"
		"\"userAttempts\":[]"));
	/* The session itself, and the row of the log. */
	ck_assert_ptr_nonnull(strstr(get("session", session_id())->outcome.answer.ptr,
		"\"issueNumber\":7,\"issueTitle\":null,\"status\":\"active\""));
	ck_assert_ptr_nonnull(strstr(
		list("{\"entity\":\"action\"}"), "\"actionType\":\"session_started\""));
	/* Deleting a plan takes everything of it along (P2.2). */
	answered(must_call(METHOD_ENTITY_DELETE, NULL,
			 text("{\"entity\":\"plan\",\"id\":\"%s\"}", plan)),
		"{\"count\":1}");
	ck_assert_str_eq(rows("SELECT (SELECT count(*) FROM phases), (SELECT count(*) "
			      "FROM phase_hints), "
			      "(SELECT count(*) FROM progress_events), (SELECT count(*) "
			      "FROM knowledge_gaps)"),
		"0|0|0|1");
	answered(must_call(METHOD_ENTITY_DELETE, NULL,
			 text("{\"entity\":\"plan\",\"id\":\"%s\"}", plan)),
		"{\"count\":0}");
}
END_TEST

START_TEST(changes_are_laid_over_the_row)
{
	const char *id = create("dreyfus_assessment",
		"{\"skillArea\":\"css\",\"stage\":\"novice\","
		"\"confidence\":0.5,\"evidence\":\"e\"}");
	static const struct {
		const char *set;
		int error; /* -1: none */
	} cases[] = {
		{"{\"stage\":\"expert\",\"confidence\":1}", -1},
		{"{}", -1},
		{"{\"stage\":\"wizard\"}", ERROR_INVALID_MESSAGE},
		{"{\"confidence\":1.5}", ERROR_INVALID_MESSAGE},
		{"{\"evidence\":null}", ERROR_INVALID_MESSAGE},
		{"{\"skillArea\":\"other\"}", ERROR_NOT_ALLOWED},
		{"{\"id\":\"x\"}", ERROR_NOT_ALLOWED},
		{"{\"no_such\":1}", ERROR_NOT_ALLOWED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct call *call = run_call(METHOD_ENTITY_UPDATE, NULL,
			arena_printf(&fixture_arena,
				"{\"entity\":\"dreyfus_assessment\",\"id\":\"%s\","
				"\"set\":%s}",
				id, cases[i].set)
				.ptr);

		ck_assert_msg(
			call->outcome.error ==
				(cases[i].error < 0 ? NULL
						    : &error_code_infos[cases[i].error]),
			"%s: %.*s", cases[i].set, STR_ARG(call->outcome.message));
	}
	ck_assert_str_eq(rows("SELECT skill_area, stage, confidence, evidence FROM "
			      "dreyfus_assessments"),
		"css|expert|1.0|e");
	refused_call(METHOD_ENTITY_UPDATE,
		"{\"entity\":\"dreyfus_assessment\",\"id\":\"x\",\"set\":{}}",
		ERROR_NOT_FOUND);
}
END_TEST

START_TEST(what_has_its_own_ways_is_left_alone)
{
	static const struct {
		enum method method;
		const char *json;
	} cases[] = {
		{METHOD_ENTITY_CREATE, "{\"entity\":\"session\",\"row\":{}}"},
		{METHOD_ENTITY_CREATE, "{\"entity\":\"action\",\"row\":{}}"},
		{METHOD_ENTITY_CREATE, "{\"entity\":\"api_call\",\"row\":{}}"},
		{METHOD_ENTITY_UPDATE, "{\"entity\":\"session\",\"id\":\"x\",\"set\":{"
				       "\"status\":\"completed\"}}"},
		{METHOD_ENTITY_UPDATE, "{\"entity\":\"phase\",\"id\":\"x\",\"set\":{"
				       "\"status\":\"complete\"}}"},
		{METHOD_ENTITY_UPDATE, "{\"entity\":\"kata_spec\",\"id\":\"x\",\"set\":{"
				       "\"userAttempts\":[]}}"},
		{METHOD_ENTITY_UPDATE, "{\"entity\":\"action\",\"id\":\"x\",\"set\":{}}"},
		{METHOD_ENTITY_UPDATE, "{\"entity\":\"api_call\",\"id\":\"x\",\"set\":{"
				       "\"model\":\"m\"}}"},
		{METHOD_ENTITY_DELETE, "{\"entity\":\"action\",\"id\":\"x\"}"},
		{METHOD_ENTITY_DELETE, "{\"entity\":\"api_call\",\"id\":\"x\"}"},
		{METHOD_ENTITY_DELETE, "{\"entity\":\"session\",\"id\":\"x\"}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused_call(cases[i].method, cases[i].json, ERROR_NOT_ALLOWED);
}
END_TEST

START_TEST(rows_that_the_tables_refuse)
{
	static const char assessment[] =
		"{\"entity\":\"dreyfus_assessment\",\"row\":{\"skillArea\":\"css\","
		"\"stage\":\"novice\",\"confidence\":0.5,\"evidence\":\"e\"}}";
	const char *key = new_key();
	struct call *first;

	refused_call(METHOD_ENTITY_CREATE,
		"{\"entity\":\"plan\",\"row\":{\"sessionId\":\"nobody\",\"rawPlanText\":"
		"\"x\"}}",
		ERROR_NOT_FOUND);
	refused_call(METHOD_ENTITY_CREATE,
		"{\"entity\":\"plan\",\"row\":{\"rawPlanText\":\"x\"}}",
		ERROR_INVALID_MESSAGE);
	refused_call(METHOD_ENTITY_CREATE,
		"{\"entity\":\"plan\",\"row\":{\"raw_plan_text\":\"x\"}}",
		ERROR_INVALID_MESSAGE);
	first = must_call(METHOD_ENTITY_CREATE, key, assessment);
	refused_call(METHOD_ENTITY_CREATE, assessment, ERROR_CONFLICT);
	/* The same call repeated after a crash is answered with its row. */
	fixture_restart();
	ck_assert(str_eq(must_call(METHOD_ENTITY_CREATE, key, assessment)->outcome.answer,
		first->outcome.answer));
	ck_assert_str_eq(rows("SELECT count(*) FROM dreyfus_assessments"), "1");
}
END_TEST

START_TEST(lists_are_filtered_ordered_and_bounded)
{
	execute("DELETE FROM action_log");
	for (int i = 0; i < 250; i++)
		execute(arena_printf(&fixture_arena,
			"INSERT INTO action_log VALUES ('a%03d', '%s', '%s', "
			"'{\"i\":%d}', '2026-01-01T00:%02d:%02d.000Z')",
			i, session_id(), i % 2 ? "tab_switch" : "file_open", i, i / 60,
			i % 60)
				.ptr);
	/* The last N of a session and a type (FR-045). */
	ck_assert_ptr_nonnull(
		strstr(list(text("{\"entity\":\"action\",\"where\":{\"sessionId\":\"%s\","
				 "\"actionType\":\"file_open\"},\"limit\":2}",
			       session_id())),
			"{\"rows\":[{\"id\":\"a248\""));
	ck_assert_ptr_null(strstr(
		list("{\"entity\":\"action\",\"where\":{\"actionType\":\"file_open\"}}"),
		"a049"));
	ck_assert_ptr_nonnull(
		strstr(list("{\"entity\":\"action\",\"oldestFirst\":true,\"limit\":1}"),
			"{\"rows\":[{\"id\":\"a000\""));
	/* 100 without a limit. */
	ck_assert_ptr_nonnull(strstr(list("{\"entity\":\"action\"}"), "a150"));
	ck_assert_ptr_null(strstr(list("{\"entity\":\"action\"}"), "a149"));
	ck_assert_ptr_nonnull(strstr(
		list("{\"entity\":\"action\",\"since\":\"2026-01-01T00:01:00.000Z\","
		     "\"until\":\"2026-01-01T00:01:01.000Z\"}"),
		"{\"rows\":[{\"id\":\"a060\",\"sessionId\""));
	ck_assert_ptr_nonnull(
		strstr(list("{\"entity\":\"action\",\"where\":{\"actionType\":\"x\"}}"),
			"{\"rows\":[],\"sinceNewestMs\":null}"));
	ck_assert_ptr_nonnull(
		strstr(list("{\"entity\":\"session\",\"where\":{\"endedAt\":null}}"),
			session_id()));
	refused_call(METHOD_ENTITY_LIST,
		"{\"entity\":\"action\",\"where\":{\"x; DROP TABLE plans\":1}}",
		ERROR_INVALID_MESSAGE);
	refused_call(METHOD_ENTITY_LIST, "{\"entity\":\"action\",\"where\":{\"id\":[]}}",
		ERROR_INVALID_MESSAGE);
	refused_call(METHOD_ENTITY_LIST,
		"{\"entity\":\"phase\",\"since\":\"2026-01-01T00:00:00.000Z\"}",
		ERROR_INVALID_MESSAGE);
}
END_TEST

START_TEST(the_time_since_the_last_is_told)
{
	struct call *call;
	long ms;

	must_call(METHOD_ACTIVITY_IDLE_END, NULL, "{}");
	usleep(30000);
	must_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	call = must_call(METHOD_ENTITY_LIST, NULL,
		"{\"entity\":\"action\",\"where\":{\"actionType\":\"idle_end\"},"
		"\"limit\":1}");
	ms = strtol(
		strstr(call->outcome.answer.ptr, "\"sinceNewestMs\":") + 16, NULL, 10);
	ck_assert_int_ge(ms, 29);
	ck_assert_int_lt(ms, 5000);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("entities");

	tcase_add_checked_fixture(tc, setup, fixture_teardown);
	tcase_add_test(tc, record_types_are_the_columns);
	tcase_add_test(tc, a_whole_session_goes_round);
	tcase_add_test(tc, changes_are_laid_over_the_row);
	tcase_add_test(tc, what_has_its_own_ways_is_left_alone);
	tcase_add_test(tc, rows_that_the_tables_refuse);
	tcase_add_test(tc, lists_are_filtered_ordered_and_bounded);
	tcase_add_test(tc, the_time_since_the_last_is_told);
	return check_run(tc);
}

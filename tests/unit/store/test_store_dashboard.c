/* The dashboard's figures and lists, and how long they take with many rows (story 12). */
#include "tests/unit/store/store_fixture.h"
#include <time.h>

static void execute_f(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void execute_f(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	execute(arena_vprintf(&fixture_arena, format, args).ptr);
	va_end(args);
}

/* When it was so many days ago, as rows have it. */
static const char *days_ago(int days)
{
	char *at = arena_alloc(&fixture_arena, WALL_ISO_SIZE);

	wall_iso((struct wall){clock_wall().us - days * 86400 * INT64_C(1000000)}, at);
	return at;
}

/* A session that began so many days ago and took an hour and a half. */
static void add_session(const char *id, const char *status, int days, int issue)
{
	execute_f("INSERT INTO sessions VALUES ('%s', '/p', nullif(%d, 0), 'Issue %d', "
		  "'%s', '%s', NULL)",
		id, issue, issue, status, days_ago(days));
	if (strcmp(status, "active") != 0)
		execute_f("UPDATE sessions SET ended_at = "
			  "strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', started_at, "
			  "'+90 minutes') WHERE id = '%s'",
			id);
}

static void add_gap(
	const char *topic, const char *severity, int frequency, int addressed, int days)
{
	execute_f("INSERT INTO knowledge_gaps VALUES ('g-%s', (SELECT id FROM sessions "
		  "LIMIT 1), '%s', '%s', 'e', "
		  "'[\"c\"]', %d, '%s', %d)",
		topic, topic, severity, frequency, days_ago(days), addressed);
}

/* The part of an answer behind "name":, up to the closing bracket or the end of an
 * object. */
static const char *part(const char *json, const char *name)
{
	yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
	char *text =
		yyjson_val_write(yyjson_obj_get(yyjson_doc_get_root(doc), name), 0, NULL);
	const char *kept = arena_cstr(&fixture_arena, str_of(text));

	free(text);
	yyjson_doc_free(doc);
	return kept;
}

static const char *state(const char *body)
{
	return arena_cstr(&fixture_arena,
		must_call(METHOD_DASHBOARD_STATE, NULL, body)->outcome.answer);
}

static const char *context_part(const char *name)
{
	return part(must_call(METHOD_DASHBOARD_CONTEXT, NULL, "{}")->outcome.answer.ptr,
		name);
}

static double figure(const char *stats, const char *name)
{
	yyjson_doc *doc = yyjson_read(stats, strlen(stats), 0);
	yyjson_val *val = yyjson_obj_get(yyjson_doc_get_root(doc), name);
	double n = yyjson_get_num(val);

	ck_assert_msg(yyjson_is_num(val), "%s in %s", name, stats);
	yyjson_doc_free(doc);
	return n;
}

static void add_hints(const char *session)
{
	execute_f(
		"INSERT INTO plans VALUES ('p-%s', '%s', 't', '2026')", session, session);
	execute_f("INSERT INTO phases VALUES ('f-%s', 'p-%s', 1, 't', 'd', 'active', "
		  "'none', '[]', NULL, NULL)",
		session, session);
	execute_f("INSERT INTO progress_events VALUES ('e-%s', 'f-%s', 'hint_used', "
		  "NULL, '2026'), "
		  "('r-%s', 'f-%s', 'review_passed', NULL, '2026')",
		session, session, session, session);
}

static void add_call(const char *id, const char *session, double cost, int days)
{
	execute_f("INSERT INTO api_call_log VALUES ('%s', nullif('%s', ''), 't', 'm', "
		  "'h', 5, 1, 1, %g, '%s')",
		id, session, cost, days_ago(days));
}

START_TEST(p12_4_to_p12_8_figures_belong_to_a_period)
{
	static const struct {
		const char *body;
		double sessions, minutes, issues, gaps, addressed, hints, cost;
	} cases[] = {
		{"{\"statsPeriod\":\"7d\"}", 1, 90, 2, 1, 0, 1, 0.75},
		{"{\"statsPeriod\":\"30d\"}", 2, 180, 2, 2, 1, 1, 1.75},
		{"{\"statsPeriod\":\"all\"}", 3, 270, 3, 3, 1, 2, 5.75},
		{"{}", 3, 270, 3, 3, 1, 2, 5.75},
	};

	add_session("s3", "completed", 3, 7);
	add_session("s20", "completed", 20, 7);
	add_session("s100", "completed", 100, 8);
	add_session("now", "active", 0, 9);
	add_session("none", "abandoned", 0, 0); /* without an issue */
	add_gap("new", "low", 1, 0, 1);
	add_gap("older", "low", 1, 1, 10);
	add_gap("old", "low", 1, 0, 200);
	add_hints("s3");
	add_hints("s100");
	/* A call costs also when it has no session (P12.8). */
	add_call("c1", "", 0.5, 1);
	add_call("c2", "s3", 0.25, 2);
	add_call("c3", "s20", 1, 20);
	add_call("c4", "s100", 4, 100);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *stats = part(state(cases[i].body), "stats");

		ck_assert_double_eq(
			figure(stats, "sessionsCompleted"), cases[i].sessions);
		/* Days as real numbers do not give minutes to the last bit (P12.5). */
		ck_assert_double_eq_tol(
			figure(stats, "totalCoachingMinutes"), cases[i].minutes, 0.01);
		ck_assert_double_eq(figure(stats, "issuesWorkedOn"), cases[i].issues);
		ck_assert_double_eq(
			figure(stats, "knowledgeGapsIdentified"), cases[i].gaps);
		ck_assert_double_eq(
			figure(stats, "knowledgeGapsAddressed"), cases[i].addressed);
		ck_assert_double_eq(figure(stats, "hintsUsed"), cases[i].hints);
		ck_assert_double_eq(figure(stats, "apiCostTotal"), cases[i].cost);
	}
}
END_TEST

START_TEST(a_clock_that_was_set_back_makes_no_session_negative)
{
	execute("INSERT INTO sessions VALUES ('back', '/p', 1, 't', 'completed', "
		"'2026-01-01T10:00:00.000Z', '2026-01-01T09:00:00.000Z')");

	const char *stats = part(state("{}"), "stats");

	ck_assert_double_eq(figure(stats, "sessionsCompleted"), 1);
	ck_assert_double_eq(figure(stats, "totalCoachingMinutes"), 0);
}
END_TEST

START_TEST(p12_9_only_active_sessions_are_in_progress)
{
	add_session("done", "completed", 2, 1);
	add_session("left", "abandoned", 1, 2);
	add_session("now", "active", 0, 3);
	ck_assert_ptr_nonnull(strstr(part(state("{}"), "inProgressSessions"),
		"[{\"id\":\"now\",\"issueNumber\":3,\"issueTitle\":\"Issue "
		"3\",\"startedAt\":\""));
	execute("UPDATE sessions SET issue_number = NULL, issue_title = NULL");
	ck_assert_ptr_nonnull(strstr(part(state("{}"), "inProgressSessions"),
		"\"issueNumber\":null,\"issueTitle\":null"));
}
END_TEST

START_TEST(p12_18_the_last_ten_completed_sessions)
{
	char id[8];

	for (int i = 1; i <= 12; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		add_session(id, i == 3 ? "abandoned" : "completed", i, i);
	}
	const char *recent = context_part("recentSessions");

	ck_assert_ptr_nonnull(
		strstr(recent, "[{\"issueTitle\":\"Issue 1\",\"completedAt\":\""));
	ck_assert_ptr_null(strstr(recent, "Issue 3\""));
	ck_assert_ptr_nonnull(strstr(recent, "Issue 11\""));
	ck_assert_ptr_null(strstr(recent, "Issue 12\""));
}
END_TEST

START_TEST(p12_19_gaps_by_severity_then_frequency)
{
	const char *gaps;

	add_session("s", "completed", 1, 1);
	add_gap("low-9", "low", 9, 0, 1);
	add_gap("medium-1", "medium", 1, 0, 1);
	add_gap("high-2", "high", 2, 0, 1);
	add_gap("high-3", "high", 3, 0, 1);
	add_gap("closed", "high", 99, 1, 1);
	add_gap("medium-5", "medium", 5, 0, 1);
	add_gap("low-1", "low", 1, 0, 1);
	execute("UPDATE knowledge_gaps SET related_concepts = 'broken' WHERE topic = "
		"'high-2'");
	gaps = context_part("topGaps");
	ck_assert_str_eq(gaps, "[{\"topic\":\"high-3\",\"severity\":\"high\","
			       "\"relatedConcepts\":[\"c\"],\"frequency\":3},"
			       "{\"topic\":\"high-2\",\"severity\":\"high\","
			       "\"relatedConcepts\":[],\"frequency\":2},"
			       "{\"topic\":\"medium-5\",\"severity\":\"medium\","
			       "\"relatedConcepts\":[\"c\"],\"frequency\":5},"
			       "{\"topic\":\"medium-1\",\"severity\":\"medium\","
			       "\"relatedConcepts\":[\"c\"],\"frequency\":1},"
			       "{\"topic\":\"low-9\",\"severity\":\"low\","
			       "\"relatedConcepts\":[\"c\"],\"frequency\":9}]");
}
END_TEST

START_TEST(d69_katas_are_shown_with_their_best_level_and_without_notes)
{
	static const struct {
		const char *attempts, *constraints, *shown;
	} cases[] = {
		{"[]", "[]",
			"\"attemptsCount\":0,\"bestLevel\":null,\"constraintCount\":0"},
		{"[{\"code\":\"a\",\"level\":4},{\"code\":\"b\",\"level\":7},{\"code\":"
		 "\"c\",\"level\":2}]",
			"[{\"title\":\"t\",\"description\":\"d\",\"minLevel\":1},\"u\"]",
			"\"attemptsCount\":3,\"bestLevel\":7,\"constraintCount\":2"},
		{"[{\"code\":\"a\"}]", "[]",
			"\"attemptsCount\":1,\"bestLevel\":null,\"constraintCount\":0"},
		{"broken", "broken",
			"\"attemptsCount\":0,\"bestLevel\":null,\"constraintCount\":0"},
	};

	add_session("s", "active", 0, 1);
	add_gap("T", "low", 1, 0, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *katas;

		execute("DELETE FROM kata_specs");
		execute_f("INSERT INTO kata_specs VALUES ('k', 'g-T', 'K', 'D', 'S', "
			  "'SECRET', '%s', '%s')",
			cases[i].constraints, cases[i].attempts);
		katas = part(state("{}"), "katas");
		ck_assert_msg(
			strstr(katas, "{\"id\":\"k\",\"title\":\"K\",\"topic\":\"T\",") &&
				strstr(katas, cases[i].shown),
			"%s, not %s", katas, cases[i].shown);
		ck_assert_ptr_null(strstr(katas, "SECRET"));
	}
}
END_TEST

START_TEST(wrap_up_figures_are_those_of_the_newest_plan)
{
	add_session("s", "active", 0, 1);
	execute("INSERT INTO plans VALUES ('old', 's', 't', '2026-01-01'), ('new', 's', "
		"'t', '2026-01-02');"
		"INSERT INTO phases VALUES ('o', 'old', 1, 't', 'd', 'complete', 'none', "
		"'[]', NULL, NULL),"
		"('a', 'new', 1, 'A', 'do a', 'complete', 'none', '[]', NULL, NULL),"
		"('b', 'new', 2, 'B', 'do b', 'complete', 'file', '[]', NULL, NULL),"
		"('c', 'new', 3, 'C', 'do c', 'pending', 'line', '[]', NULL, NULL);"
		"INSERT INTO progress_events VALUES ('1', 'b', 'hint_used', NULL, "
		"'2026'), ('2', 'b', 'hint_used', "
		"NULL, '2026'), ('3', 'c', 'hint_used', NULL, '2026'), ('4', 'a', "
		"'review_requested', NULL, '2026')");
	const char *answer =
		must_call(METHOD_WRAP_UP_CONTEXT, NULL, "{\"sessionId\":\"s\"}")
			->outcome.answer.ptr;

	/* Two phases done, three hints, one phase done without any. */
	ck_assert_str_eq(part(answer, "recentSession"),
		"{\"phases_completed\":2,\"hints_used\":3,"
		"\"independent_completions\":1}");
	ck_assert_str_eq(part(answer, "completedPhases"),
		"[{\"title\":\"A\",\"description\":\"do "
		"a\"},{\"title\":\"B\",\"description\":\"do b\"}]");
	ck_assert_str_eq(part(answer, "phases"),
		"[{\"title\":\"A\",\"status\":\"complete\",\"hint_level\":\"none\"},"
		"{\"title\":\"B\",\"status\":\"complete\",\"hint_level\":\"file\"},"
		"{\"title\":\"C\",\"status\":\"pending\",\"hint_level\":\"line\"}]");
}
END_TEST

START_TEST(broken_json_in_old_rows_is_left_out)
{
	add_session("s", "active", 0, 1);
	execute("INSERT INTO action_log VALUES ('1', 's', 'file_save', '{\"path\":', "
		"'2026-01-01T00:00:00.000Z'),"
		"('2', 's', 'file_save', NULL, '2026-01-01T00:00:01.000Z'),"
		"('3', 's', 'file_save', '{\"path\":\"a\"}', "
		"'2026-01-01T00:00:02.000Z')");
	execute("INSERT INTO plans VALUES ('p', 's', 't', '2026');"
		"INSERT INTO phases VALUES ('f', 'p', 1, 'A', 'd', 'active', 'none', "
		"'broken', NULL, NULL)");
	ck_assert_str_eq(
		part(must_call(METHOD_WRAP_UP_CONTEXT, NULL, "{\"sessionId\":\"s\"}")
				->outcome.answer.ptr,
			"actionLog"),
		"[{\"action_type\":\"file_save\",\"data\":null,\"created_at\":\"2026-01-"
		"01T00:00:00.000Z\"},"
		"{\"action_type\":\"file_save\",\"data\":null,\"created_at\":\"2026-01-"
		"01T00:00:01.000Z\"},"
		"{\"action_type\":\"file_save\",\"data\":{\"path\":\"a\"},\"created_at\":"
		"\"2026-01-01T00:00:02.000Z\"}]");
	fixture_restart();
	ck_assert_str_eq(
		part(must_call(METHOD_COACHING_CONTEXT, NULL, "{}")->outcome.answer.ptr,
			"phase"),
		"{\"id\":\"f\",\"number\":1,\"title\":\"A\",\"description\":\"d\","
		"\"expectedFiles\":[]}");
	must_call(METHOD_OBSERVER_CONTEXT, NULL, "{\"sessionId\":\"s\"}");
}
END_TEST

/* ---- many rows ---- */

#define ACTIONS 100000
#define CALLS 10000

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define FULL_SPEED false
#else
#define FULL_SPEED true
#endif

/* Of this thread on a processor: a loaded machine does not count. */
static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double best_of(enum method method, const char *body)
{
	double best = 1e9;

	for (int i = 0; i < 10; i++) {
		double begin = cpu_ms(), took;

		must_call(method, NULL, body);
		took = cpu_ms() - begin;
		best = took < best ? took : best;
	}
	printf("%s %s: %.2f ms\n", method_infos[method].name, body, best);
	return best;
}

START_TEST(a_long_history_is_shown_in_time)
{
	for (int i = 0; i < 200; i++) {
		char id[16];

		snprintf(id, sizeof(id), "s%d", i);
		add_session(id, i == 0 ? "active" : "completed", i, i % 50 + 1);
		add_hints(id);
	}
	execute_f("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
		  "i < %d) "
		  "INSERT INTO action_log SELECT 'a' || i, 's' || (i %% 200), "
		  "'file_save', '{\"path\":\"src/a.c\"}', "
		  "strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', 'now', '-' || (i %% 200) || ' "
		  "days') FROM n",
		ACTIONS);
	execute_f("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
		  "i < %d) "
		  "INSERT INTO api_call_log SELECT 'c' || i, 's' || (i %% 200), "
		  "'explain', 'm', '0123456789abcdef', 5, "
		  "10, 10, 0.001, strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', 'now', '-' || (i "
		  "%% 200) || ' days') FROM n",
		CALLS);
	for (int i = 0; i < 100; i++) {
		char topic[16];

		snprintf(topic, sizeof(topic), "t%d", i);
		add_gap(topic, "low", 1, 0, i);
		execute_f(
			"INSERT INTO kata_specs VALUES ('k%d', 'g-%s', 'K', 'D', 'S', "
			"'N', '[]', "
			"'[{\"code\":\"a\",\"level\":4},{\"code\":\"b\",\"level\":7}]')",
			i, topic);
	}
	fixture_restart();
	double all = best_of(METHOD_DASHBOARD_STATE, "{}");
	double week = best_of(METHOD_DASHBOARD_STATE, "{\"statsPeriod\":\"7d\"}");
	double observer = best_of(METHOD_OBSERVER_CONTEXT, "{\"sessionId\":\"s0\"}");

	best_of(METHOD_WRAP_UP_CONTEXT, "{\"sessionId\":\"s0\"}");
	best_of(METHOD_API_CALL_SPENDING,
		"{\"sessionId\":\"s0\",\"dayStart\":\"2026-01-01T00:00:00.000Z\"}");
	if (FULL_SPEED) {
		ck_assert_double_lt(all, 10);
		ck_assert_double_lt(week, 10);
		ck_assert_double_lt(observer, 10);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("dashboard");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, p12_4_to_p12_8_figures_belong_to_a_period);
	tcase_add_test(tc, a_clock_that_was_set_back_makes_no_session_negative);
	tcase_add_test(tc, p12_9_only_active_sessions_are_in_progress);
	tcase_add_test(tc, p12_18_the_last_ten_completed_sessions);
	tcase_add_test(tc, p12_19_gaps_by_severity_then_frequency);
	tcase_add_test(tc, d69_katas_are_shown_with_their_best_level_and_without_notes);
	tcase_add_test(tc, wrap_up_figures_are_those_of_the_newest_plan);
	tcase_add_test(tc, broken_json_in_old_rows_is_left_out);
	tcase_add_test(tc, a_long_history_is_shown_in_time);
	return check_run(tc);
}

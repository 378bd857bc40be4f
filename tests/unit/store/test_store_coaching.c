/* What flows keep in the store and look at: plans, gaps, katas, assessments, calls,
 * contexts, the dashboard. */
#include "tests/unit/store/store_fixture.h"
#include "workers/store/db/json_text.h"

static const char *start_session(void)
{
	must_call(METHOD_SESSION_START, NULL, "{}");
	return arena_cstr(&fixture_arena, str_of(store.sessions.active.id));
}

/* ---- plans ---- */

#define PHASE(number, title, hints)                                                      \
	"{\"number\":" number ",\"title\":\"" title                                      \
	"\",\"description\":\"d\",\"expected_files\":[\"x.ts\"],"                        \
	"\"hint_level\":\"line\",\"hints\":" hints                                       \
	",\"knowledge_gap_opportunities\":[]}"
#define HINTS                                                                            \
	"{\"file_hints\":[{\"path\":\"a\",\"style\":\"critical\"},{\"path\":\"../"       \
	"out\",\"style\":\"suggested\"}],"                                               \
	"\"line_hints\":[{\"path\":\"a\",\"start\":1,\"end\":2,\"style\":\"focus\","     \
	"\"hover_text\":\"h\"},"                                                         \
	"{\"path\":\"b\",\"start\":3,\"end\":3,\"style\":\"hint\",\"hover_text\":\"\"}," \
	"{\"path\":\"a\",\"start\":5,\"end\":6,\"style\":\"warning\",\"hover_text\":"    \
	"\"i\"},"                                                                        \
	"{\"path\":\"/etc/"                                                              \
	"x\",\"start\":1,\"end\":1,\"style\":\"hint\",\"hover_text\":\"\"}]}"
#define NO_HINTS "{\"file_hints\":[],\"line_hints\":[]}"

static const char *plan_json(const char *session)
{
	return arena_printf(&fixture_arena,
		"{\"sessionId\":\"%s\",\"planText\":\"the "
		"plan\",\"issueNumber\":42,\"phases\":[" PHASE(
			"5", "First", HINTS) "," PHASE("5", "Second", NO_HINTS) "]}",
		session)
		.ptr;
}

START_TEST(a_plan_is_kept_with_its_rows)
{
	const char *key = new_key(), *session = start_session();
	struct call *call, *again;

	execute("DELETE FROM action_log");
	call = must_call(METHOD_PLAN_STORE, key, plan_json(session));
	ck_assert_str_eq(rows("SELECT session_id = (SELECT id FROM sessions), "
			      "raw_plan_text FROM plans"),
		"1|the plan");
	ck_assert_str_eq(rows("SELECT issue_number FROM sessions"), "42");
	/* Renumbered in their order (P9.15), all pending. */
	ck_assert_str_eq(rows("SELECT number, title, status, hint_level, expected_files "
			      "FROM phases ORDER BY number"),
		"1|First|pending|line|[\"x.ts\"]\n2|Second|pending|line|[\"x.ts\"]");
	/* Everything is kept, also what leads outside (P9.22). */
	ck_assert_str_eq(rows("SELECT type, path, start_line, end_line, style, "
			      "hover_text FROM phase_hints ORDER BY rowid"),
		"file|a|-|-|critical|-\nfile|../out|-|-|suggested|-\nline|a|1|2|focus|h\n"
		"line|b|3|3|hint|\nline|a|5|6|warning|i\nline|/etc/x|1|1|hint|");
	/* What is shown is logged: one row for each path with its number of hints. */
	ck_assert_str_eq(
		rows("SELECT action_type, iif(action_type = 'coaching_pipeline', "
		     "json_extract(data, '$.phaseCount'), data) FROM action_log ORDER BY "
		     "rowid"),
		"coaching_pipeline|2\ndecorations_applied|{\"path\":\"a\",\"count\":2}\n"
		"decorations_applied|{\"path\":\"b\",\"count\":1}\nfile_hints_applied|{"
		"\"paths\":[\"a\"]}");
	fixture_restart();
	again = must_call(METHOD_PLAN_STORE, key, plan_json(session));
	ck_assert(str_eq(call->outcome.answer, again->outcome.answer));
	ck_assert_str_eq(rows("SELECT (SELECT count(*) FROM plans), (SELECT count(*) "
			      "FROM phases), "
			      "(SELECT count(*) FROM action_log)"),
		"1|2|4");
}
END_TEST

START_TEST(a_plan_for_a_session_that_ended_is_refused)
{
	const char *key = new_key(), *session = start_session();

	must_call(METHOD_PLAN_STORE, key, plan_json(session));
	must_call(METHOD_SESSION_END, NULL, "{}");
	refused_call(METHOD_PLAN_STORE, plan_json(session), ERROR_NO_SESSION);
	/* But one that was kept before is there (its answer was lost on the way). */
	fixture_restart();
	must_call(METHOD_PLAN_STORE, key, plan_json(session));
	ck_assert_str_eq(rows("SELECT count(*) FROM plans"), "1");
}
END_TEST

/* ---- gaps ---- */

#define GAP(topic, severity)                                                             \
	"{\"topic\":\"" topic "\",\"evidence\":\"e\",\"severity\":\"" severity           \
	"\",\"related_concepts\":[\"c\"]}"
#define KATA(title, topic)                                                               \
	"{\"title\":\"" title                                                            \
	"\",\"description\":\"d\",\"scaffoldingCode\":\"s\",\"instructorNotes\":\"n\","  \
	"\"constraints\":[{\"title\":\"t\",\"description\":\"d\",\"minLevel\":2}]" topic \
	"}"

static const char *gaps_json(const char *session, const char *gaps, const char *katas)
{
	return arena_printf(&fixture_arena,
		"{\"sessionId\":\"%s\",\"gaps\":[%s],\"katas\":[%s]}", session, gaps,
		katas)
		.ptr;
}

START_TEST(known_gaps_count_and_new_ones_are_kept)
{
	const char *session = start_session();
	const char *key;

	answered(must_call(METHOD_GAPS_STORE, NULL,
			 gaps_json(session,
				 GAP("Closures", "low") "," GAP("Async", "high"),
				 KATA("one", "") "," KATA("two",
					 ",\"topic\":\"CLOSURES\"") "," KATA("three",
					 ""))),
		"{\"newGaps\":2,\"katas\":3}");
	ck_assert_str_eq(rows("SELECT kata_specs.title, topic, constraints, "
			      "user_attempts FROM kata_specs "
			      "JOIN knowledge_gaps ON knowledge_gaps.id = "
			      "knowledge_gap_id ORDER BY kata_specs.rowid"),
		"one|Closures|[{\"title\":\"t\",\"description\":\"d\",\"minLevel\":2}]|[]"
		"\n"
		"two|Closures|[{\"title\":\"t\",\"description\":\"d\",\"minLevel\":2}]|[]"
		"\n"
		"three|Closures|[{\"title\":\"t\",\"description\":\"d\",\"minLevel\":2}]|"
		"[]");
	execute("UPDATE knowledge_gaps SET addressed = 1");
	usleep(2000);
	key = new_key();
	for (int times = 0; times < 3;
		times++) { /* repeated after crashes: counted once */
		answered(must_call(METHOD_GAPS_STORE, key,
				 gaps_json(session,
					 GAP("closures", "high") "," GAP("New", "medium"),
					 KATA("four", ""))),
			"{\"newGaps\":1,\"katas\":1}");
		fixture_restart();
	}
	ck_assert_str_eq(rows("SELECT topic, severity, frequency, addressed FROM "
			      "knowledge_gaps ORDER BY rowid"),
		"Closures|high|2|0\nAsync|high|1|1\nNew|medium|1|0");
	ck_assert_str_eq(rows("SELECT count(*) FROM kata_specs"), "4");
	/* Without any gap there is nothing to hang a kata on (P9.4). */
	answered(must_call(METHOD_GAPS_STORE, NULL,
			 gaps_json(session, "", KATA("five", ""))),
		"{\"newGaps\":0,\"katas\":0}");
}
END_TEST

START_TEST(assessments_keep_their_row)
{
	static const char json[] =
		"{\"assessments\":[{\"skill_area\":\"css\",\"stage\":\"%s\","
		"\"previous_stage\":null,\"confidence\":0.5,\"evidence\":\"e\","
		"\"recommendation\":\"r\"}]}";
	const char *id;

	answered(must_call(METHOD_DREYFUS_STORE, NULL,
			 arena_printf(&fixture_arena, json, "novice").ptr),
		"{\"count\":1}");
	id = rows("SELECT id FROM dreyfus_assessments");
	must_call(METHOD_DREYFUS_STORE, NULL,
		arena_printf(&fixture_arena, json, "expert").ptr);
	ck_assert_str_eq(rows("SELECT id FROM dreyfus_assessments"), id);
	ck_assert_str_eq(
		rows("SELECT skill_area, stage, confidence FROM dreyfus_assessments"),
		"css|expert|0.5");
}
END_TEST

/* ---- katas ---- */

static void add_kata(const char *constraints, const char *attempts)
{
	start_session();
	execute("INSERT INTO knowledge_gaps SELECT 'g', id, 'Topic', 'low', 'e', '[]', "
		"1, "
		"'2026-01-01T00:00:00.000Z', 0 FROM sessions");
	execute(arena_printf(&fixture_arena,
		"INSERT INTO kata_specs VALUES ('k', 'g', 'T', 'D', 'S', 'SECRET', '%s', "
		"'%s')",
		constraints, attempts)
			.ptr);
}

static const char *attempt_json(const char *code, int level)
{
	return arena_printf(&fixture_arena,
		"{\"kataId\":\"k\",\"code\":\"%s\",\"review\":\"r\",\"level\":%d,"
		"\"passed\":true,"
		"\"constraints\":[]}",
		code, level)
		.ptr;
}

START_TEST(attempts_add_up_and_unlock)
{
	add_kata("[{\"title\":\"a\",\"description\":\"\",\"minLevel\":1},{\"title\":"
		 "\"b\",\"description\":\"\","
		 "\"minLevel\":3},{\"title\":\"c\",\"description\":\"\",\"minLevel\":5}]",
		"[]");
	answered(must_call(METHOD_KATA_ATTEMPT, NULL, attempt_json("1", 3)),
		"{\"previousBest\":1,\"unlocked\":[{\"title\":\"b\",\"description\":\"\","
		"\"minLevel\":3}]}");
	/* A lower level unlocks nothing, and the best one stands (P11.3, P11.4). */
	answered(must_call(METHOD_KATA_ATTEMPT, NULL, attempt_json("2", 2)),
		"{\"previousBest\":3,\"unlocked\":[]}");
	answered(must_call(METHOD_KATA_ATTEMPT, NULL, attempt_json("3", 9)),
		"{\"previousBest\":3,\"unlocked\":[{\"title\":\"c\",\"description\":\"\","
		"\"minLevel\":5}]}");
	ck_assert_str_eq(rows("SELECT user_attempts FROM kata_specs"),
		"[{\"code\":\"1\",\"review\":\"r\",\"level\":3,\"passed\":true,"
		"\"constraints\":[]},"
		"{\"code\":\"2\",\"review\":\"r\",\"level\":2,\"passed\":true,"
		"\"constraints\":[]},"
		"{\"code\":\"3\",\"review\":\"r\",\"level\":9,\"passed\":true,"
		"\"constraints\":[]}]");
	refused_call(METHOD_KATA_GET, "{\"kataId\":\"x\"}", ERROR_NOT_FOUND);
}
END_TEST

START_TEST(an_attempt_repeated_after_a_kill_is_kept_once)
{
	const char *key = new_key();
	struct call *first;

	add_kata("[{\"title\":\"b\",\"description\":\"\",\"minLevel\":3}]", "[]");
	first = must_call(METHOD_KATA_ATTEMPT, key, attempt_json("1", 3));
	usleep(3000);
	fixture_restart();
	ck_assert(str_eq(
		must_call(METHOD_KATA_ATTEMPT, key, attempt_json("1", 3))->outcome.answer,
		first->outcome.answer));
	ck_assert_str_eq(
		rows("SELECT json_array_length(user_attempts) FROM kata_specs"), "1");
	/* The same solution handed in again is another attempt. */
	must_call(METHOD_KATA_ATTEMPT, NULL, attempt_json("1", 3));
	ck_assert_str_eq(
		rows("SELECT json_array_length(user_attempts) FROM kata_specs"), "2");
}
END_TEST

START_TEST(older_and_broken_kata_columns_do_no_harm)
{
	struct call *broken;

	add_kata("[\"title alone\", 7, "
		 "{\"title\":\"o\",\"description\":\"d\",\"minLevel\":2}]",
		"no json");
	ck_assert_ptr_nonnull(
		strstr(must_call(METHOD_KATA_GET, NULL, "{\"kataId\":\"k\"}")
				->outcome.answer.ptr,
			"\"constraints\":[{\"title\":\"title "
			"alone\",\"description\":\"title alone\",\"minLevel\":1},"
			"{\"title\":\"o\",\"description\":\"d\",\"minLevel\":2}]"));
	ck_assert_ptr_nonnull(
		strstr(must_call(METHOD_KATA_OPEN, NULL, "{\"kataId\":\"k\"}")
				->outcome.answer.ptr,
			"\"constraints\":[{\"title\":\"title "
			"alone\",\"description\":\"title alone\",\"minLevel\":1},"
			"{\"title\":\"o\",\"description\":\"d\",\"minLevel\":2}]"));
	/* It fails alone. */
	done_count = 0;
	broken = queue_call(METHOD_KATA_ATTEMPT, NULL, attempt_json("1", 3));
	queue_call(METHOD_ACTIVITY_IDLE_END, NULL, "{}");
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_ptr_nonnull(broken->outcome.error);
	ck_assert_str_eq(
		rows("SELECT count(*) FROM action_log WHERE action_type = 'idle_end'"),
		"1");
	ck_assert_ptr_nonnull(
		strstr(must_call(METHOD_DASHBOARD_STATE, NULL, "{}")->outcome.answer.ptr,
			"\"attemptsCount\":0"));
}
END_TEST

START_TEST(d69_an_opened_kata_has_its_task_and_no_notes)
{
	const struct call *none;

	add_kata("[{\"title\":\"a\",\"description\":\"d\",\"minLevel\":3}]",
		"[{\"code\":\"mine\",\"level\":2}]");
	answered(must_call(METHOD_KATA_OPEN, NULL, "{\"kataId\":\"k\"}"),
		"{\"kata\":{\"id\":\"k\",\"title\":\"T\",\"description\":\"D\","
		"\"scaffoldingCode\":\"S\"},\"constraints\":[{\"title\":\"a\","
		"\"description\":\"d\",\"minLevel\":3}],\"attempts\":[{\"number\":1,"
		"\"code\":\"mine\",\"level\":2,\"constraints\":[]}],"
		"\"attemptsCount\":1}");
	none = run_call(METHOD_KATA_OPEN, NULL, "{\"kataId\":\"x\"}");
	ck_assert_ptr_eq(none->outcome.error, &error_code_infos[ERROR_NOT_FOUND]);
	ck_assert_msg(str_is(none->outcome.message,
			      "kataId \"x\": there is no such kata. dashboard:request "
			      "tells which there are."),
		"%.*s", STR_ARG(none->outcome.message));
}
END_TEST

/* Decoded, so that it is within the bounds of its type. */
static const struct practice_kata_load *opened(const char *attempts)
{
	const struct practice_kata_load *load;
	struct str answer;
	size_t count;

	execute(arena_printf(
		&fixture_arena, "UPDATE kata_specs SET user_attempts = '%s'", attempts)
			.ptr);
	answer = must_call(METHOD_KATA_OPEN, NULL, "{\"kataId\":\"k\"}")->outcome.answer;
	load = json_read_objects(&fixture_arena, practice_kata_load_type(),
		arena_printf(&fixture_arena, "[%.*s]", STR_ARG(answer)), &count);
	ck_assert_msg(count == 1, "%.*s", STR_ARG(answer));
	return load;
}

START_TEST(the_last_attempts_come_with_a_kata)
{
	AUTO_BUF attempts = {0};
	const struct practice_kata_load *load;

	add_kata("[]", "[]");
	ck_assert_uint_eq(opened("[]")->attempts.count, 0);
	for (int i = 1; i <= 25; i++)
		buf_printf(&attempts,
			"%c{\"code\":\"c%d\",\"review\":\"r%d\",\"level\":%d,"
			"\"passed\":%s,\"constraints\":[\"a\",{\"title\":\"b\"},7]}",
			i == 1 ? '[' : ',', i, i, i % 10 + 1, i % 2 ? "true" : "false");
	buf_printf(&attempts, "]%c", '\0');
	load = opened(attempts.data);
	ck_assert_int_eq(load->attempts_count, 25);
	ck_assert_uint_eq(load->attempts.count, 20);
	for (int i = 0; i < 20; i++) {
		const struct practice_attempt *a = &load->attempts.items[i];
		int number = 25 - i;

		ck_assert_int_eq(a->number, number);
		ck_assert(str_eq(a->code, arena_printf(&fixture_arena, "c%d", number)));
		ck_assert(str_eq(a->review, arena_printf(&fixture_arena, "r%d", number)));
		ck_assert_int_eq(a->level, number % 10 + 1);
		ck_assert_int_eq(a->passed, number % 2);
		ck_assert(!a->has_code_cut && !a->has_review_cut);
		ck_assert_uint_eq(a->constraints.count, 2);
		ck_assert(str_is(a->constraints.items[0], "a"));
		ck_assert(str_is(a->constraints.items[1], "b"));
	}
}
END_TEST

static const char *times(const char *text, size_t count)
{
	AUTO_BUF out = {0};

	for (size_t i = 0; i < count; i++)
		buf_add_str(&out, str_of(text));
	buf_add_char(&out, '\0');
	return arena_str(&fixture_arena, buf_str(&out)).ptr;
}

START_TEST(a_long_attempt_is_cut_and_says_so)
{
	const struct practice_attempt *a;

	add_kata("[]", "[]");
	/* Of two bytes each, so the first bound lies within a character; the second is kept. */
	a = opened(arena_printf(&fixture_arena,
			   "[{\"code\":\"x%s\",\"review\":\"%s\",\"constraints\":[\"%s\"%"
			   "s]}]",
			   times("\u00e9", 9000), times("r", 8192), times("y", 201),
			   times(",\"t\"", 30))
			   .ptr)
		    ->attempts.items;
	ck_assert_uint_eq(a->code.len, 16383);
	ck_assert(a->code_cut);
	ck_assert_uint_eq(a->review.len, 8192);
	ck_assert(!a->has_review_cut);
	ck_assert_uint_eq(a->constraints.count, 20);
	ck_assert_uint_eq(a->constraints.items[0].len, 200);
	a = opened(arena_printf(&fixture_arena,
			   "[{\"code\":\"%s\",\"review\":\"%s\",\"constraints\":[]}]",
			   times("x", 16384), times("r", 8193))
			   .ptr)
		    ->attempts.items;
	ck_assert_uint_eq(a->code.len, 16384);
	ck_assert(!a->has_code_cut);
	ck_assert_uint_eq(a->review.len, 8192);
	ck_assert(a->review_cut);
}
END_TEST

START_TEST(attempts_that_are_none_do_no_harm)
{
	const struct practice_kata_load *load;
	const struct practice_attempt *a;

	add_kata("[]", "[]");
	load = opened("[{},7,\"{}\",null,[1],{\"code\":7,\"review\":{},\"level\":11,"
		      "\"passed\":\"yes\",\"constraints\":\"a\",\"more\":1}]");
	ck_assert_int_eq(load->attempts_count, 6);
	ck_assert_uint_eq(load->attempts.count, 2);
	for (size_t i = 0; i < 2; i++) {
		a = &load->attempts.items[i];
		ck_assert_int_eq(a->number, i == 0 ? 6 : 1);
		ck_assert_uint_eq(a->code.len, 0);
		ck_assert(!a->review.ptr && !a->has_level && !a->has_passed);
		ck_assert_uint_eq(a->constraints.count, 0);
	}
	/* What is no list has none. */
	ck_assert_uint_eq(opened("{\"a\":{}}")->attempts.count, 0);
	ck_assert_uint_eq(opened("no json")->attempts.count, 0);
}
END_TEST

START_TEST(reviews_are_progress_of_the_active_phase)
{
	static const char json[] = "{\"actions\":[{\"id\":\"%s\",\"type\":\"%s\","
				   "\"data\":%s,\"createdAt\":\"%s\"}]}";
	char now[WALL_ISO_SIZE];
	const char *session = start_session();

	must_call(METHOD_PLAN_STORE, NULL, plan_json(session));
	must_call(METHOD_PHASE_UPDATE, NULL, "{\"phase\":1,\"status\":\"active\"}");
	wall_iso(clock_wall(), now);
	must_call(METHOD_ACTION_APPEND, NULL,
		arena_printf(&fixture_arena, json, new_key(), "review_requested",
			"{\"kataId\":\"k\"}", now)
			.ptr);
	for (int passed = 0; passed < 2; passed++)
		must_call(METHOD_ACTION_APPEND, NULL,
			arena_printf(&fixture_arena, json, new_key(), "review_completed",
				passed ? "{\"kataId\":\"k\",\"level\":5,\"passed\":true,"
					 "\"model\":\"m\","
					 "\"latency_ms\":1,\"success\":true}"
				       : "{\"kataId\":\"k\",\"level\":2,\"passed\":false,"
					 "\"model\":\"m\","
					 "\"latency_ms\":1,\"success\":true}",
				now)
				.ptr);
	ck_assert_str_eq(rows("SELECT event_type FROM progress_events ORDER BY rowid"),
		"review_requested\nreview_passed");
}
END_TEST

/* ---- calls to Claude ---- */

static const char *call_json(const char *session, double cost, const char *at)
{
	return arena_printf(&fixture_arena,
		"{\"sessionId\":%s%s%s,\"callType\":\"c\",\"model\":\"m\",\"inputHash\":"
		"\"0123456789abcdef\","
		"\"latencyMs\":5,\"inputTokens\":10,\"outputTokens\":20,\"costEstimate\":"
		"%g,\"createdAt\":\"%s\"}",
		session ? "\"" : "", session ? session : "null", session ? "\"" : "",
		cost, at)
		.ptr;
}

START_TEST(calls_that_nobody_ended_are_logged_as_failed)
{
	const char *keys[3] = {new_key(), new_key(), new_key()};
	const char *json = call_json(NULL, 0.5, "2026-01-01T00:00:00.000Z");
	char path[SCRATCH_SIZE + 32];
	struct stat st;

	for (int i = 0; i < 3; i++)
		must_call(METHOD_API_CALL_BEGIN, keys[i], json);
	answered(must_call(METHOD_API_CALL_APPEND, keys[1], json), "{\"count\":1}");
	answered(must_call(METHOD_API_CALL_APPEND, keys[1], json), "{\"count\":0}");
	/* Both the store and the llm worker are killed. */
	fixture_restart();
	must_call(METHOD_API_CALL_BEGIN, keys[1], json); /* too late: it is logged */
	answered(must_call(METHOD_API_CALL_RECONCILE, NULL, "{}"), "{\"count\":2}");
	answered(must_call(METHOD_API_CALL_RECONCILE, NULL, "{}"), "{\"count\":0}");
	ck_assert_str_eq(rows("SELECT latency_ms, input_tokens, cost_estimate FROM "
			      "api_call_log ORDER BY latency_ms"),
		"-1|0|0.0\n-1|0|0.0\n5|10|0.5");
	snprintf(path, sizeof(path), "%s/%s", fixture_dir, OPEN_CALLS_FILE);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	fixture_restart();
	answered(must_call(METHOD_API_CALL_RECONCILE, NULL, "{}"), "{\"count\":0}");
}
END_TEST

/* ---- what Claude was paid for and did not end ---- */

#define OWNER_ONE "11111111-0000-7000-8000-000000000000"
#define OWNER_TWO "22222222-0000-7000-8000-000000000000"
#define WORK_A "aaaaaaaa-0000-7000-8000-000000000000"
#define WORK_B "bbbbbbbb-0000-7000-8000-000000000000"
#define ASKED "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NOTHING "{\"id\":null,\"steps\":[]}"

static void keep_step(const char *id, const char *step, const char *text)
{
	must_call(METHOD_PAID_KEEP, NULL,
		arena_printf(&fixture_arena,
			"{\"owner\":\"" OWNER_ONE "\",\"id\":\"%s\",\"asked\":\"" ASKED
			"\",\"step\":\"%s\",\"text\":\"%s\"}",
			id, step, text)
			.ptr);
}

static const struct call *take_work(const char *owner)
{
	return must_call(METHOD_PAID_TAKE, NULL,
		arena_printf(&fixture_arena, "{\"owner\":\"%s\",\"asked\":\"" ASKED "\"}",
			owner)
			.ptr);
}

START_TEST(works_that_were_paid_for_are_found_by_the_next_worker)
{
	answered(take_work(OWNER_TWO), NOTHING);
	keep_step(WORK_A, "one", "first");
	keep_step(WORK_A, "two", "second");
	keep_step(WORK_A, "one", "again"); /* in the place of the first */
	answered(take_work(OWNER_ONE), NOTHING);
	fixture_restart();
	answered(take_work(OWNER_ONE), NOTHING);
	answered(take_work(OWNER_TWO),
		"{\"id\":\"" WORK_A
		"\",\"steps\":[{\"step\":\"two\",\"text\":\"second\"},"
		"{\"step\":\"one\",\"text\":\"again\"}]}");
	answered(take_work(OWNER_TWO), NOTHING); /* it is its own now */
	must_call(METHOD_PAID_DROP, NULL, "{\"id\":\"" WORK_A "\"}");
	fixture_restart();
	answered(take_work(OWNER_ONE), NOTHING);
}
END_TEST

START_TEST(works_belong_to_their_session)
{
	start_session();
	keep_step(WORK_A, "one", "first");
	must_call(METHOD_SESSION_END, NULL, "{}");
	start_session();
	answered(take_work(OWNER_TWO), NOTHING);
	must_call(METHOD_SESSION_END, NULL, "{}"); /* its own answer may have ended it */
	ck_assert_ptr_nonnull(
		strstr(take_work(OWNER_TWO)->outcome.answer.ptr, "\"first\""));
}
END_TEST

START_TEST(works_are_kept_for_a_time_and_within_bounds)
{
	const struct paid_take take = {
		.owner = STR_LIT(OWNER_TWO), .asked = STR_LIT(ASKED)};
	const struct wall now = clock_wall();
	struct wall late = {now.us + PAID_WORKS_KEEP_MS * 1000LL + 1000000};
	struct wall early = {now.us - 60000000};
	struct paid_keep keep = {.owner = STR_LIT(OWNER_ONE),
		.asked = STR_LIT(ASKED),
		.step = STR_LIT("one")};
	char *large = arena_alloc(&fixture_arena, 1000000);
	struct paid_works works = {0};
	char id[UUID_SIZE];

	memset(large, 'x', 1000000);
	for (int i = 0; i < PAID_WORKS_MAX + 3; i++) {
		snprintf(id, sizeof(id), "%08d-0000-7000-8000-000000000000", i);
		keep.id = str_of(id);
		keep.text = STR_LIT("t");
		ck_assert_int_eq(paid_works_keep(&works, &keep, str_of(""), now), 0);
	}
	ck_assert_uint_eq(works.file.works.count, PAID_WORKS_MAX);
	ck_assert_ptr_null(paid_works_take(&works, &take, str_of(""), late));
	ck_assert_ptr_null(paid_works_take(&works, &take, str_of(""), early));
	for (int i = 0; i < 3; i++) {
		snprintf(id, sizeof(id), "%08d-0000-7000-8000-000000000000", 100 + i);
		keep.text = (struct str){large, 1000000};
		ck_assert_int_eq(paid_works_keep(&works, &keep, str_of(""), now), 0);
	}
	ck_assert_uint_eq(works.file.works.count, 2);
	ck_assert_ptr_nonnull(paid_works_take(&works, &take, str_of(""), now));
	paid_works_fini(&works);
}
END_TEST

static const struct call *find_answer(const char *asked)
{
	return must_call(METHOD_PAID_TAKE, NULL,
		arena_printf(&fixture_arena,
			"{\"owner\":\"" OWNER_TWO "\",\"asked\":\"%s\",\"forAll\":true}",
			asked)
			.ptr);
}

static void keep_answer(const char *id, const char *asked, const char *text)
{
	must_call(METHOD_PAID_KEEP, NULL,
		arena_printf(&fixture_arena,
			"{\"owner\":\"" OWNER_ONE
			"\",\"id\":\"%s\",\"asked\":\"%s\",\"step\":\"one\","
			"\"text\":\"%s\",\"forAll\":true}",
			id, asked, text)
			.ptr);
}

START_TEST(answers_for_all_are_found_by_everybody_in_any_session)
{
	const struct paid_take take = {.asked = STR_LIT(ASKED), .for_all = true};
	const struct wall now = clock_wall();
	struct wall within = {now.us + (PAID_ANSWERS_KEEP_MS - 60000) * 1000LL};
	struct wall late = {now.us + PAID_ANSWERS_KEEP_MS * 1000LL + 1000000};

	start_session();
	keep_answer(WORK_A, ASKED, "first");
	must_call(METHOD_SESSION_END, NULL, "{}");
	start_session();
	for (int i = 0; i < 2; i++) /* it stays */
		ck_assert_ptr_nonnull(
			strstr(find_answer(ASKED)->outcome.answer.ptr, "\"first\""));
	answered(take_work(OWNER_TWO), NOTHING); /* no work to go on with */
	fixture_restart();
	ck_assert_ptr_nonnull(
		strstr(find_answer(ASKED)->outcome.answer.ptr, "\"first\""));
	ck_assert_ptr_nonnull(
		paid_works_take(&store.paid_works, &take, str_of(""), within));
	ck_assert_ptr_null(paid_works_take(&store.paid_works, &take, str_of(""), late));
	/* Another question for the same step: its answer replaces the one before. */
	keep_answer(WORK_B, OTHER, "second");
	answered(find_answer(ASKED), NOTHING);
	ck_assert_ptr_nonnull(
		strstr(find_answer(OTHER)->outcome.answer.ptr, "\"second\""));
	ck_assert_uint_eq(store.paid_works.file.works.count, 1);
}
END_TEST

START_TEST(a_work_is_no_answer_for_all)
{
	keep_step(WORK_A, "one", "first");
	answered(find_answer(ASKED), NOTHING);
	keep_answer(WORK_B, ASKED, "second");
	ck_assert_ptr_nonnull(
		strstr(take_work(OWNER_TWO)->outcome.answer.ptr, "\"first\""));
}
END_TEST

START_TEST(a_broken_list_of_works_does_no_harm)
{
	static const char *const broken[] = {"", "{", "[]", "{\"works\":[{\"id\":1}]}"};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		char path[SCRATCH_SIZE + 32];
		struct paid_works works;
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", fixture_dir, PAID_WORKS_FILE);
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		fputs(broken[i], file);
		fclose(file);
		ck_assert_int_eq(paid_works_load(&works, fixture_dir), -EINVAL);
		paid_works_drop(&works, str_of(WORK_B));
		ck_assert_uint_eq(works.file.works.count, 0);
		paid_works_fini(&works);
	}
}
END_TEST

START_TEST(a_broken_list_of_open_calls_does_no_harm)
{
	char path[SCRATCH_SIZE + 32];
	const char *key = new_key();
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", fixture_dir, OPEN_CALLS_FILE);
	f = fopen(path, "w");
	fprintf(f, "\n\nnonsense\n%s {\"no\":1}\n%s %s\n%s {\"cut", new_key(), key,
		call_json(NULL, 1, "2026-01-01T00:00:00.000Z"), new_key());
	fclose(f);
	fixture_restart();
	ck_assert_uint_eq(store.open_calls.count, 2);
	answered(must_call(METHOD_API_CALL_RECONCILE, NULL, "{}"), "{\"count\":1}");
}
END_TEST

START_TEST(spending_adds_up)
{
	const char *session = start_session();

	must_call(METHOD_API_CALL_APPEND, NULL,
		call_json(session, 0.5, "2026-01-02T00:00:00.000Z"));
	must_call(METHOD_API_CALL_APPEND, NULL,
		call_json(session, 0.25, "2026-01-03T00:00:00.000Z"));
	must_call(METHOD_API_CALL_APPEND, NULL,
		call_json(NULL, 2, "2026-01-03T00:00:00.000Z"));
	answered(must_call(METHOD_API_CALL_SPENDING, NULL,
			 arena_printf(&fixture_arena,
				 "{\"sessionId\":\"%s\",\"dayStart\":\"2026-01-03T00:00:"
				 "00.000Z\"}",
				 session)
				 .ptr),
		"{\"session\":0.75,\"day\":2.25}");
	answered(must_call(METHOD_API_CALL_SPENDING, NULL,
			 "{\"dayStart\":\"2027-01-01T00:00:00.000Z\"}"),
		"{\"session\":0,\"day\":0}");
}
END_TEST

/* ---- contexts ---- */

START_TEST(contexts_of_an_empty_database)
{
	answered(must_call(METHOD_COACHING_CONTEXT, NULL, "{}"),
		"{\"session\":null,\"phase\":null,\"dreyfus\":[]}");
	answered(must_call(METHOD_SESSION_NEWEST, NULL, "{}"), "{\"sessionId\":null}");
	answered(must_call(METHOD_DASHBOARD_CONTEXT, NULL, "{}"),
		"{\"dreyfus\":[],\"recentSessions\":[],\"gaps\":[],\"topGaps\":[],"
		"\"kataTitles\":[]}");
	answered(must_call(METHOD_OBSERVER_CONTEXT, NULL, "{\"sessionId\":\"x\"}"),
		"{\"recentActions\":[],\"lastSaveAt\":null,\"lastNudgeAt\":null,"
		"\"muted\":false,\"phase\":null,"
		"\"dreyfusStage\":\"novice\"}");
	answered(must_call(METHOD_WRAP_UP_CONTEXT, NULL, "{\"sessionId\":\"x\"}"),
		"{\"actionLog\":[],\"phases\":[],\"completedPhases\":[],\"existingGaps\":"
		"[],"
		"\"accumulatedEvidence\":[],\"currentAssessments\":[],\"recentSession\":{"
		"\"phases_completed\":0,"
		"\"hints_used\":0,\"independent_completions\":0}}");
	answered(must_call(METHOD_DASHBOARD_STATE, NULL, "{}"),
		"{\"dreyfus\":[],\"stats\":{\"period\":\"all\",\"sessionsCompleted\":0,"
		"\"totalCoachingMinutes\":0,\"issuesWorkedOn\":0,"
		"\"knowledgeGapsIdentified\":0,"
		"\"knowledgeGapsAddressed\":0,\"hintsUsed\":0,\"apiCostTotal\":0},"
		"\"inProgressSessions\":[],"
		"\"katas\":[]}");
}
END_TEST

START_TEST(evidence_compares_the_last_session_with_those_before)
{
	static const struct {
		const char *hints; /* of completed sessions, oldest first */
		const char *trend;
	} cases[] = {{"", "stable"}, {"3", "stable"}, {"1 3", "increasing"},
		{"3 1", "decreasing"}, {"2 2", "stable"}, {"1 2 2", "increasing"},
		{"1 3 2", "stable"}, {"0 0 0", "stable"}};

	execute("INSERT INTO dreyfus_assessments VALUES ('d', 'css', 'novice', 0.5, 'e', "
		"'2026-01-01T00:00:00.000Z')");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int sessions = 0;

		execute("DELETE FROM plans; DELETE FROM sessions");
		for (const char *p = cases[i].hints; *p; p++) {
			if (*p == ' ')
				continue;
			sessions++;
			execute(arena_printf(&fixture_arena,
				"INSERT INTO sessions VALUES ('s%d', '/p', NULL, NULL, "
				"'completed', "
				"'2026-01-0%dT00:00:00.000Z', "
				"'2026-01-0%dT01:00:00.000Z');"
				"INSERT INTO plans VALUES ('pl%d', 's%d', 't', '2026');"
				"INSERT INTO phases VALUES ('ph%d', 'pl%d', 1, 't', 'd', "
				"'%s', 'file', '[]', NULL, NULL)",
				sessions, sessions, sessions, sessions, sessions,
				sessions, sessions,
				sessions == 1 ? "complete" : "pending")
					.ptr);
			for (int n = 0; n < *p - '0'; n++)
				execute(arena_printf(&fixture_arena,
					"INSERT INTO progress_events VALUES ('e%d-%d', "
					"'ph%d', 'hint_used', NULL, '2026')",
					sessions, n, sessions)
						.ptr);
		}
		ck_assert_ptr_nonnull(strstr(
			must_call(METHOD_WRAP_UP_CONTEXT, NULL, "{\"sessionId\":\"s1\"}")
				->outcome.answer.ptr,
			arena_printf(&fixture_arena,
				"\"accumulatedEvidence\":[{\"skill_area\":\"css\","
				"\"sessions\":%d,\"hint_trend\":\"%s\","
				"\"completion_rate\":%s",
				sessions, cases[i].trend,
				sessions == 0	? "0.0"
				: sessions == 1 ? "1.0"
						: "0.")
				.ptr));
	}
}
END_TEST

START_TEST(the_observer_sees_the_last_rows_in_order)
{
	const char *session = start_session();
	struct call *call;
	const char *answer;

	for (int i = 0; i < 205; i++)
		execute(arena_printf(&fixture_arena,
			"INSERT INTO action_log SELECT 'r%d', id, 'file_save', "
			"'{\"path\":\"f%d\"}', "
			"'2030-01-01T00:00:00.000Z' FROM sessions",
			i, i)
				.ptr);
	execute("INSERT INTO action_log SELECT 'm', id, 'observer_muted', "
		"'{\"muted\":true}', "
		"'2029-01-01T00:00:00.000Z' FROM sessions");
	call = must_call(METHOD_OBSERVER_CONTEXT, NULL,
		arena_printf(&fixture_arena, "{\"sessionId\":\"%s\"}", session).ptr);
	answer = call->outcome.answer.ptr;
	ck_assert_ptr_null(strstr(answer, "\"id\":\"r4\""));
	ck_assert_ptr_nonnull(strstr(answer,
		"[{\"n\":7,\"id\":\"r5\",\"type\":\"file_save\",\"data\":{\"path\":"
		"\"f5\"}"));
	ck_assert_ptr_nonnull(strstr(answer, "\"muted\":true"));
	ck_assert_ptr_nonnull(
		strstr(answer, "\"lastSaveAt\":\"2030-01-01T00:00:00.000Z\""));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("coaching");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_add_test(tc, a_plan_is_kept_with_its_rows);
	tcase_add_test(tc, a_plan_for_a_session_that_ended_is_refused);
	tcase_add_test(tc, known_gaps_count_and_new_ones_are_kept);
	tcase_add_test(tc, assessments_keep_their_row);
	tcase_add_test(tc, attempts_add_up_and_unlock);
	tcase_add_test(tc, an_attempt_repeated_after_a_kill_is_kept_once);
	tcase_add_test(tc, older_and_broken_kata_columns_do_no_harm);
	tcase_add_test(tc, d69_an_opened_kata_has_its_task_and_no_notes);
	tcase_add_test(tc, the_last_attempts_come_with_a_kata);
	tcase_add_test(tc, a_long_attempt_is_cut_and_says_so);
	tcase_add_test(tc, attempts_that_are_none_do_no_harm);
	tcase_add_test(tc, reviews_are_progress_of_the_active_phase);
	tcase_add_test(tc, calls_that_nobody_ended_are_logged_as_failed);
	tcase_add_test(tc, a_broken_list_of_open_calls_does_no_harm);
	tcase_add_test(tc, works_that_were_paid_for_are_found_by_the_next_worker);
	tcase_add_test(tc, answers_for_all_are_found_by_everybody_in_any_session);
	tcase_add_test(tc, a_work_is_no_answer_for_all);
	tcase_add_test(tc, works_belong_to_their_session);
	tcase_add_test(tc, works_are_kept_for_a_time_and_within_bounds);
	tcase_add_test(tc, a_broken_list_of_works_does_no_harm);
	tcase_add_test(tc, spending_adds_up);
	tcase_add_test(tc, contexts_of_an_empty_database);
	tcase_add_test(tc, evidence_compares_the_last_session_with_those_before);
	tcase_add_test(tc, the_observer_sees_the_last_rows_in_order);
	return check_run(tc);
}

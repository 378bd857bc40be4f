/* Tests of workers/guard-engine/engine/requests.h: what a model is told, and what not; of zones
 * by name, and of a wall clock that is far off. */
#include "tests/check_run.h"
#include "workers/guard-engine/engine/requests.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct arena arena;
static struct stream_row row_list[100];
static struct stream_rows page;

static void add(const char *type, const char *payload)
{
	size_t n = page.rows.count++;

	row_list[n] = (struct stream_row){
		.seq = (int64_t)n + 1,
		.type = str_of(type),
		.payload = arena_str(&arena, str_of(payload)),
	};
	page.rows.items = row_list;
}

static void setup(void)
{
	arena = (struct arena){0};
	page = (struct stream_rows){0};
}

static void teardown(void)
{
	arena_free(&arena);
}

START_TEST(test_control_is_told_the_last_answer_alone)
{
	struct request_rows rows;
	struct control_run run;

	add("created", "{}");
	add("question_asked", "{\"text\":\"First?\"}");
	add("answer", "{\"question\":\"First?\",\"answer\":\"FIRST\"}");
	add("assistant_message", "{\"text\":\"I see.\"}");
	add("control_result", "{\"pillars\":{}}");
	add("answer", "{\"question\":\"Second?\",\"answer\":\"SECOND\"}");
	add("answer", "{\"question\":\"Third?\",\"answer\":\"THIRD\"}");
	requests_read(&page, &arena, &rows);
	ck_assert(requests_control(&rows, 6, &arena, &run));
	ck_assert(str_is(run.question, "Second?"));
	ck_assert(str_is(run.answer, "SECOND"));
	ck_assert(str_is(run.history,
		"Interviewer: First?\nCandidate: FIRST\nInterviewer: I see.\n"));
	ck_assert(!requests_control(&rows, 5, &arena, &run));
	ck_assert(!requests_control(&rows, 60, &arena, &run));
	requests_free(&rows);
}
END_TEST

START_TEST(test_history_is_bounded)
{
	struct request_rows rows;
	struct control_run run;
	char payload[5000];
	int lines = 0;

	for (int i = 0; i < 40; i++) {
		snprintf(payload, sizeof(payload),
			"{\"question\":\"q%d\",\"answer\":\"%0*d\"}", i, 3000, i);
		add("answer", payload);
	}
	requests_read(&page, &arena, &rows);
	ck_assert(requests_control(&rows, 40, &arena, &run));
	for (size_t i = 0; i < run.history.len; i++)
		lines += run.history.ptr[i] == '\n';
	ck_assert_int_eq(lines, REQUESTS_HISTORY);
	ck_assert_uint_lt(
		run.history.len, REQUESTS_HISTORY * (REQUESTS_HISTORY_TEXT + 20));
	ck_assert(str_starts(run.history, "Interviewer: q24\n"));
	requests_free(&rows);
}
END_TEST

START_TEST(test_coverage_is_told_the_section)
{
	const struct interview_section *section = &interview_schema_default->sections[0];
	struct interview_coverage_request request;
	struct request_rows rows;
	struct buf json = {0};

	add("SECTION_STARTED", "{\"section_id\":\"problem_framing\"}");
	add("PROMPT_PRESENTED",
		"{\"section_id\":\"problem_framing\",\"prompt_text\":\"Why?\"}");
	add("CANDIDATE_MESSAGE", "{\"section_id\":\"problem_framing\",\"text\":\"Because."
				 "\",\"late\":false}");
	add("ASSISTANT_QUERY",
		"{\"section_id\":\"problem_framing\",\"text\":\"What is recall?\"}");
	add("CANDIDATE_MESSAGE",
		"{\"section_id\":\"problem_framing\",\"text\":\"Late.\",\"late\":true}");
	add("CANDIDATE_MESSAGE",
		"{\"section_id\":\"coding\",\"text\":\"Elsewhere.\",\"late\":false}");
	add("FOLLOWUP_PRESENTED",
		"{\"section_id\":\"problem_framing\",\"prompt_text\":\"And?\"}");
	add("CANDIDATE_CODE_SUBMISSION",
		"{\"section_id\":\"problem_framing\",\"code\":\"x\",\"late\":false}");
	add("CANDIDATE_MESSAGE", "{\"section_id\":\"problem_framing\",\"text\":\"After."
				 "\",\"late\":false}");
	requests_read(&page, &arena, &rows);
	requests_coverage(section, &rows, 8, &arena, &request);
	proto_encode(interview_coverage_request_type(), &request, &json);
	ck_assert_msg(
		strstr(json.data,
			"\"transcript\":[{\"speaker\":\"interviewer\",\"text\":\"Why?\"},"
			"{\"speaker\":\"candidate\",\"text\":\"Because.\"},"
			"{\"speaker\":\"interviewer\",\"text\":\"And?\"},"
			"{\"speaker\":\"candidate\",\"text\":\"x\"}]") != NULL,
		"%.*s", STR_ARG(buf_str(&json)));
	ck_assert_ptr_nonnull(strstr(json.data,
		"\"dimensions\":[\"problem_restatement\",\"metrics\",\"constraints\"]"));
	buf_free(&json);
	requests_free(&rows);
}
END_TEST

START_TEST(test_zones)
{
	static const char *const names[] = {"UTC", "Europe/Berlin", "Asia/Kathmandu",
		"America/New_York", "Australia/Lord_Howe"};
	char local[ZONE_CACHE_NAME_SIZE];

	ck_assert_ptr_null(zone_cache_find(STR_LIT("Mars/Olympus")));
	ck_assert_ptr_null(zone_cache_find(STR_LIT("../../etc/passwd")));
	ck_assert_ptr_null(zone_cache_find(STR_LIT("/etc/localtime")));
	ck_assert_ptr_null(zone_cache_find(STR_LIT("Europe")));
	ck_assert_ptr_null(zone_cache_find(STR_LIT("zone.tab")));
	/* More than are kept, again and again. */
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			ck_assert_ptr_nonnull(zone_cache_find(str_of(names[i])));
		for (int hours = 1; hours <= 14; hours++) {
			char name[20];

			snprintf(name, sizeof(name), "Etc/GMT-%d", hours);
			ck_assert_int_eq(zone_offset(zone_cache_find(str_of(name)), 0),
				hours * 3600);
		}
	}
	setenv("TZ", "Asia/Tokyo", 1);
	zone_cache_local(local);
	ck_assert_str_eq(local, "Asia/Tokyo");
	setenv("TZ", ":Europe/Berlin", 1);
	zone_cache_local(local);
	ck_assert_str_eq(local, "Europe/Berlin");
	setenv("TZ", "nonsense", 1);
	zone_cache_local(local);
	ck_assert_ptr_nonnull(zone_cache_find(str_of(local)));
}
END_TEST

/* In place of the C library's: the wall clock can be set. */
static time_t wall_back_s;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	if (r == 0 && clock == CLOCK_REALTIME)
		t->tv_sec -= wall_back_s;
	return r;
}

START_TEST(test_before_1970_it_is_1970)
{
	struct clocks c = {.boot_id = "boot"};
	struct moment now = clocks_now(&c, MACHINE_CLOCK_BOOT);

	ck_assert_int_gt(now.wall_ms, 1577836800000);
	wall_back_s = time(NULL) + 1000000;
	now = clocks_now(&c, MACHINE_CLOCK_BOOT);
	ck_assert_int_eq(now.wall_ms, 0);
	ck_assert_int_gt(now.raw_ms, 0);
	wall_back_s = 0;
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_control_is_told_the_last_answer_alone);
	tcase_add_test(tcase, test_history_is_bounded);
	tcase_add_test(tcase, test_coverage_is_told_the_section);
	tcase_add_test(tcase, test_zones);
	tcase_add_test(tcase, test_before_1970_it_is_1970);
	return check_run(tcase);
}

/* Tests of what /health and /ready say (workers/gateway/daemon/fleet_view.h). */
#include "tests/check_run.h"
#include "workers/gateway/daemon/fleet_view.h"
#include <stdlib.h>

struct saying {
	const char *what;
	/* One letter per worker in the order of workers.def: u up and fine, d up and
	 * degraded, f up and failing, b in backoff, - not mentioned. */
	const char *workers;
	int status;
	const char *word;
	bool ready;
};

static const struct saying sayings[] = {
	{"all fine", "uuuuuu--", 200, "ok", true},
	{"nothing known", "--------", 503, "degraded", false},
	{"a resource is limited", "uuduuu--", 200, "degraded", true},
	{"a worker is down", "uubuuu--", 200, "degraded", false},
	{"the store is down", "ubuuuu--", 503, "degraded", false},
	{"the store takes no writes", "ufuuuu--", 503, "degraded", true},
	{"the store is degraded", "uduuuu--", 200, "degraded", true},
	{"another worker fails", "uufuuu--", 200, "degraded", true},
	{"an optional worker is there", "uuuuuuu-", 200, "ok", true},
	{"an optional worker is wanted and down", "uuuuuub-", 200, "degraded", false},
};

static void put_fleet(const char *workers, struct buf *out)
{
	bool first = true;

	buf_printf(out, "{\"startedMs\":1000000,\"workers\":[");
	for (int i = 0; i < WORKER_COUNT; i++) {
		char w = workers[i];

		if (w == '-')
			continue;
		buf_printf(out,
			"%s{\"name\":\"%s\",\"up\":%s,\"state\":\"%s\",\"condition\":\"%"
			"s\","
			"\"restarts\":%d}",
			first ? "" : ",", worker_infos[i].name,
			w == 'b' ? "false" : "true", w == 'b' ? "backoff" : "ready",
			w == 'd'   ? "degraded"
			: w == 'f' ? "failing"
				   : "fine",
			i);
		first = false;
	}
	buf_printf(out, "]}");
}

START_TEST(says)
{
	const struct saying *s = &sayings[_i];
	struct fleet_view view = {0};
	struct proto_error error;
	struct buf fleet = {0}, body = {0};
	yyjson_doc *doc;
	yyjson_val *root;
	int status;

	put_fleet(s->workers, &fleet);
	if (strcmp(s->workers, "--------") != 0)
		ck_assert_msg(fleet_view_update(&view, buf_str(&fleet), &error) == 0,
			"%s", error.text);
	status = fleet_view_health(&view, (struct mono){1002500L * 1000}, &body);
	ck_assert_msg(status == s->status, "%s: %d", s->what, status);
	doc = yyjson_read(body.data, body.len, 0);
	root = yyjson_doc_get_root(doc);
	ck_assert_msg(yyjson_equals_str(yyjson_obj_get(root, "status"), s->word), "%s",
		s->what);
	ck_assert_uint_eq(yyjson_obj_size(yyjson_obj_get(root, "workers")),
		WORKER_COUNT - (s->workers[WORKER_AGENT] == '-') -
			(s->workers[WORKER_MIRROR] == '-'));
	ck_assert_msg(fleet_view_ready(&view) == s->ready, "%s", s->what);
	yyjson_doc_free(doc);
	buf_free(&fleet);
	buf_free(&body);
}
END_TEST

START_TEST(counts_from_the_start_of_the_daemon)
{
	struct fleet_view view = {.started = {1000000L * 1000}};
	struct buf body = {0};

	fleet_view_health(&view, (struct mono){1002500L * 1000}, &body);
	ck_assert(memmem(body.data, body.len, "\"uptime\":2.500,", 15));
	buf_clear(&body);
	/* Before anything is known. */
	view.started.us = 0;
	fleet_view_health(&view, (struct mono){999000L * 1000}, &body);
	ck_assert(memmem(body.data, body.len, "\"uptime\":0.000,", 15));
	buf_free(&body);
}
END_TEST

START_TEST(tells_states_of_workers_that_are_down)
{
	struct fleet_view view = {0};
	struct proto_error error;
	struct buf fleet = {0}, body = {0};

	put_fleet("uubuuu-", &fleet);
	ck_assert_int_eq(fleet_view_update(&view, buf_str(&fleet), &error), 0);
	fleet_view_health(&view, (struct mono){0}, &body);
	ck_assert(memmem(body.data, body.len, "\"fswatch\":\"backoff\"", 19));
	ck_assert(memmem(body.data, body.len, "\"store\":\"up\"", 12));
	buf_free(&fleet);
	buf_free(&body);
}
END_TEST

START_TEST(keeps_the_view_when_a_packet_is_wrong)
{
	struct fleet_view view = {.started = {5}};
	struct proto_error error;

	ck_assert_int_lt(
		fleet_view_update(&view, STR_LIT("{\"workers\":[]}"), &error), 0);
	ck_assert_int_lt(fleet_view_update(&view, STR_LIT("nonsense"), &error), 0);
	ck_assert_int_eq(view.started.us, 5);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("health");

	check_add_table(tc, says, sayings);
	tcase_add_test(tc, counts_from_the_start_of_the_daemon);
	tcase_add_test(tc, tells_states_of_workers_that_are_down);
	tcase_add_test(tc, keeps_the_view_when_a_packet_is_wrong);
	return check_run(tc);
}

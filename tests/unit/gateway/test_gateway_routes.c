/* Tests of the table of routes, its errors, reviews under way, and of raw JSON members
 * (workers/gateway). */
#include "common/bus/bus.h"
#include "proto/tables/ws.h"
#include "tests/check_run.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/routes/routes.h"
#include <stdlib.h>

static bool has_field(const struct type *type, const char *wire)
{
	for (size_t i = 0; i < type->count; i++)
		if (strcmp(type->fields[i].wire, wire) == 0)
			return true;
	return false;
}

/* Every message has a route that its names fit: answers and errors are in the catalogue,
 * and of the type of the method's reply. */
START_TEST(routes_every_message)
{
	for (size_t i = 0; i < ws_client_count; i++) {
		const struct route *route = route_of(str_of(ws_client_infos[i].name));

		ck_assert_msg(route, "%s", ws_client_infos[i].name);
		if (route->kind != ROUTE_CALL) {
			ck_assert_msg(
				route->kind != ROUTE_STUB, "%s is a stub", route->type);
			continue;
		}
		ck_assert_msg(ws_server_by_name(str_of(route->error_type)) >= 0, "%s",
			route->type);
		if (route->answer) {
			int answer = ws_server_by_name(str_of(route->answer));

			ck_assert_msg(answer >= 0, "%s", route->type);
			ck_assert_msg(method_infos[route->method].reply ==
					      ws_server_infos[answer].payload,
				"%s", route->type);
			/* What followers get as well is an answer to its sender alone. */
			ck_assert_msg(
				ws_server_infos[answer].audience == WS_TO_ALL ||
					ws_server_infos[answer].audience ==
						WS_TO_SENDER ||
					ws_server_infos[answer].audience == WS_TO_AGENTS,
				"%s: the sender does not get its answer", route->type);
		}
		ck_assert_msg(method_infos[route->method].callers & BY_GATEWAY,
			"%s: the gateway may not call %s", route->type,
			method_infos[route->method].name);
		ck_assert_msg(method_infos[route->method].request() ==
				      ws_client_infos[i].payload(),
			"%s", route->type);
		/* What errors repeat is a field of the message. */
		ck_assert_msg(!route->echo || has_field(ws_client_infos[i].payload(),
						      route->echo),
			"%s: no field %s", route->type, route->echo);
	}
	ck_assert(!route_of(STR_LIT("galaxy:explode")));
	ck_assert(!route_of(STR_LIT("")));
}
END_TEST

struct error_case {
	const char *what;
	const char *type;
	const char *code, *message, *context;
	const char *id, *echo;
	const char *payload;
};

static const struct error_case error_cases[] = {
	{"file that cannot be opened", "file:open", "FILE_ERROR", "no",
		"{\"path\":\"a\"}", "\"1\"", "\"a\"",
		"{\"code\":\"FILE_ERROR\",\"message\":\"no\",\"context\":{\"path\":\"a\"}"
		"}"},
	{"file that there is not, as the file worker says it", "file:open", "FILE_ERROR",
		"no", "{\"path\":\"a\",\"missing\":true}", "\"1\"", "\"a\"",
		"{\"code\":\"FILE_ERROR\",\"message\":\"no\",\"context\":{\"path\":\"a\"}"
		","
		"\"missing\":true}"},
	{"owner without context", "file:open", "TIMEOUT", "late", NULL, NULL, "\"a\"",
		"{\"code\":\"TIMEOUT\",\"message\":\"late\",\"context\":{\"path\":\"a\"}"
		"}"},
	{"nothing to repeat", "file:close", "TIMEOUT", "late", NULL, "7", NULL,
		"{\"code\":\"TIMEOUT\",\"message\":\"late\",\"context\":{\"type\":\"file:"
		"close\","
		"\"id\":7}}"},
	{"save", "file:save", "FILE_ERROR", "disk \"full\"", NULL, NULL, "\"a\"",
		"{\"path\":\"a\",\"error\":\"disk "
		"\\\"full\\\"\",\"code\":\"FILE_ERROR\"}"},
	{"conflict", "file:save", "CONFLICT", "changed",
		"{\"path\":\"b\",\"version\":\"v2\"}", NULL, "\"a\"",
		"{\"path\":\"a\",\"error\":\"changed\",\"code\":\"CONFLICT\",\"version\":"
		"\"v2\"}"},
	{"explain", "user:explain", "UNAVAILABLE", "away", NULL, NULL, "\"a\"",
		"{\"path\":\"a\",\"error\":\"away\"}"},
	{"review without a kata", "user:review", "NOT_IMPLEMENTED", "no", NULL, NULL,
		NULL, "{\"kataId\":null,\"error\":\"no\"}"},
	{"issues", "dashboard:refresh_issues", "TIMEOUT", "gh", NULL, NULL, NULL,
		"{\"error\":\"gh\"}"},
};

START_TEST(writes_errors)
{
	const struct error_case *c = &error_cases[_i];
	const struct route *route = route_of(str_of(c->type));
	const struct bus_reply reply = {.status = BUS_ERROR,
		.code = str_of(c->code),
		.message = str_of(c->message),
		.context = str_of(c->context)};
	struct buf out = {0};

	route_error_payload(
		route, &reply, str_of(c->type), str_of(c->id), str_of(c->echo), &out);
	ck_assert_msg(str_is(buf_str(&out), c->payload), "%s: %.*s", c->what,
		STR_ARG(buf_str(&out)));
	buf_free(&out);
}
END_TEST

struct member {
	const char *what;
	const char *text;
	const char *name;
	const char *value; /* NULL: absent */
	bool last;	   /* of the members, or absent */
};

static const struct member members[] = {
	{"string", "{\"a\":\"x\"}", "a", "\"x\"", true},
	{"blanks", " { \"a\" :\t\"x\" , \"b\":1 } ", "a", "\"x\"", false},
	{"number", "{\"a\":-1.5e3}", "a", "-1.5e3", true},
	{"number before a blank", "{\"a\":12 ,\"b\":1}", "a", "12", false},
	{"word", "{\"a\":null,\"b\":true}", "b", "true", true},
	{"object", "{\"a\":{\"b\":[1,{\"c\":2}]},\"d\":3}", "a", "{\"b\":[1,{\"c\":2}]}",
		false},
	{"behind an object", "{\"a\":{\"b\":[1,{\"c\":2}]},\"d\":3}", "d", "3", true},
	{"not of an inner object", "{\"a\":{\"b\":1}}", "b", NULL, true},
	{"empty object and array", "{\"a\":{},\"b\":[],\"c\":0}", "c", "0", true},
	{"brackets in strings", "{\"a\":\"}]{[\",\"b\":2}", "b", "2", true},
	{"escaped quotes", "{\"a\":\"x\\\"y\\\\\",\"b\":2}", "b", "2", true},
	{"escaped backslashes", "{\"a\":\"\\\\\\\\\",\"b\":2}", "b", "2", true},
	{"first of two", "{\"a\":1,\"a\":2}", "a", "1", false},
	{"longer key", "{\"ab\":1}", "a", NULL, true},
	{"empty key", "{\"\":1}", "", "1", true},
	{"array", "[1]", "a", NULL, true},
	{"empty", "", "a", NULL, true},
	{"blanks behind", " { \"b\":1, \"a\" :\t{ \"c\" : [ ] }\r\n } \n", "a",
		"{ \"c\" : [ ] }", true},
	{"behind all others", "{\"b\":{\"a\":1},\"c\":\"}\",\"a\":[2,\"]}\"]}", "a",
		"[2,\"]}\"]", true},
	{"no members", "{}", "a", NULL, true},
};

static void check_slice(const struct member *m, struct str value)
{
	if (m->value)
		ck_assert_msg(value.ptr && str_is(value, m->value), "%s: %.*s", m->what,
			STR_ARG(value));
	else
		ck_assert_msg(!value.ptr, "%s: %.*s", m->what, STR_ARG(value));
}

START_TEST(slices)
{
	const struct member *m = &members[_i];

	check_slice(m, json_slice_member(str_of(m->text), m->name));
	if (m->last)
		check_slice(m, json_slice_last_member(str_of(m->text), m->name));
}
END_TEST

#define OPENED "{\"kata\":{\"id\":\"k\"}}"

static void tells(const char *kata, const char *expected)
{
	struct buf out = {0};
	bool told = route_review_tell(str_of(kata), STR_LIT(OPENED), &out);

	ck_assert_int_eq(told, expected != NULL);
	if (expected)
		ck_assert_msg(
			str_is(buf_str(&out), expected), "%.*s", STR_ARG(buf_str(&out)));
	else
		ck_assert_uint_eq(out.len, 0);
	buf_free(&out);
}

#define SINCE(time)                                                                      \
	"{\"reviewSince\":\"1970-01-01T00:00:0" time ".000Z\",\"kata\":{\"id\":\"k\"}}"

START_TEST(a_window_is_told_of_the_first_review_of_its_kata)
{
	struct route_review one, other, nothing, again;

	tells("\"k\"", NULL);
	route_review_begin(&nothing, (struct str){NULL, 0}, (struct wall){0});
	route_review_begin(&other, STR_LIT("\"other\""), (struct wall){1000000});
	tells("\"k\"", NULL);
	tells(NULL, NULL);
	route_review_begin(&one, STR_LIT("\"k\""), (struct wall){2000000});
	route_review_begin(&again, STR_LIT("\"k\""), (struct wall){3000000});
	tells("\"k\"", SINCE("2"));
	tells("\"other\"", SINCE("1"));
	route_review_end(&one);
	tells("\"k\"", SINCE("3"));
	route_review_end(&again);
	tells("\"k\"", NULL);
	route_review_end(&nothing);
	route_review_end(&other);
	tells("\"other\"", NULL);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("routes");

	tcase_add_test(tc, routes_every_message);
	tcase_add_test(tc, a_window_is_told_of_the_first_review_of_its_kata);
	check_add_table(tc, writes_errors, error_cases);
	check_add_table(tc, slices, members);
	return check_run(tc);
}

/* Tests of /guards/... requests read as calls (workers/gateway/web/guards.h). */
#include "tests/check_run.h"
#include "workers/gateway/web/guards.h"
#include <stdlib.h>

struct reading {
	const char *what;
	bool is_post;
	const char *path, *query, *body;
	int refusal; /* HTTP status; 0: a call */
	enum method method;
	int status;
	const char *call;
};

static const struct reading readings[] = {
	{"create", true, "idle", NULL, "{\"id\":\"a\",\"config\":{\"maxIdleMs\":5}}", 0,
		METHOD_GUARD_CREATE, 201,
		"{\"kind\":\"idle\",\"id\":\"a\",\"config\":{\"maxIdleMs\":5}}"},
	{"create without anything", true, "breakloop", NULL, "", 0, METHOD_GUARD_CREATE,
		201, "{\"kind\":\"breakloop\"}"},
	{"create ignores what it does not know", true, "idle", NULL,
		"{\"kind\":\"x\",\"y\":1}", 0, METHOD_GUARD_CREATE, 201,
		"{\"kind\":\"idle\"}"},
	{"event", true, "interview/i1/events", NULL, "{\"type\":\"start\"}", 0,
		METHOD_GUARD_EVENT, 200,
		"{\"kind\":\"interview\",\"id\":\"i1\",\"event\":{\"type\":\"start\"}}"},
	{"list", false, "session-guard", NULL, "", 0, METHOD_GUARD_LIST, 200,
		"{\"kind\":\"session-guard\"}"},
	{"list, slash behind", false, "session-guard/", NULL, "", 0, METHOD_GUARD_LIST,
		200, "{\"kind\":\"session-guard\"}"},
	{"get", false, "idle/with \"quote\"", NULL, "", 0, METHOD_GUARD_GET, 200,
		"{\"kind\":\"idle\",\"id\":\"with \\\"quote\\\"\"}"},
	{"stream", false, "idle/a/events", NULL, "", 0, METHOD_GUARD_EVENTS, 200,
		"{\"kind\":\"idle\",\"id\":\"a\"}"},
	{"stream since", false, "idle/a/events", "x=1&since=17", "", 0,
		METHOD_GUARD_EVENTS, 200,
		"{\"kind\":\"idle\",\"id\":\"a\",\"since\":17}"},
	{"bundle", false, "interview/i1/bundle", "for=ops", "", 0, METHOD_GUARD_BUNDLE,
		200, "{\"id\":\"i1\",\"for\":\"ops\"}"},
	{"bundle, quoted", false, "interview/i1/bundle", "for=a\"b", "", 0,
		METHOD_GUARD_BUNDLE, 200, "{\"id\":\"i1\",\"for\":\"a\\\"b\"}"},
	{"replay", false, "idle/a/replay", NULL, "", 0, METHOD_GUARD_REPLAY, 200,
		"{\"kind\":\"idle\",\"id\":\"a\"}"},
	{"no kind", false, "", NULL, "", 404, 0, 0, NULL},
	{"unknown kind", false, "nothing", NULL, "", 404, 0, 0, NULL},
	{"bundle of another kind", false, "idle/a/bundle", NULL, "", 404, 0, 0, NULL},
	{"unknown part", false, "idle/a/else", NULL, "", 404, 0, 0, NULL},
	{"too many parts", false, "idle/a/events/b", NULL, "", 404, 0, 0, NULL},
	{"empty part", false, "idle//events", NULL, "", 404, 0, 0, NULL},
	{"since no number", false, "idle/a/events", "since=-1", "", 400, 0, 0, NULL},
	{"since empty", false, "idle/a/events", "since=", "", 400, 0, 0, NULL},
	{"post to an instance", true, "idle/a", NULL, "{}", 404, 0, 0, NULL},
	{"post to a bundle", true, "interview/a/bundle", NULL, "{}", 404, 0, 0, NULL},
	{"body no JSON", true, "idle", NULL, "{", 400, 0, 0, NULL},
	{"body no object", true, "idle", NULL, "[1]", 400, 0, 0, NULL},
};

START_TEST(reads)
{
	const struct reading *r = &readings[_i];
	struct guards_call call = {0};
	const char *error = NULL;
	int refusal = guards_read(r->is_post, str_of(r->path), str_of(r->query),
		str_of(r->body), &call, &error);

	ck_assert_msg(refusal == r->refusal, "%s: %d", r->what, refusal);
	if (refusal) {
		ck_assert_msg(error && *error, "%s", r->what);
		return;
	}
	ck_assert_msg(
		call.method == r->method && call.status == r->status, "%s", r->what);
	ck_assert_msg(str_is(buf_str(&call.body), r->call), "%s: %.*s", r->what,
		STR_ARG(buf_str(&call.body)));
	buf_free(&call.body);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("guards");

	check_add_table(tc, reads, readings);
	return check_run(tc);
}

/* Tests of the state for a window that returns: workers/gateway/routes/restored.h, and of replies that stay
 * where the bus has put them (workers/gateway/ws/payload.h). */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/fuzz/bus_stub.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/restored.h"
#include "workers/gateway/ws/payload.h"

#define SLICE (1024u * 1024) /* copied in a turn at most */

static struct gateway gateway;
static struct worker worker;
static struct buf restored; /* what the window gets */
static int given;

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR + 1);
	worker.base = event_base_new();
	gateway.worker = &worker;
	given = 0;
	buf_clear(&restored);
}

static void teardown(void)
{
	ck_assert_uint_eq(stub_count, 0);
	buf_free(&restored);
	event_base_free(worker.base);
}

static void on_restored(void *arg, struct payload *payload)
{
	ck_assert_ptr_eq(arg, &given);
	given++;
	buf_add(&restored, payload->text, payload->len);
}

static void begin(void)
{
	restored_complete(&gateway,
		STR_LIT("{\"restoredState\":{\"session\":{\"id\":\"s\"}}}"), on_restored,
		&given);
}

/* Answers the one call that waits. */
static void reply(const struct bus_reply *with)
{
	bus_reply_fn *fn = stub_calls[0].fn;
	void *arg = stub_calls[0].arg;

	ck_assert_uint_eq(stub_count, 1);
	stub_count = 0;
	fn(arg, with);
}

static void reply_text(const char *json)
{
	reply(&(struct bus_reply){.status = BUS_OK, .body = str_of(json)});
}

static void check_given(const char *json)
{
	ck_assert_int_eq(given, 1);
	ck_assert_msg(
		str_is(buf_str(&restored), json), "%.*s", STR_ARG(buf_str(&restored)));
}

START_TEST(the_parts_are_put_together)
{
	begin();
	reply_text("{\"open_files\":[\"a\"]}");
	reply_text("{\"next\":\"b\",\"buffers\":[1]}");
	reply_text("{\"buffers\":[2]}");
	ck_assert_int_eq(given, 0);
	reply_text("{\"diffs\":[]}");
	check_given("{\"restoredState\":{\"open_files\":[\"a\"],\"buffers\":[1,2],"
		    "\"diffs\":[],"
		    "\"session\":{\"id\":\"s\"}}}");
}
END_TEST

/* How many items come before the file worker is too slow, and what the window has then. */
static const struct {
	int before;
	const char *given;
} late[] = {
	{0, "{\"restoredState\":{\"open_files\":[],\"buffers\":[],\"diffs\":[],"
	    "\"session\":{\"id\":\"s\"}},\"incomplete\":true}"},
	{1, "{\"restoredState\":{\"open_files\":[\"a\"],\"buffers\":[],\"diffs\":[],"
	    "\"session\":{\"id\":\"s\"}},\"incomplete\":true}"},
	{2, "{\"restoredState\":{\"open_files\":[\"a\"],\"buffers\":[1],\"diffs\":[],"
	    "\"session\":{\"id\":\"s\"}},\"incomplete\":true}"},
	{3, "{\"restoredState\":{\"open_files\":[\"a\"],\"buffers\":[1,2],\"diffs\":[],"
	    "\"session\":{\"id\":\"s\"}},\"incomplete\":true}"},
};

/* What did not come in time does not come later: the window is told, so that it asks. */
START_TEST(a_window_is_told_that_something_is_missing)
{
	static const char *const parts[] = {"{\"open_files\":[\"a\"]}",
		"{\"next\":\"b\",\"buffers\":[1]}", "{\"buffers\":[2]}"};

	begin();
	for (int i = 0; i < late[_i].before; i++)
		reply_text(parts[i]);
	reply(&(struct bus_reply){.status = BUS_TIMEOUT,
		.code = STR_LIT("TIMEOUT"),
		.message = STR_LIT("too late")});
	check_given(late[_i].given);
}
END_TEST

static void turn(void)
{
	ck_assert_int_eq(event_base_loop(worker.base, EVLOOP_ONCE), 0);
}

/* A part of so many megabytes is copied as many turns long, and stays where it came until then. */
START_TEST(a_long_part_is_copied_in_slices)
{
	enum { PARTS = 2, MEGABYTES = 8 };
	struct buf part = {0};

	buf_add_str(&part, STR_LIT("{\"next\":\"b\",\"buffers\":[\""));
	memset(buf_reserve(&part, MEGABYTES * SLICE), 'x', MEGABYTES * SLICE);
	part.len += MEGABYTES * SLICE;
	buf_add_str(&part, STR_LIT("\"]}"));
	begin();
	reply_text("{\"open_files\":[]}");
	for (int i = 0; i < PARTS; i++) {
		struct bus_kept kept = {1};
		size_t turns = 0;

		reply(&(struct bus_reply){
			.status = BUS_OK, .body = buf_str(&part), .kept = &kept});
		for (; stub_count == 0 && turns < 2 * MEGABYTES; turns++) {
			ck_assert_uint_eq(kept.refs, 2);
			turn();
		}
		/* The first slice was copied in the turn of the reply. */
		ck_assert_uint_ge((turns + 1) * SLICE, part.len - 100);
		ck_assert_uint_eq(stub_count, 1);
		ck_assert_uint_eq(kept.refs, 1);
	}
	reply_text("{\"buffers\":[]}");
	reply_text("{\"diffs\":[]}");
	ck_assert_int_eq(given, 1);
	ck_assert_uint_gt(restored.len, PARTS * MEGABYTES * SLICE);
	ck_assert_ptr_null(memmem(restored.data, restored.len, "incomplete", 10));
	buf_free(&part);
}
END_TEST

START_TEST(a_reply_that_can_be_kept_is_not_copied)
{
	struct bus_kept kept = {1};
	struct bus_reply with = {.body = STR_LIT("{\"long\":1}"), .kept = &kept};
	struct payload *payload = payload_of_reply(&with);

	ck_assert_ptr_eq(payload->text, with.body.ptr);
	ck_assert_uint_eq(payload->len, with.body.len);
	ck_assert_uint_eq(kept.refs, 2);
	payload_unref(payload_ref(payload));
	ck_assert_uint_eq(kept.refs, 2);
	payload_unref(payload);
	ck_assert_uint_eq(kept.refs, 1);

	with.kept = NULL;
	payload = payload_of_reply(&with);
	ck_assert_ptr_ne(payload->text, with.body.ptr);
	ck_assert(str_is((struct str){payload->text, payload->len}, "{\"long\":1}"));
	payload_unref(payload);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("restored");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_parts_are_put_together);
	check_add_table(tc, a_window_is_told_that_something_is_missing, late);
	tcase_add_test(tc, a_long_part_is_copied_in_slices);
	tcase_add_test(tc, a_reply_that_can_be_kept_is_not_copied);
	return check_run(tc);
}

/* The framing of bus messages: what is written is read back, everything else is refused.
 */
#include "common/bus/rules/bus_wire.h"
#include "tests/check_run.h"
#include <errno.h>
#include <stdlib.h>

static struct str all(const char *text)
{
	return str_of(text);
}

static void check_str(struct str s, const char *expected)
{
	ck_assert_msg(str_is(s, expected), "'%.*s' is not '%s'", STR_ARG(s), expected);
}

/* ---- heads ---- */

START_TEST(head_survives)
{
	const struct bus_head cases[] = {
		{1, WORKER_GATEWAY, {3, 4}, 2, 1, 1, 0, 0},
		{UINT64_MAX, WORKER_GUARD_ENGINE, {UINT64_MAX, UINT64_MAX}, UINT64_MAX,
			UINT64_MAX - 1, UINT64_MAX, UINT32_MAX, INT64_MAX},
		{0, WORKER_LLM, {0, 0}, 0, 0, 0, 0, -5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[BUS_LINE_MAX];
		size_t n = bus_head_format(&cases[i], line);
		struct str rest = {line, n};
		struct bus_head h;

		ck_assert_int_eq(bus_head_parse(&rest, &h), 1);
		ck_assert_uint_eq(rest.len, 0);
		ck_assert_uint_eq(h.epoch, cases[i].epoch);
		ck_assert_int_eq(h.caller, cases[i].caller);
		ck_assert(bus_key_equal(&h.key, &cases[i].key));
		ck_assert_uint_eq(h.incarnation, cases[i].incarnation);
		ck_assert_uint_eq(h.base, cases[i].base);
		ck_assert_uint_eq(h.seq, cases[i].seq);
		ck_assert_uint_eq(h.part, cases[i].part);
		ck_assert_int_eq(h.sent_us, cases[i].sent_us);
	}
}
END_TEST

static const char *const bad_heads[] = {
	"B 1 gateway 5 6 2 1 1 0 0",		       /* no newline */
	"B 1 gateway 5 6 2 1 1 0\n",		       /* a word is missing */
	"B 1 gateway 5 6 2 1 1 0 0 0\n",	       /* one too many */
	"B 1 nobody 5 6 2 1 1 0 0\n",		       /* not a worker */
	"C 1 gateway 5 6 2 1 1 0 0\n",		       /* another letter */
	"B 1 gateway 5 6 2 x 1 0 0\n",		       /* not a number */
	"B 1 gateway 5 6 2  1 0 0\n",		       /* an empty word */
	"B 11111111111111111 gateway 5 6 2 1 1 0 0\n", /* more than 64 bits */
	"B 1 gateway 5 6 2 1 1 4294967296 0\n",	       /* more than 32 bits */
	"B 1 gateway 5 6 2 99999999999999999999 1 0 0\n",
	"B 1 gateway 5 6 2 1 1 0 -\n",
	"\n",
	"{\"type\":\"ping\"}\n",
};

START_TEST(head_refused)
{
	struct str rest = all(bad_heads[_i]), before = rest;
	struct bus_head h;

	ck_assert_int_eq(bus_head_parse(&rest, &h), -EINVAL);
	ck_assert_ptr_eq(rest.ptr, before.ptr);
	ck_assert_uint_eq(rest.len, before.len);
}
END_TEST

START_TEST(nothing_is_the_end)
{
	struct str rest = {"", 0};
	struct bus_head h;
	struct bus_call_record c;
	struct bus_reply_head a;
	struct bus_reply_record r;
	struct bus_event_record e;

	ck_assert_int_eq(bus_head_parse(&rest, &h), 0);
	ck_assert_int_eq(bus_call_parse(&rest, &c), 0);
	ck_assert_int_eq(bus_reply_head_parse(&rest, &a), 0);
	ck_assert_int_eq(bus_reply_parse(&rest, &r), 0);
	ck_assert_int_eq(bus_event_parse(&rest, &e), 0);
}
END_TEST

/* ---- calls ---- */

START_TEST(calls_follow_each_other)
{
	static const char body[] = "{\"text\":\"a\nC 9 x 1 - 0\n\"}";
	struct bus_call_record first = {
		7, STR_LIT("fs.open"), 5000, {NULL, 0}, STR_LIT(body)};
	struct bus_call_record second = {
		8, STR_LIT("session.start"), 1, STR_LIT("0192-ab"), STR_LIT("")};
	char message[2 * BUS_LINE_MAX + sizeof(body)];
	size_t n = bus_call_format(&first, message);
	struct bus_call_record c;
	struct str rest;

	memcpy(message + n, body, sizeof(body) - 1);
	n += sizeof(body) - 1;
	n += bus_call_format(&second, message + n);
	rest = (struct str){message, n};
	ck_assert_int_eq(bus_call_parse(&rest, &c), 1);
	ck_assert_uint_eq(c.id, 7);
	check_str(c.method, "fs.open");
	ck_assert_int_eq(c.deadline_ms, 5000);
	ck_assert_ptr_null(c.key.ptr);
	check_str(c.body, body);
	ck_assert_int_eq(bus_call_parse(&rest, &c), 1);
	check_str(c.key, "0192-ab");
	ck_assert_uint_eq(c.body.len, 0);
	ck_assert_int_eq(bus_call_parse(&rest, &c), 0);
}
END_TEST

static const char *const bad_calls[] = {
	"C 1 fs.open 5 - 3\nab", /* the body is shorter */
	"C 1 fs.open 5 -\n",	 /* no length */
	"C 1 fs.open 5 - 0 0\n", /* one too many */
	"C -1 fs.open 5 - 0\n",	 /* an id has no sign */
	"C 1 fs.open five - 0\n",
	"C 1 fs.open 5 - 18446744073709551615\n",
	"R 1 ok 0\n",
};

START_TEST(call_refused)
{
	struct str rest = all(bad_calls[_i]);
	struct bus_call_record c;

	ck_assert_int_eq(bus_call_parse(&rest, &c), -EINVAL);
}
END_TEST

START_TEST(endless_line_refused)
{
	char text[2 * BUS_LINE_MAX];
	struct str rest = {text, sizeof(text)};
	struct bus_call_record c;

	memset(text, '1', sizeof(text));
	text[0] = 'C';
	text[1] = ' ';
	text[sizeof(text) - 1] = '\n';
	ck_assert_int_eq(bus_call_parse(&rest, &c), -EINVAL);
}
END_TEST

/* ---- replies and events ---- */

START_TEST(replies_survive)
{
	struct bus_reply_head head = {3, 2, BUS_REPLY_MORE}, h;
	struct bus_reply_record ok = {5, true, STR_LIT("{}")}, r;
	char message[2 * BUS_LINE_MAX];
	size_t n = bus_reply_head_format(&head, message);
	struct str rest;

	n += bus_reply_format(&ok, message + n);
	memcpy(message + n, "{}", 2);
	rest = (struct str){message, n + 2};
	ck_assert_int_eq(bus_reply_head_parse(&rest, &h), 1);
	ck_assert_uint_eq(h.seq, 3);
	ck_assert_uint_eq(h.part, 2);
	ck_assert_int_eq(h.kind, BUS_REPLY_MORE);
	ck_assert_int_eq(bus_reply_parse(&rest, &r), 1);
	ck_assert(r.ok);
	ck_assert_uint_eq(r.id, 5);
	check_str(r.body, "{}");
	ck_assert_int_eq(bus_reply_parse(&rest, &r), 0);
}
END_TEST

static const char *const bad_replies[] = {
	"R 1 maybe 0\n",
	"R 1 ok 1\n",
	"R ok 0\n",
};

START_TEST(reply_refused)
{
	struct str rest = all(bad_replies[_i]);
	struct bus_reply_record r;

	ck_assert_int_eq(bus_reply_parse(&rest, &r), -EINVAL);
}
END_TEST

START_TEST(reply_head_refused)
{
	struct str rest = all("A 1 0 maybe\n");
	struct bus_reply_head h;

	ck_assert_int_eq(bus_reply_head_parse(&rest, &h), -EINVAL);
}
END_TEST

START_TEST(event_survives)
{
	struct bus_event_record event = {
		STR_LIT("action/file_save"), 0xabcdef, 12, STR_LIT("")};
	char line[BUS_LINE_MAX];
	struct str rest = {line, bus_event_format(&event, line)};
	struct bus_event_record e;

	ck_assert_int_eq(bus_event_parse(&rest, &e), 1);
	check_str(e.topic, "action/file_save");
	ck_assert_uint_eq(e.incarnation, 0xabcdef);
	ck_assert_uint_eq(e.seq, 12);
	ck_assert_uint_eq(e.body.len, 0);
}
END_TEST

/* ---- keys and topics ---- */

START_TEST(keys)
{
	char longest[BUS_KEY_MAX + 1];

	memset(longest, 'k', sizeof(longest));
	ck_assert(bus_key_valid(STR_LIT("0192f0c1-aaaa-7bbb-8ccc-0123456789AB")));
	ck_assert(bus_key_valid((struct str){longest, BUS_KEY_MAX}));
	ck_assert(!bus_key_valid((struct str){longest, BUS_KEY_MAX + 1}));
	ck_assert(!bus_key_valid(STR_LIT("-")));
	ck_assert(!bus_key_valid(STR_LIT("")));
	ck_assert(!bus_key_valid(STR_LIT("a b")));
	ck_assert(!bus_key_valid(STR_LIT("a\nb")));
	ck_assert(!bus_key_valid(STR_LIT("\xc3\xa9")));
}
END_TEST

START_TEST(topics)
{
	ck_assert(bus_topic_valid(STR_LIT("ui/coaching:phase_update")));
	ck_assert(!bus_topic_valid(STR_LIT("")));
	ck_assert(!bus_topic_valid(STR_LIT("a|b")));
	ck_assert(!bus_topic_valid(STR_LIT("a b")));
	ck_assert(!bus_topic_valid(STR_LIT("a\n")));
}
END_TEST

START_TEST(keys_of_pairs_survive)
{
	struct bus_keys pairs = {0}, read;
	struct buf text = {0};

	pairs.to[0] = (struct bus_key){1, UINT64_MAX};
	pairs.from[WORKER_COUNT - 1] = (struct bus_key){0x123456789abcdef0, 7};
	bus_keys_print(&pairs, &text);
	buf_add_char(&text, '\0');
	ck_assert_int_eq(bus_keys_parse(text.data, &read), 0);
	ck_assert_mem_eq(&pairs, &read, sizeof(pairs));
	text.data[3] = 'x';
	ck_assert_int_eq(bus_keys_parse(text.data, &read), -EINVAL);
	ck_assert_int_eq(bus_keys_parse("", &read), -EINVAL);
	text.data[text.len - 2] = '\0';
	ck_assert_int_eq(bus_keys_parse(text.data, &read), -EINVAL);
	buf_free(&text);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bus_wire");

	tcase_add_test(tc, head_survives);
	check_add_table(tc, head_refused, bad_heads);
	tcase_add_test(tc, nothing_is_the_end);
	tcase_add_test(tc, calls_follow_each_other);
	check_add_table(tc, call_refused, bad_calls);
	tcase_add_test(tc, endless_line_refused);
	tcase_add_test(tc, replies_survive);
	check_add_table(tc, reply_refused, bad_replies);
	tcase_add_test(tc, reply_head_refused);
	tcase_add_test(tc, event_survives);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, keys_of_pairs_survive);
	tcase_add_test(tc, topics);
	return check_run(tc);
}

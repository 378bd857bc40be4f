/* Tests of WebSocket frames, UTF-8, liveness and the handshake (workers/gateway/ws).
 */
#include "tests/check_run.h"
#include "workers/gateway/ws/ws_liveness.h"
#include "workers/gateway/ws/ws_reader.h"
#include "workers/gateway/ws/ws_upgrade.h"
#include <stdlib.h>

#define MAX_MESSAGE 100000

/* ---- making what a client sends ---- */

#define MASKED 0x80

static void put_header(
	struct buf *out, unsigned char first, unsigned char mask_bit, size_t len)
{
	buf_add_char(out, (char)first);
	if (len < 126) {
		buf_add_char(out, (char)(mask_bit | len));
	} else if (len < 65536) {
		buf_add_char(out, (char)(mask_bit | 126));
		buf_add_char(out, (char)(len >> 8));
		buf_add_char(out, (char)len);
	} else {
		buf_add_char(out, (char)(mask_bit | 127));
		for (int i = 7; i >= 0; i--)
			buf_add_char(out, (char)((uint64_t)len >> (8 * i)));
	}
}

/* `first` is the first byte: FIN, reserved bits, opcode. */
static void put_frame(struct buf *out, unsigned char first, struct str payload)
{
	static const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};

	put_header(out, first, MASKED, payload.len);
	buf_add(out, key, sizeof(key));
	for (size_t i = 0; i < payload.len; i++)
		buf_add_char(out, (char)(payload.ptr[i] ^ key[i % 4]));
}

/* Reads `bytes`, given `step` at a time, until something other than a lack of data comes.
 */
static enum ws_event read_one(
	struct ws_reader *r, struct str *bytes, size_t step, struct ws_item *item)
{
	enum ws_event event = ws_reader_next(r, item);

	while (event == WS_NEED_DATA && bytes->len > 0) {
		size_t n = bytes->len < step ? bytes->len : step;

		ws_reader_feed(r, bytes->ptr, n);
		*bytes = (struct str){bytes->ptr + n, bytes->len - n};
		event = ws_reader_next(r, item);
	}
	return event;
}

/* ---- sequences of frames ---- */

struct frame {
	unsigned char first;
	const char *payload;
	size_t len;
};

#define F(first, text)                                                                   \
	{                                                                                \
		first, text, sizeof(text) - 1                                            \
	}
#define TEXT 0x81
#define TEXT_PART 0x01
#define MORE 0x00
#define LAST 0x80
#define BINARY 0x82
#define CLOSE 0x88
#define PING 0x89
#define PONG 0x8a
#define LONG_125                                                                         \
	"01234567890123456789012345678901234567890123456789"                             \
	"01234567890123456789012345678901234567890123456789"                             \
	"0123456789012345678901234"

struct sequence {
	const char *what;
	struct frame frames[6];
	size_t count;
	/* What is expected, in order: one letter each: m message, p ping, o pong, c
	 * close, f fail. */
	const char *events;
	const char *data; /* of the last message, ping or pong */
	uint16_t code;	  /* of close or fail */
};

static const struct sequence sequences[] = {
	{"text", {F(TEXT, "hello")}, 1, "m", "hello", 0},
	{"empty text", {F(TEXT, "")}, 1, "m", "", 0},
	{"binary is not checked as UTF-8", {F(BINARY, "\xff\xfe")}, 1, "m", "\xff\xfe",
		0},
	{"two messages", {F(TEXT, "a"), F(TEXT, "b")}, 2, "mm", "b", 0},
	{"fragments", {F(TEXT_PART, "he"), F(MORE, "l"), F(LAST, "lo")}, 3, "m", "hello",
		0},
	{"empty fragments", {F(TEXT_PART, ""), F(MORE, ""), F(LAST, "")}, 3, "m", "", 0},
	{"ping between fragments", {F(TEXT_PART, "a"), F(PING, "x"), F(LAST, "b")}, 3,
		"pm", "ab", 0},
	{"close between fragments", {F(TEXT_PART, "a"), F(CLOSE, "\x03\xe8")}, 2, "c",
		NULL, 1000},
	{"ping of 125 bytes", {F(PING, LONG_125)}, 1, "p", LONG_125, 0},
	{"pong", {F(PONG, "late")}, 1, "o", "late", 0},
	{"ping of 126 bytes", {F(PING, LONG_125 "x")}, 1, "f", NULL, 1002},
	{"fragmented ping", {F(0x09, "x")}, 1, "f", NULL, 1002},
	{"fragmented close", {F(0x08, "\x03\xe8")}, 1, "f", NULL, 1002},
	{"message inside a message", {F(TEXT_PART, "a"), F(TEXT, "b")}, 2, "f", NULL,
		1002},
	{"continuation of nothing", {F(LAST, "a")}, 1, "f", NULL, 1002},
	{"continuation after the end", {F(TEXT, "a"), F(LAST, "b")}, 2, "mf", NULL, 1002},
	{"reserved bit 1", {F(0xc1, "a")}, 1, "f", NULL, 1002},
	{"reserved bit 2", {F(0xa1, "a")}, 1, "f", NULL, 1002},
	{"reserved bit 3", {F(0x91, "a")}, 1, "f", NULL, 1002},
	{"reserved bit on a ping", {F(0xc9, "a")}, 1, "f", NULL, 1002},
	{"opcode 3", {F(0x83, "a")}, 1, "f", NULL, 1002},
	{"opcode 7", {F(0x87, "a")}, 1, "f", NULL, 1002},
	{"opcode 11", {F(0x8b, "a")}, 1, "f", NULL, 1002},
	{"opcode 15", {F(0x8f, "a")}, 1, "f", NULL, 1002},
	{"character in four frames",
		{F(TEXT_PART, "\xf0"), F(MORE, "\x9d"), F(MORE, "\x84"), F(LAST, "\x9e")},
		4, "m", "\xf0\x9d\x84\x9e", 0},
	{"surrogate", {F(TEXT, "\xed\xa0\x80")}, 1, "f", NULL, 1007},
	{"overlong slash", {F(TEXT, "\xc0\xaf")}, 1, "f", NULL, 1007},
	{"beyond Unicode, at the offending frame",
		{F(TEXT_PART, "a\xf4"), F(MORE, "\x90")}, 2, "f", NULL, 1007},
	{"ends within a character", {F(TEXT, "\xe2\x82")}, 1, "f", NULL, 1007},
	{"close without a code", {F(CLOSE, "")}, 1, "c", NULL, WS_NO_STATUS},
	{"close with a reason",
		{F(CLOSE, "\x03\xe8"
			  "bye")},
		1, "c", NULL, 1000},
	{"close of one byte", {F(CLOSE, "\x03")}, 1, "f", NULL, 1002},
	{"close, reason not UTF-8", {F(CLOSE, "\x03\xe8\xff")}, 1, "f", NULL, 1007},
	{"close, reason cut", {F(CLOSE, "\x03\xe8\xe2\x82")}, 1, "f", NULL, 1007},
	{"close 999", {F(CLOSE, "\x03\xe7")}, 1, "f", NULL, 1002},
	{"close 1005", {F(CLOSE, "\x03\xed")}, 1, "f", NULL, 1002},
	{"nothing after a close", {F(CLOSE, "\x03\xe8"), F(TEXT, "x")}, 2, "c", NULL,
		1000},
};

static const char *const event_letters = " mpocf";

START_TEST(reads_sequences)
{
	static const size_t steps[] = {1, 2, 3, 7, 1000000};
	const struct sequence *s = &sequences[_i];

	for (size_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++) {
		struct buf bytes = {0};
		struct ws_reader r;
		struct ws_item item = {0};
		struct str left;

		for (size_t i = 0; i < s->count; i++)
			put_frame(&bytes, s->frames[i].first,
				(struct str){s->frames[i].payload, s->frames[i].len});
		left = buf_str(&bytes);
		ck_assert_int_eq(ws_reader_init(&r, MAX_MESSAGE), 0);
		for (const char *e = s->events; *e; e++) {
			enum ws_event event = read_one(&r, &left, steps[step], &item);

			ck_assert_msg(event_letters[event] == *e,
				"%s, step %zu: %c for %c", s->what, steps[step],
				event_letters[event], *e);
		}
		if (s->data)
			ck_assert_msg(str_is(item.data, s->data), "%s", s->what);
		ck_assert_msg(item.code == s->code, "%s: %u", s->what, item.code);
		if (s->code)
			ck_assert_int_eq(read_one(&r, &left, 1000, &item), WS_NEED_DATA);
		ws_reader_fini(&r);
		buf_free(&bytes);
	}
}
END_TEST

START_TEST(refuses_unmasked_frames)
{
	struct ws_reader r;
	struct ws_item item;
	struct buf bytes = {0};
	struct str left;

	ck_assert_int_eq(ws_reader_init(&r, MAX_MESSAGE), 0);
	put_header(&bytes, TEXT, 0, 2);
	buf_add(&bytes, "ab", 2);
	left = buf_str(&bytes);
	ck_assert_int_eq(read_one(&r, &left, 100, &item), WS_FAIL);
	ck_assert_uint_eq(item.code, 1002);
	ws_reader_fini(&r);
	buf_free(&bytes);
}
END_TEST

/* Sizes around the forms of the length, the limit, and the pieces wslay reads. */
START_TEST(reads_sizes)
{
	static const size_t sizes[] = {0, 1, 125, 126, 127, 4095, 4096, 4097, 65535,
		65536, MAX_MESSAGE, MAX_MESSAGE + 1};
	char *text = malloc(MAX_MESSAGE + 1);

	memset(text, 'x', MAX_MESSAGE + 1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf bytes = {0};
		struct ws_reader r;
		struct ws_item item;
		struct str left;
		enum ws_event event;

		ck_assert_int_eq(ws_reader_init(&r, MAX_MESSAGE), 0);
		put_frame(&bytes, TEXT, (struct str){text, sizes[i]});
		left = buf_str(&bytes);
		event = read_one(&r, &left, 5000, &item);
		if (sizes[i] <= MAX_MESSAGE) {
			ck_assert_int_eq(event, WS_MESSAGE);
			ck_assert_uint_eq(item.data.len, sizes[i]);
		} else {
			ck_assert_int_eq(event, WS_FAIL);
			ck_assert_uint_eq(item.code, 1009);
		}
		ws_reader_fini(&r);
		buf_free(&bytes);
	}
	free(text);
}
END_TEST

/* Fragments that are small each, and too big together; a length that no memory is taken
 * for. */
START_TEST(bounds_the_whole_message)
{
	char text[1000] = {0};
	struct buf bytes = {0};
	struct ws_reader r;
	struct ws_item item;
	struct str left;

	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(ws_reader_init(&r, MAX_MESSAGE), 0);
	put_frame(&bytes, TEXT_PART, (struct str){text, sizeof(text)});
	for (int i = 0; i < MAX_MESSAGE / 1000; i++)
		put_frame(&bytes, MORE, (struct str){text, sizeof(text)});
	left = buf_str(&bytes);
	ck_assert_int_eq(read_one(&r, &left, 5000, &item), WS_FAIL);
	ck_assert_uint_eq(item.code, 1009);
	ws_reader_fini(&r);

	buf_clear(&bytes);
	put_header(&bytes, TEXT, MASKED, (size_t)1 << 40);
	buf_add(&bytes, "keyx", 5);
	left = buf_str(&bytes);
	ck_assert_int_eq(ws_reader_init(&r, MAX_MESSAGE), 0);
	ck_assert_int_eq(read_one(&r, &left, 100, &item), WS_FAIL);
	ck_assert_uint_eq(item.code, 1009);
	ck_assert_uint_lt(r.message.cap, 1000000);
	ws_reader_fini(&r);
	buf_free(&bytes);
}
END_TEST

START_TEST(refuses_lengths_in_a_longer_form)
{
	static const unsigned char forms[][14] = {
		{TEXT, MASKED | 126, 0, 125},
		{TEXT, MASKED | 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff},
		{TEXT, MASKED | 127, 0x80, 0, 0, 0, 0, 1, 0, 0},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct ws_reader r;
		struct ws_item item;
		struct str left = {(const char *)forms[i], sizeof(forms[i])};

		ck_assert_int_eq(ws_reader_init(&r, MAX_MESSAGE), 0);
		ck_assert_int_eq(read_one(&r, &left, 100, &item), WS_FAIL);
		ck_assert_uint_eq(item.code, 1002);
		ws_reader_fini(&r);
	}
}
END_TEST

/* Every length and every cut: what comes out is what the client meant, frame by frame. */
START_TEST(takes_masks_off)
{
	static const uint8_t key[4] = {0x11, 0x22, 0x80, 0xff};
	uint8_t text[40], in[64], out[64];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 7);
	for (size_t len = 0; len < sizeof(text); len++) {
		for (size_t cut = 1; cut < len + 8; cut++) {
			struct ws_unmask u = {0};
			size_t got = 0, at = 0, total = 6 + len, used;

			in[0] = BINARY;
			in[1] = (uint8_t)(MASKED | len);
			memcpy(in + 2, key, sizeof(key));
			for (size_t i = 0; i < len; i++)
				in[6 + i] = text[i] ^ key[i % 4];
			while (at < total) {
				size_t give = total - at < cut ? total - at : cut;

				got += ws_unmask_take(&u, in + at, give, &used, out + got,
					sizeof(out) - got);
				ck_assert_uint_gt(used, 0);
				at += used;
			}
			ck_assert_uint_eq(got, 2 + len);
			ck_assert_uint_eq(out[1], len);
			ck_assert_mem_eq(out + 2, text, len);
			ck_assert(u.masked && !u.in_payload && u.have == 0);
		}
	}
}
END_TEST

START_TEST(goes_on_after_a_pause)
{
	struct buf bytes = {0}, rest = {0};
	struct ws_reader r;
	struct ws_item item;

	for (int i = 0; i < 3000; i++)
		put_frame(&bytes, TEXT, STR_LIT("0123456789"));
	ck_assert_int_eq(ws_reader_init(&r, MAX_MESSAGE), 0);
	ws_reader_feed(&r, bytes.data, bytes.len);
	ck_assert_int_eq(ws_reader_next(&r, &item), WS_MESSAGE);
	buf_add(&rest, r.input, ws_reader_unread(&r));
	ws_reader_feed(&r, NULL, 0);
	memset(bytes.data, 0, bytes.len);
	ws_reader_feed(&r, rest.data, rest.len);
	for (int i = 1; i < 3000; i++) {
		ck_assert_int_eq(ws_reader_next(&r, &item), WS_MESSAGE);
		ck_assert(str_is(item.data, "0123456789"));
	}
	ck_assert_int_eq(ws_reader_next(&r, &item), WS_NEED_DATA);
	ws_reader_fini(&r);
	buf_free(&bytes);
	buf_free(&rest);
}
END_TEST

START_TEST(knows_close_codes)
{
	static const uint16_t good[] = {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010,
		1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999};
	static const uint16_t bad[] = {
		0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(ws_close_code_valid(good[i]), "%u", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!ws_close_code_valid(bad[i]), "%u", bad[i]);
}
END_TEST

/* ---- liveness ---- */

static struct mono at(int64_t ms)
{
	return (struct mono){ms * 1000};
}

START_TEST(pings_and_gives_up)
{
	struct ws_liveness l;

	ws_liveness_start(&l, at(0));
	ck_assert_int_eq(l.due.us, at(30000).us);
	ck_assert_int_eq(ws_liveness_judge(&l, at(30000)), WS_LIVENESS_PING);
	ck_assert_int_eq(l.due.us, at(40000).us);
	ws_liveness_heard(&l);
	ck_assert_int_eq(ws_liveness_judge(&l, at(40000)), WS_LIVENESS_WAIT);
	ck_assert_int_eq(l.due.us, at(60000).us);
	ck_assert_int_eq(ws_liveness_judge(&l, at(60000)), WS_LIVENESS_PING);
	ck_assert_int_eq(ws_liveness_judge(&l, at(70001)), WS_LIVENESS_GONE);
}
END_TEST

START_TEST(hears_only_after_the_ping)
{
	struct ws_liveness l;

	ws_liveness_start(&l, at(0));
	ws_liveness_heard(&l);
	ck_assert_int_eq(ws_liveness_judge(&l, at(30000)), WS_LIVENESS_PING);
	ck_assert_int_eq(ws_liveness_judge(&l, at(40000)), WS_LIVENESS_GONE);
}
END_TEST

/* The daemon was stopped for a minute with a ping under way: ask again, judge later. */
START_TEST(judges_fairly_after_a_suspension)
{
	struct ws_liveness l;

	ws_liveness_start(&l, at(0));
	ck_assert_int_eq(ws_liveness_judge(&l, at(30000)), WS_LIVENESS_PING);
	ck_assert_int_eq(ws_liveness_judge(&l, at(100000)), WS_LIVENESS_PING);
	ck_assert_int_eq(l.due.us, at(110000).us);
	ck_assert_int_eq(ws_liveness_judge(&l, at(110000)), WS_LIVENESS_GONE);
}
END_TEST

/* ---- handshake ---- */

START_TEST(computes_accept)
{
	char out[WS_ACCEPT_SIZE];

	/* The example of RFC 6455 section 1.3. */
	ck_assert_int_eq(ws_accept_value(STR_LIT("dGhlIHNhbXBsZSBub25jZQ=="), out), 0);
	ck_assert_str_eq(out, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	ck_assert_int_lt(ws_accept_value(STR_LIT(""), out), 0);
	ck_assert_int_lt(ws_accept_value((struct str){NULL, 0}, out), 0);
	ck_assert_int_lt(ws_accept_value(STR_LIT("dGhlIHNhbXBsZSBub25jZQ="), out), 0);
	ck_assert_int_lt(ws_accept_value(STR_LIT("dGhlIHNhbXBsZSBub25jZQA="), out), 0);
	ck_assert_int_lt(ws_accept_value(STR_LIT("dGhlIHNhbXBsZSBub25j!Q=="), out), 0);
	ck_assert_int_lt(
		ws_accept_value(STR_LIT("dGhlIHNhbXBsZSBub25jZQ==xxxx"), out), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("ws");

	check_add_table(tc, reads_sequences, sequences);
	tcase_add_test(tc, refuses_unmasked_frames);
	tcase_add_test(tc, reads_sizes);
	tcase_add_test(tc, bounds_the_whole_message);
	tcase_add_test(tc, refuses_lengths_in_a_longer_form);
	tcase_add_test(tc, takes_masks_off);
	tcase_add_test(tc, goes_on_after_a_pause);
	tcase_add_test(tc, knows_close_codes);
	tcase_add_test(tc, pings_and_gives_up);
	tcase_add_test(tc, hears_only_after_the_ping);
	tcase_add_test(tc, judges_fairly_after_a_suspension);
	tcase_add_test(tc, computes_accept);
	return check_run(tc);
}

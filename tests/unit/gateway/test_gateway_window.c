/* Tests of windows on a bus that goes nowhere: routes of every kind, audiences, slow and
 * vanished windows, congestion (workers/gateway/routes/routes.h, ws_client.h, ws_server.h). */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/fuzz/bus_stub.h"
#include "tests/unit/job_gate.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http_reading.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/routes/guard_watch.h"
#include "workers/gateway/routes/routes.h"
#include "workers/gateway/routes/tree.h"
#include "workers/gateway/web/agents.h"
#include "workers/gateway/ws/ws_server.h"
#include <errno.h>
#include <event2/buffer.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

static struct gateway gateway;
static char no_command[] = "";
static struct settings settings = {.agent_command = no_command};
static struct worker worker = {.settings = &settings};

/* One window and the far end of its socket. */
struct window {
	struct ws_client *client;
	int fd;
	struct buf received;
	size_t at;
};

static void setup(void)
{
	signal(SIGPIPE, SIG_IGN);
	log_init("test", LOG_LEVEL_ERROR);
	gateway.base = event_base_new();
	gateway.worker = &worker;
	gateway.parsers = jobs_new(gateway.base);
	gateway.ws = ws_server_new(&gateway, ws_message_take);
	gateway.ws->on_close = guard_watch_forget;
}

static struct window open_window_of(struct ws_server *server)
{
	struct window w = {0};
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	w.fd = ends[1];
	w.client = ws_client_new(server, ends[0]);
	ws_client_start(w.client, STR_LIT(""), STR_LIT(""));
	return w;
}

static struct window open_window(void)
{
	return open_window_of(gateway.ws);
}

static void turn(void)
{
	for (int i = 0; i < 3; i++)
		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
}

/* A text frame with a mask that changes nothing. */
static void say(struct window *w, const char *text)
{
	struct buf frame = {0};
	size_t len = strlen(text);

	buf_add_char(&frame, (char)0x81);
	buf_add_char(&frame, (char)(0x80 | 126));
	buf_add_char(&frame, (char)(len >> 8));
	buf_add_char(&frame, (char)len);
	if (len < 126) {
		frame.len -= 3;
		buf_add_char(&frame, (char)(0x80 | len));
	}
	buf_add(&frame, "\0\0\0\0", 4);
	buf_add(&frame, text, len);
	ck_assert_int_eq(write(w->fd, frame.data, frame.len), (ssize_t)frame.len);
	buf_free(&frame);
	turn();
}

static void take_received(struct window *w)
{
	ssize_t n;

	while ((n = recv(w->fd, buf_reserve(&w->received, 65536), 65536, 0)) > 0)
		w->received.len += (size_t)n;
}

/* The payload of the next frame, or absent. */
static struct str next_frame(struct window *w)
{
	const unsigned char *b;
	size_t left, len, head = 2;

	turn();
	take_received(w);
	b = (const unsigned char *)w->received.data + w->at;
	left = w->received.len - w->at;
	if (left < 2)
		return (struct str){NULL, 0};
	len = b[1];
	if (len == 126) {
		len = (size_t)b[2] << 8 | b[3];
		head = 4;
	} else if (len == 127) {
		len = (size_t)b[6] << 24 | (size_t)b[7] << 16 | (size_t)b[8] << 8 | b[9];
		head = 10;
	}
	if (left < head + len)
		return (struct str){NULL, 0};
	w->at += head + len;
	return (struct str){(const char *)b + head, len};
}

static void expect(struct window *w, const char *member, const char *value)
{
	struct str frame = next_frame(w);
	struct str found = json_slice_member(frame, member);

	ck_assert_msg(found.ptr && str_is(found, value), "%s is not %s in %.*s", member,
		value, STR_ARG(frame));
}

static void expect_nothing(struct window *w)
{
	struct str frame = next_frame(w);

	ck_assert_msg(!frame.ptr, "unexpected: %.*s", STR_ARG(frame));
}

static void close_window(struct window *w)
{
	close(w->fd);
	buf_free(&w->received);
	turn();
}

/* FR-062: no message of the catalogue is a stub, so with one that is made up. */
START_TEST(answers_stubs)
{
	static const struct route stub = {.type = "galaxy:explode", .kind = ROUTE_STUB};
	struct window w = open_window();
	const struct ws_message m = {.client = w.client,
		.type = STR_LIT("galaxy:explode"),
		.id = STR_LIT("\"g\"")};

	route_message(&stub, &m);
	expect(&w, "payload",
		"{\"code\":\"NOT_IMPLEMENTED\",\"message\":\"Nothing answers this "
		"message yet\","
		"\"context\":{\"type\":\"galaxy:explode\",\"id\":\"g\"}}");
	close_window(&w);
}
END_TEST

START_TEST(ignores_what_is_to_be_ignored)
{
	struct window w = open_window();

	say(&w, "{\"type\":\"editor:scroll\",\"payload\":{}}");
	say(&w, "{\"type\":\"terminal:resize\",\"payload\":{\"cols\":80,\"rows\":24}}");
	say(&w, "{\"type\":\"galaxy:explode\",\"payload\":{}}");
	expect_nothing(&w);
	ck_assert_int_eq(w.client->cols, 80);
	ck_assert_uint_eq(stub_count, 0);
	close_window(&w);
}
END_TEST

START_TEST(broadcasts_answers_with_the_id_for_the_sender)
{
	struct window a = open_window(), b = open_window();

	say(&a, "{\"type\":\"file:open\",\"payload\":{\"path\":\"x\"},\"id\":\"i\"}");
	ck_assert_uint_eq(stub_count, 1);
	stub_answer(true);
	expect(&a, "id", "\"i\"");
	a.at = 0;
	expect(&a, "seq", "1");
	b.at = 0;
	expect(&b, "type", "\"fs:content\"");
	b.at = 0;
	ck_assert(!json_slice_member(next_frame(&b), "id").ptr);
	close_window(&a);
	close_window(&b);
}
END_TEST

START_TEST(tells_everybody_of_a_file_that_cannot_be_opened)
{
	struct window a = open_window(), b = open_window();

	say(&a, "{\"type\":\"file:open\",\"payload\":{\"path\":\"x\"}}");
	stub_answer(false);
	expect(&a, "type", "\"connection:error\"");
	expect(&b, "type", "\"connection:error\"");
	/* What is wrong in a message is the sender's alone, also where its owner says so. */
	say(&a, "{\"type\":\"file:open\",\"payload\":[]}");
	expect(&a, "type", "\"connection:error\"");
	say(&a, "{\"type\":\"file:save\",\"payload\":{\"path\":\"x\"},\"id\":\"i\"}");
	stub_answer_with(&(struct bus_reply){.status = BUS_ERROR,
		.code = STR_LIT("INVALID_MESSAGE"),
		.message = STR_LIT("payload.content: missing")});
	expect(&a, "type", "\"connection:error\"");
	expect_nothing(&b);
	close_window(&a);
	close_window(&b);
}
END_TEST

START_TEST(forgets_a_window_that_goes_before_its_answer)
{
	struct window a = open_window(), b = open_window();

	say(&a, "{\"type\":\"file:open\",\"payload\":{\"path\":\"x\"}}");
	close_window(&a);
	ck_assert_uint_eq(gateway.ws->count, 1);
	stub_answer(true);
	expect(&b, "type", "\"fs:content\"");
	close_window(&b);
	ck_assert_uint_eq(gateway.ws->count, 0);
}
END_TEST

/* An event of a guard machine as its engine publishes it. The state names other machines. */
static void tell_state(const char *id, int64_t cursor)
{
	const struct guard_state state = {.kind = GUARD_IDLE,
		.id = str_of(id),
		.cursor = cursor,
		.state.raw =
			STR_LIT("{\"kind\":\"breakloop\",\"id\":\"a\",\"cursor\":99}")};
	struct buf body = {0};
	struct payload *payload;

	proto_encode(guard_state_type(), &state, &body);
	payload = payload_new(buf_str(&body));
	guard_watch_tell(STR_LIT("guard:state"), payload);
	payload_unref(payload);
	buf_free(&body);
}

START_TEST(tells_who_watches_a_guard_machine_by_its_name)
{
	struct window w = open_window();
	struct str payload;

	say(&w, "{\"type\":\"guard:subscribe\",\"payload\":{\"kind\":\"idle\",\"id\":"
		"\"a\\"
		"\"b\\\\\"}}");
	tell_state("a\"b\\", 7);
	payload = json_slice_member(next_frame(&w), "payload");
	ck_assert(str_is(json_slice_member(payload, "id"), "\"a\\\"b\\\\\""));
	ck_assert(str_is(json_slice_member(payload, "cursor"), "7"));
	tell_state("a", 8);
	tell_state("a\"b", 9);
	expect_nothing(&w);
	stub_answer(true);
	close_window(&w);
}
END_TEST

static void tell(const char *type)
{
	struct payload *payload = payload_new(STR_LIT("{}"));

	ws_tell(gateway.ws, ws_server_info(type), payload);
	payload_unref(payload);
}

START_TEST(tells_a_message_to_the_audience_of_its_row)
{
	struct window a = open_window(), b = open_window();

	say(&a, "{\"type\":\"log:follow\",\"payload\":{\"follow\":true}}");
	tell("log:row");
	expect(&a, "type", "\"log:row\"");
	expect_nothing(&b);
	tell("fs:tree_update");
	expect(&a, "type", "\"fs:tree_update\"");
	expect(&b, "type", "\"fs:tree_update\"");
	tell("coaching:progress");
	tell("guard:effect");
	expect_nothing(&a);
	say(&a, "{\"type\":\"log:follow\",\"payload\":{\"follow\":false}}");
	tell("observer:decision");
	expect_nothing(&a);
	expect_nothing(&b);
	close_window(&a);
	close_window(&b);
}
END_TEST

static void tell_tree(const char *json)
{
	struct payload *payload = payload_new(str_of(json));

	tree_arrived(gateway.ws, payload);
	payload_unref(payload);
}

START_TEST(tells_windows_that_list_directories_only_that_there_is_another_tree)
{
	struct window lists = open_window(), other = open_window();

	lists.client->lists_directories = true;
	tree_renew(gateway.ws);
	stub_answer(true);
	expect_nothing(&lists);
	expect_nothing(&other);
	tell_tree("{\"root\":{}}");
	expect(&lists, "type", "\"fs:tree_stale\"");
	expect(&other, "payload", "{\"root\":{}}");
	/* Nobody can have the whole tree. */
	tree_renew(gateway.ws);
	stub_answer(false);
	expect(&lists, "type", "\"fs:tree_stale\"");
	expect(&other, "type", "\"connection:error\"");
	expect_nothing(&lists);
	expect_nothing(&other);
	close_window(&other);
	/* Nobody is to have it. */
	tree_renew(gateway.ws);
	ck_assert_uint_eq(stub_count, 0);
	expect(&lists, "type", "\"fs:tree_stale\"");
	close_window(&lists);
}
END_TEST

START_TEST(sends_a_tree_to_all_who_wait_when_it_comes)
{
	struct window early = open_window(), late = open_window();

	/* The tree may come before the answer, or after it; who comes in between gets the next. */
	tree_send(gateway.ws, early.client);
	tree_send(gateway.ws, early.client);
	ck_assert_uint_eq(stub_count, 1);
	tell_tree("{\"root\":1}");
	expect(&early, "payload", "{\"root\":1}");
	expect_nothing(&early);
	tree_send(gateway.ws, late.client);
	ck_assert_uint_eq(stub_count, 1);
	stub_answer(true);
	expect_nothing(&late);
	tell_tree("{\"root\":2}");
	expect(&late, "payload", "{\"root\":2}");
	tell_tree("{\"root\":3}");
	expect_nothing(&early);
	expect_nothing(&late);
	/* One that is lost before it came is asked for again, by whoever waits and for all. */
	tree_send(gateway.ws, early.client);
	tree_missed(gateway.ws);
	stub_answer(true);
	tell_tree("{\"root\":4}");
	expect(&early, "payload", "{\"root\":4}");
	expect(&late, "payload", "{\"root\":4}");
	/* Also when the answer came before. */
	tree_send(gateway.ws, early.client);
	stub_answer(true);
	ck_assert_uint_eq(stub_count, 0);
	tree_missed(gateway.ws);
	ck_assert_uint_eq(stub_count, 1);
	tell_tree("{\"root\":5}");
	stub_answer(true);
	expect(&early, "payload", "{\"root\":5}");
	expect(&late, "payload", "{\"root\":5}");
	ck_assert_uint_eq(stub_count, 0);
	close_window(&early);
	close_window(&late);
}
END_TEST

START_TEST(closes_a_window_that_does_not_read)
{
	struct window slow = open_window(), quick = open_window();
	size_t size = 1024 * 1024;
	char *text = malloc(size);
	struct payload *payload;
	int n = 0;

	memset(text, 'x', size);
	text[0] = text[size - 1] = '"';
	payload = payload_new((struct str){text, size});
	while (slow.client->state == WS_CLIENT_OPEN && n < 100) {
		ws_broadcast(gateway.ws, STR_LIT("fs:tree"), payload, NULL,
			(struct str){NULL, 0});
		turn();
		for (int i = 0; i < 20; i++) {
			take_received(&quick);
			turn();
		}
		n++;
	}
	/* As much as may wait, what the kernel holds, and not much more. */
	ck_assert_int_ge(n, 8);
	ck_assert_int_le(n, 12);
	ck_assert_int_eq(quick.client->state, WS_CLIENT_OPEN);
	for (int i = 1; i <= n; i++)
		ck_assert_msg(next_frame(&quick).len > size, "message %d", i);
	ck_assert_uint_eq(gateway.metrics.ws_slow, 1);
	payload_unref(payload);
	free(text);
	close_window(&slow);
	close_window(&quick);
}
END_TEST

START_TEST(stops_reading_while_a_worker_has_too_much_to_do)
{
	struct window w = open_window();
	size_t sent = 0, taken;

	while (!w.client->pauses && sent < STUB_MAX_CALLS) {
		say(&w, "{\"type\":\"buffer:update\",\"payload\":{\"path\":\"a\","
			"\"content\":\"b\"}}");
		sent++;
	}
	ck_assert_uint_eq(stub_count, STUB_MAX_CALLS / 2);
	taken = stub_count;
	say(&w, "{\"type\":\"buffer:update\",\"payload\":{\"path\":\"a\",\"content\":"
		"\"c\"}}");
	ck_assert_uint_eq(stub_count, taken);
	stub_answer(true);
	ws_server_resume_reading(gateway.ws, WORKER_STORE);
	turn();
	ck_assert_msg(stub_count == 0, "another worker must not resume reading");
	ws_server_resume_reading(gateway.ws, WORKER_FSWATCH);
	turn();
	ck_assert_uint_eq(stub_count, 1);
	stub_answer(true);
	expect_nothing(&w);
	close_window(&w);
}
END_TEST

/* A frame of any length; as much of it as the socket takes, with turns of the loop. */
static void say_large(struct window *w, struct str text)
{
	const unsigned char head[] = {0x81, 0x80 | 127, 0, 0, 0, 0,
		(unsigned char)(text.len >> 24), (unsigned char)(text.len >> 16),
		(unsigned char)(text.len >> 8), (unsigned char)text.len, 0, 0, 0, 0};

	ck_assert_int_eq(write(w->fd, head, sizeof(head)), sizeof(head));
	while (text.len > 0) {
		ssize_t n = write(w->fd, text.ptr, text.len);

		if (n > 0) {
			text.ptr += n;
			text.len -= (size_t)n;
		}
		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	}
	/* Everything is received, and then the loop has begun no more than a job. */
	for (int i = 0; !w->client->pauses && i < 1000; i++)
		event_base_loop(gateway.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
}

static void put_large(
	struct buf *out, const char *before, size_t bytes, const char *after)
{
	buf_clear(out);
	buf_add_str(out, str_of(before));
	memset(buf_reserve(out, bytes), 'x', bytes);
	out->len += bytes;
	buf_add_str(out, str_of(after));
}

/* A thread parses it: the loop only takes what comes out, in the order of the messages.
 */
START_TEST(parses_large_messages_beside_the_loop)
{
	struct window w = open_window(), other = open_window();
	struct buf text = {0};

	put_large(&text,
		"{\"type\":\"buffer:update\",\"payload\":{\"path\":\"a\",\"content\":\"",
		READ_AT_ONCE_BYTES, "\"}}");
	for (int round = 0; round < 3; round++) {
		struct job_gate gate;

		job_gate_close(&gate, gateway.parsers);
		say_large(&w, buf_str(&text));
		ck_assert_uint_eq(w.client->pauses, 1u << WS_PAUSED_FOR_PARSING);
		ck_assert_uint_eq(stub_count, 0);
		/* What the window says next waits, what another says does not. */
		ck_assert_int_eq(write(w.fd, "\x89\x80\0\0\0\0", 6), 6);
		say(&other, "{\"type\":\"file:close\",\"payload\":{\"path\":\"b\"}}");
		ck_assert_uint_eq(stub_count, 1);
		job_gate_open(&gate);
		ck_assert_uint_eq(w.client->pauses, 0);
		ck_assert_uint_eq(stub_count, 2);
		ck_assert_int_eq(next_frame(&w).len, 0); /* the pong */
		stub_answer(true);
	}
	buf_free(&text);
	close_window(&w);
	close_window(&other);
}
END_TEST

START_TEST(refuses_large_messages_like_small_ones)
{
	static const struct {
		const char *before, *after, *message;
	} cases[] = {
		{"{\"type\":\"buffer:update\",\"payload\":{\"path\":\"a\",\"content\":\"",
			"\"}", "not valid JSON: "},
		{"{\"type\":\"status:follow\",\"payload\":{\"follow\":7,\"more\":\"",
			"\"}}", "payload.follow: expected a boolean"},
		{"{\"type\":7,\"payload\":{\"content\":\"", "\"}}",
			"type: expected a string"},
		{"{\"type\":\"file:open\",\"payload\":[\"", "\"]}",
			"payload: expected an object"},
	};
	struct window w = open_window();
	struct buf text = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t sizes[] = {10, READ_AT_ONCE_BYTES};

		for (int j = 0; j < 2; j++) {
			struct str frame;

			put_large(&text, cases[i].before, sizes[j], cases[i].after);
			if (j)
				say_large(&w, buf_str(&text));
			else
				say(&w, (buf_add_char(&text, '\0'), text.data));
			jobs_drain(gateway.parsers);
			frame = next_frame(&w);
			ck_assert_msg(memmem(frame.ptr, frame.len, cases[i].message,
					      strlen(cases[i].message)),
				"%s not in %.*s", cases[i].message, STR_ARG(frame));
		}
	}
	ck_assert_uint_eq(stub_count, 0);
	ck_assert_uint_eq(w.client->pauses, 0);
	buf_free(&text);
	close_window(&w);
}
END_TEST

/* The message is received: it counts, whoever sent it. */
START_TEST(hands_on_a_large_message_of_a_window_that_has_gone)
{
	struct window w = open_window();
	struct buf text = {0};
	struct job_gate gate;

	job_gate_close(&gate, gateway.parsers);
	put_large(&text,
		"{\"type\":\"buffer:update\",\"payload\":{\"path\":\"a\",\"content\":\"",
		READ_AT_ONCE_BYTES, "\"}}");
	say_large(&w, buf_str(&text));
	ws_client_end(w.client);
	turn();
	job_gate_open(&gate);
	ck_assert_uint_eq(stub_count, 1);
	stub_answer(true);
	turn();
	ck_assert_uint_eq(gateway.ws->count, 0);
	buf_free(&text);
	close_window(&w);
}
END_TEST

/* What clients of /agent say goes on as a text within a message; a long one is written beside the
 * loop, and what they say next stays behind it. */
START_TEST(writes_large_messages_for_agents_beside_the_loop)
{
	static char command[] = "claude";
	struct job_gate gate;
	struct window w;
	struct buf text = {0};

	settings.agent_command = command;
	agents_start(&gateway);
	stub_count = 0; /* that it is there; nobody waits for the answer */
	w = open_window_of(gateway.agents);
	say(&w, "{\"type\":\"listFolders\"}");
	ck_assert_uint_eq(stub_count, 1);
	stub_answer(true);
	put_large(&text, "{\"type\":\"prompt\",\"text\":\"", READ_AT_ONCE_BYTES, "\"}");
	job_gate_close(&gate, gateway.parsers);
	say_large(&w, buf_str(&text));
	say(&w, "{\"type\":\"listFolders\"}");
	ck_assert_uint_eq(w.client->pauses, 1u << WS_PAUSED_FOR_PARSING);
	ck_assert_uint_eq(stub_count, 0);
	job_gate_open(&gate);
	turn();
	ck_assert_uint_eq(w.client->pauses, 0);
	ck_assert_uint_eq(stub_count, 2);
	stub_answer(true);
	buf_free(&text);
	close_window(&w);
}
END_TEST

/* ---- what a turn of the loop has to do ---- */

static pthread_t loop;
static size_t searched_on_loop; /* bytes of texts that were looked through for a member */
static atomic_size_t searched_beside;
static bool sockets_take_all; /* as fast as they are written to */

struct str __real_json_slice_member(struct str text, const char *name);
struct str __wrap_json_slice_member(struct str text, const char *name);
int __real_evbuffer_write_atmost(
	struct evbuffer *from, evutil_socket_t fd, ev_ssize_t most);
int __wrap_evbuffer_write_atmost(
	struct evbuffer *from, evutil_socket_t fd, ev_ssize_t most);

struct str __wrap_json_slice_member(struct str text, const char *name)
{
	if (pthread_equal(pthread_self(), loop))
		searched_on_loop += text.len;
	else
		searched_beside += text.len;
	return __real_json_slice_member(text, name);
}

int __wrap_evbuffer_write_atmost(
	struct evbuffer *from, evutil_socket_t fd, ev_ssize_t most)
{
	size_t len = evbuffer_get_length(from);

	if (!sockets_take_all)
		return __real_evbuffer_write_atmost(from, fd, most);
	if (most >= 0 && (size_t)most < len)
		len = (size_t)most;
	evbuffer_drain(from, len);
	return (int)len;
}

/* The answer names the file; where that stands in a long message is not looked for on the loop. */
START_TEST(finds_what_an_error_names_beside_the_loop)
{
	struct window w = open_window();
	struct buf text = {0};
	struct str frame, payload;

	loop = pthread_self();
	put_large(&text, "{\"type\":\"file:save\",\"payload\":{\"content\":\"",
		READ_AT_ONCE_BYTES, "\",\"path\":\"src/a.ts\"}}");
	searched_on_loop = 0;
	searched_beside = 0;
	say_large(&w, buf_str(&text));
	jobs_drain(gateway.parsers);
	ck_assert_uint_eq(stub_count, 1);
	stub_answer(false);
	ck_assert_uint_gt(searched_beside, READ_AT_ONCE_BYTES);
	ck_assert_uint_lt(searched_on_loop, 1000);
	frame = next_frame(&w);
	payload = json_slice_member(frame, "payload");
	ck_assert_msg(str_is(json_slice_member(payload, "path"), "\"src/a.ts\""), "%.*s",
		STR_ARG(frame));
	buf_free(&text);
	close_window(&w);
}
END_TEST

/* However fast a window reads and whatever else it is sent, others have their turn in between. */
START_TEST(writes_a_little_to_each_window_in_a_turn)
{
	enum { WINDOWS = 2, BYTES = 6 * 1024 * 1024, TURN_BYTES = 512 * 1024 };
	struct window windows[WINDOWS];
	struct buf text = {0};
	size_t left = 0;
	int turns = 0;

	put_large(&text, "", BYTES, "");
	sockets_take_all = true;
	for (int i = 0; i < WINDOWS; i++) {
		windows[i] = open_window();
		ws_client_send_text(windows[i].client, buf_str(&text));
		left += evbuffer_get_length(windows[i].client->out);
	}
	ck_assert_uint_gt(left, WINDOWS * BYTES);
	for (; left > 0 && turns < 1000; turns++) {
		size_t before[WINDOWS];

		for (int i = 0; i < WINDOWS; i++)
			before[i] = evbuffer_get_length(windows[i].client->out);
		if (before[0] > 2 * TURN_BYTES)
			ws_client_send_text(windows[0].client, STR_LIT("more"));
		event_base_loop(gateway.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
		left = 0;
		for (int i = 0; i < WINDOWS; i++) {
			size_t after = evbuffer_get_length(windows[i].client->out);

			ck_assert_uint_le(before[i] - after, TURN_BYTES);
			left += after;
		}
	}
	ck_assert_uint_eq(left, 0);
	ck_assert_int_gt(turns, BYTES / TURN_BYTES);
	sockets_take_all = false;
	buf_free(&text);
	for (int i = 0; i < WINDOWS; i++)
		close_window(&windows[i]);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("window");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, answers_stubs);
	tcase_add_test(tc, ignores_what_is_to_be_ignored);
	tcase_add_test(tc, broadcasts_answers_with_the_id_for_the_sender);
	tcase_add_test(tc, tells_everybody_of_a_file_that_cannot_be_opened);
	tcase_add_test(tc, forgets_a_window_that_goes_before_its_answer);
	tcase_add_test(tc, tells_who_watches_a_guard_machine_by_its_name);
	tcase_add_test(tc, tells_a_message_to_the_audience_of_its_row);
	tcase_add_test(tc, sends_a_tree_to_all_who_wait_when_it_comes);
	tcase_add_test(
		tc, tells_windows_that_list_directories_only_that_there_is_another_tree);
	tcase_add_test(tc, closes_a_window_that_does_not_read);
	tcase_add_test(tc, stops_reading_while_a_worker_has_too_much_to_do);
	tcase_add_test(tc, parses_large_messages_beside_the_loop);
	tcase_add_test(tc, refuses_large_messages_like_small_ones);
	tcase_add_test(tc, hands_on_a_large_message_of_a_window_that_has_gone);
	tcase_add_test(tc, writes_large_messages_for_agents_beside_the_loop);
	tcase_add_test(tc, finds_what_an_error_names_beside_the_loop);
	tcase_add_test(tc, writes_a_little_to_each_window_in_a_turn);
	return check_run(tc);
}

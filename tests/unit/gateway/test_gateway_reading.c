/* Tests of bodies that are read beside the loop (workers/gateway/http/http_reading.h), over real
 * connections to the gateway's HTTP server. */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/fuzz/bus_stub.h"
#include "tests/unit/job_gate.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http_reading.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/tools/mcp_tools.h"
#include "workers/gateway/web/http_routes.h"
#include "workers/gateway/ws/ws_server.h"
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD "Host: localhost\r\nAuthorization: Bearer t\r\n"
#define HEALTH "GET /health HTTP/1.1\r\n" HEAD "\r\n"

static struct gateway gateway;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void setup(void)
{
	static const unsigned char key[MCP_KEY_BYTES] = "test";
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	signal(SIGPIPE, SIG_IGN);
	log_init("test", LOG_LEVEL_ERROR);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	gateway.base = event_base_new();
	gateway.port = ntohs(address.sin_port);
	gateway.diag_fd = -1;
	access_policy_init(
		&gateway.access, STR_LIT("localhost"), 80, STR_LIT("t"), STR_LIT(""));
	gateway.parsers = jobs_new(gateway.base);
	gateway.ws = ws_server_new(&gateway, ws_message_take);
	gateway.mcp = mcp_server_new(
		gateway.base, mcp_tools_service(&gateway), &gateway.metrics);
	mcp_server_set_key(gateway.mcp, key);
	ck_assert_int_eq(http_start(&gateway, &http_site, fd, 1), 0);
}

/* ---- clients ---- */

static int open_client(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	ck_assert(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ||
		  errno == EINPROGRESS);
	event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	return fd;
}

static void turns(void)
{
	for (int i = 0; i < 20; i++) {
		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
		usleep(500);
	}
}

static void say(int fd, struct str text)
{
	while (text.len > 0) {
		ssize_t n = write(fd, text.ptr, text.len);

		ck_assert(n > 0 || errno == EAGAIN);
		text.ptr += n > 0 ? n : 0;
		text.len -= n > 0 ? (size_t)n : 0;
		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	}
	turns();
}

/* What has come, NUL-terminated. */
static const char *heard(int fd)
{
	static char text[64 * 1024];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* A POST with a body of this text between `before` and `after`. */
static void put_post(struct buf *out, const char *path, const char *before, size_t bytes,
	const char *after)
{
	buf_clear(out);
	buf_printf(out,
		"POST %s HTTP/1.1\r\n" HEAD "Content-Type: application/json\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		path, strlen(before) + bytes + strlen(after), before);
	memset(buf_reserve(out, bytes), 'x', bytes);
	out->len += bytes;
	buf_add_str(out, str_of(after));
}

/* ---- tests ---- */

START_TEST(reads_a_long_body_beside_the_loop)
{
	static const char *const paths[][2] = {{"/guards/idle/a/events", "{\"text\":\""},
		{"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\","
			 "\"params\":{\"text\":\""}};
	static const char *const ends[] = {"\"}", "\"}}"};
	static const char *const answers[] = {"200 OK", "Mcp-Session-Id"};
	int client = open_client(), other = open_client();
	struct buf text = {0};

	for (int i = 0; i < 2; i++) {
		const char *got;
		struct job_gate gate;

		job_gate_close(&gate, gateway.parsers);
		put_post(&text, paths[i][0], paths[i][1], READ_AT_ONCE_BYTES, ends[i]);
		say(client, buf_str(&text));
		/* The next request of this connection waits, those of others do not. */
		say(client, STR_LIT(HEALTH));
		say(other, STR_LIT(HEALTH));
		ck_assert_uint_eq(stub_count, 0);
		ck_assert_str_eq(heard(client), "");
		ck_assert_ptr_nonnull(strstr(heard(other), "\"status\""));
		job_gate_open(&gate);
		ck_assert_uint_eq(stub_count, i == 0);
		stub_answer(true);
		turns();
		got = heard(client);
		ck_assert_msg(strstr(got, answers[i]) &&
				      strstr(got, "\"status\"") > strstr(got, answers[i]),
			"%s", got);
	}
	buf_free(&text);
	close(client);
	close(other);
}
END_TEST

START_TEST(refuses_a_long_body_like_a_short_one)
{
	static const struct {
		const char *path, *before, *after, *message;
	} cases[] = {
		{"/guards/idle", "{\"id\":\"", "\"", "The body must be a JSON object"},
		{"/guards/nothing", "{\"id\":\"", "\"}", "no such kind"},
		{"/mcp", "{\"id\":\"", "\"", "Parse error: "},
		{"/mcp", "{\"id\":\"", "\"}", "no JSON-RPC 2.0 message"},
	};
	static const size_t sizes[] = {10, READ_AT_ONCE_BYTES};
	int client = open_client();
	struct buf text = {0};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got;

		put_post(&text, cases[i / 2].path, cases[i / 2].before, sizes[i % 2],
			cases[i / 2].after);
		say(client, buf_str(&text));
		jobs_drain(gateway.parsers);
		turns();
		got = heard(client);
		ck_assert_msg(strstr(got, cases[i / 2].message), "%zu: %s", i, got);
	}
	ck_assert_uint_eq(stub_count, 0);
	buf_free(&text);
	close(client);
}
END_TEST

/* It is received: it counts, and its answer goes nowhere. */
START_TEST(hands_on_a_long_body_of_a_client_that_has_gone)
{
	int client = open_client(), other;
	struct buf text = {0};
	struct job_gate gate;

	job_gate_close(&gate, gateway.parsers);
	put_post(&text, "/guards/idle/a/events", "{\"text\":\"", READ_AT_ONCE_BYTES,
		"\"}");
	say(client, buf_str(&text));
	close(client);
	turns();
	job_gate_open(&gate);
	ck_assert_uint_eq(stub_count, 1);
	stub_answer(true);
	turns();
	ck_assert_uint_eq(gateway.metrics.http_connections, 0);
	other = open_client();
	say(other, STR_LIT(HEALTH));
	ck_assert_ptr_nonnull(strstr(heard(other), "\"status\""));
	buf_free(&text);
	close(other);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("reading");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, reads_a_long_body_beside_the_loop);
	tcase_add_test(tc, refuses_a_long_body_like_a_short_one);
	tcase_add_test(tc, hands_on_a_long_body_of_a_client_that_has_gone);
	return check_run(tc);
}

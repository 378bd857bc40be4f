/*
 * fuzz_gateway_http.c - a client that sends anything over HTTP: what looks at a request
 * before evhttp does, evhttp, the access rules, the login, the paths and MCP, over a real
 * connection. The first byte says what the rest is (enum sent_as) and in which pieces it
 * is sent. Whatever is sent must mean the same however it is cut.
 */
#include "common/base/log.h"
#include "common/loop/jobs.h"
#include "tests/fuzz/bus_stub.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http_head.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/routes/guard_watch.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/tools/mcp_tools.h"
#include "workers/gateway/web/http_routes.h"
#include "workers/gateway/web/login_page.h"
#include "workers/gateway/ws/ws_server.h"
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gateway gateway;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void start(void)
{
	static const unsigned char key[MCP_KEY_BYTES] = "fuzz";
	socklen_t len = sizeof(address);
	int fd;

	if (gateway.base)
		return;
	signal(SIGPIPE, SIG_IGN);
	log_init("fuzz", LOG_LEVEL_ERROR);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(fd, 16) < 0 ||
		getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		abort();
	gateway.base = event_base_new();
	gateway.port = ntohs(address.sin_port);
	gateway.diag_fd = -1;
	/* Everybody is known by the token, so that most of what is sent gets through. */
	access_policy_init(&gateway.access, STR_LIT("localhost"), 80, STR_LIT("t"),
		STR_LIT("http://x"));
	gateway.parsers = jobs_new(gateway.base);
	gateway.ws = ws_server_new(&gateway, ws_message_take);
	gateway.ws->on_close = guard_watch_forget;
	gateway.mcp = mcp_server_new(
		gateway.base, mcp_tools_service(&gateway), &gateway.metrics);
	mcp_server_set_key(gateway.mcp, key);
	if (login_page_init() < 0 || http_start(&gateway, &http_site, fd, 1) < 0)
		abort();
}

static void put_post(struct buf *out, uint8_t pick, const uint8_t *data, size_t size)
{
	static const char *const headers[] = {"",
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: "
		"paige_get_buffer\r\n",
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n",
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n",
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: "
		"subscriptions/listen\r\n",
		"Mcp-Session-Id: 00000000-0000-8000-8000-000000000000\r\n",
		"Accept: application/json, text/event-stream\r\n",
		"Accept: text/event-stream\r\n"};

	buf_printf(out,
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer t\r\n"
		"Content-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n",
		headers[pick % (sizeof(headers) / sizeof(headers[0]))], size);
	buf_add(out, data, size);
}

enum sent_as {
	AS_IT_IS,
	AS_MCP_BODY,	/* of a POST to /mcp, whose headers the second byte picks */
	AS_LOGIN_BODY,	/* of a POST to /login */
	AS_HEADERS,	/* of somebody with the token: target and headers */
	AS_CHUNKS,	/* of a POST to /mcp: what follows its header */
	AS_NEXT_REQUEST /* behind a whole one, on the same connection */
};
#define WAYS 6

static void put_headed(
	struct buf *out, const char *head, const uint8_t *data, size_t size)
{
	buf_add_str(out, str_of(head));
	buf_add(out, data, size);
}

static void put(struct buf *out, uint8_t way, const uint8_t *data, size_t size)
{
	switch ((enum sent_as)(way % WAYS)) {
	case AS_IT_IS:
		buf_add(out, data, size);
		break;
	case AS_MCP_BODY:
		put_post(out, data[0], data + 1, size - 1);
		break;
	case AS_LOGIN_BODY:
		buf_printf(out,
			"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
			"application/json\r\nContent-Length: %zu\r\n\r\n",
			size);
		buf_add(out, data, size);
		break;
	case AS_HEADERS:
		put_headed(out, "GET /", data, size);
		buf_add_str(out, STR_LIT("\r\nHost: localhost\r\nAuthorization: Bearer "
					 "t\r\n\r\n"));
		break;
	case AS_CHUNKS:
		put_headed(out,
			"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
			"t\r\nContent-Type: application/json\r\nTransfer-Encoding: "
			"chunked\r\n\r\n",
			data, size);
		break;
	case AS_NEXT_REQUEST:
		put_headed(out,
			"GET /health HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
			"Bearer t\r\n\r\n",
			data, size);
		break;
	}
}

/* ---- the same, however it is cut ---- */

#define MAX_BODY 100000

/* All requests in it, in pieces of `step` bytes. What was read of them is left in `h`,
 * the number of requests that were whole is returned. */
static unsigned read_in_pieces(struct http_head *h, char *data, size_t len, size_t step)
{
	unsigned whole = 0;
	size_t at = 0;

	while (at < len && h->state != HTTP_HEAD_FAULTY) {
		size_t piece = len - at < step ? len - at : step;

		for (size_t n = 0; n < piece && h->state != HTTP_HEAD_FAULTY;) {
			n += http_head_take(h, data + at + n, piece - n, MAX_BODY);
			if (h->state != HTTP_HEAD_DONE)
				continue;
			whole++;
			http_head_restart(h);
		}
		at += piece;
	}
	return whole;
}

static void check_pieces(const struct buf *bytes)
{
	struct http_head once = {0}, cut = {0};
	struct buf a = {0}, b = {0};

	buf_add_str(&a, buf_str(bytes));
	buf_add_str(&b, buf_str(bytes));
	if (read_in_pieces(&once, a.data, a.len, a.len) !=
			read_in_pieces(&cut, b.data, b.len, 1) ||
		once.state != cut.state || once.status != cut.status ||
		once.reason != cut.reason || once.left != cut.left ||
		once.body != cut.body)
		abort();
	/* What evhttp is given, too. */
	if (once.state != HTTP_HEAD_FAULTY && memcmp(a.data, b.data, a.len) != 0)
		abort();
	http_head_free(&once);
	http_head_free(&cut);
	buf_free(&a);
	buf_free(&b);
}

/* ---- over a connection ---- */

/* The loop runs until nothing happens any more. */
static void settle(int fd)
{
	char answer[65536];

	for (int i = 0, quiet = 0; i < 200 && quiet < 3; i++) {
		ssize_t n;

		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
		stub_answer(i % 2);
		n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
		if (n == 0)
			break;
		quiet = n < 0 ? quiet + 1 : 0;
	}
}

/* In pieces; each is looked at before the next comes. */
static bool send_pieces(int fd, const struct buf *bytes, uint8_t how)
{
	static const size_t steps[] = {SIZE_MAX, SIZE_MAX, 1, 2, 7, 60, 600, 4000};
	size_t step = steps[how % (sizeof(steps) / sizeof(steps[0]))];

	/* Every byte of what is long takes too long. */
	if (bytes->len > 200 * step)
		step = bytes->len / 200;
	for (size_t at = 0; at < bytes->len; at += step) {
		size_t left = bytes->len - at;

		if (send(fd, bytes->data + at, left < step ? left : step,
			    MSG_DONTWAIT | MSG_NOSIGNAL) <= 0)
			return at > 0;
		if (left <= step)
			break;
		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf bytes = {0};
	int fd;

	start();
	if (size < 2 || size > 60000)
		return 0;
	put(&bytes, data[0], data + 1, size - 1);
	check_pieces(&bytes);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		abort();
	if (send_pieces(fd, &bytes, data[0] / WAYS)) {
		settle(fd);
		shutdown(fd, SHUT_WR);
		settle(fd);
	}
	close(fd);
	for (int i = 0; i < 50 && (gateway.metrics.http_connections || gateway.ws->count);
		i++)
		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	stub_answer(false);
	event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	buf_free(&bytes);
	return 0;
}

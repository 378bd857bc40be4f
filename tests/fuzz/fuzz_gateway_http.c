/*
 * fuzz_gateway_http.c - a client that sends anything over HTTP: evhttp, the access rules,
 * the paths and MCP, over a real connection. Even first byte: the rest is sent as it is,
 * after a Host line if it asks for one. Odd: the rest is the body of a POST to /mcp,
 * whose headers the second byte picks.
 */
#include "common/log.h"
#include "tests/fuzz/bus_stub.h"
#include "workers/gateway/gateway.h"
#include "workers/gateway/http.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/mcp_tools.h"
#include "workers/gateway/panel.h"
#include "workers/gateway/ws_message.h"
#include "workers/gateway/ws_server.h"
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
	gateway.ws = ws_server_new(&gateway, ws_message_take);
	gateway.mcp = mcp_server_new(
		gateway.base, mcp_tools_service(&gateway), &gateway.metrics);
	mcp_server_set_key(gateway.mcp, key);
	if (panel_init() < 0 || http_start(&gateway, fd, 1) < 0)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf bytes = {0};
	int fd;

	start();
	if (size < 2 || size > 60000)
		return 0;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		abort();
	if (data[0] % 2)
		put_post(&bytes, data[1], data + 2, size - 2);
	else
		buf_add(&bytes, data + 1, size - 1);
	if (send(fd, bytes.data, bytes.len, MSG_DONTWAIT) > 0) {
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

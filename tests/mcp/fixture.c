/* fixture.c - see fixture.h. Usage: mcp_fixture PORT; ends on SIGTERM. */
#include "tests/mcp/fixture.h"
#include "common/base/log.h"
#include "common/loop/jobs.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/sockdiag.h"
#include "workers/gateway/web/http_routes.h"
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIST_TTL_MS 300000

void fixture_text(struct mcp_call *call, const char *format, ...)
{
	struct buf out = {0};
	va_list args;

	va_start(args, format);
	buf_add_str(&out, STR_LIT("{\"content\":[{\"type\":\"text\",\"text\":"));
	buf_add_json_string(&out, arena_vprintf(mcp_call_arena(call), format, args));
	buf_add_str(&out, STR_LIT("}]}"));
	va_end(args);
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
}

static void put_tools(
	struct buf *out, const struct fixture_tool *tools, size_t count, bool modern)
{
	for (size_t i = 0; i < count; i++) {
		if (tools[i].modern_only && !modern)
			continue;
		buf_printf(out,
			"%s{\"name\":\"%s\",\"description\":\"%s\",\"inputSchema\":%s}",
			out->data[out->len - 1] == '[' ? "" : ",", tools[i].name,
			tools[i].description,
			tools[i].schema ? tools[i].schema
					: "{\"type\":\"object\",\"properties\":{}}");
	}
}

static void tools_list(struct mcp_call *call, void *arg)
{
	bool modern = mcp_call_is_modern(call);
	struct buf out = {0};

	(void)arg;
	buf_add_str(&out, STR_LIT("{\"tools\":["));
	put_tools(&out, fixture_plain_tools, fixture_plain_tool_count, modern);
	put_tools(&out, fixture_input_tools, fixture_input_tool_count, modern);
	buf_add_str(&out, STR_LIT("]}"));
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
}

static const struct fixture_tool *find_in(
	const struct fixture_tool *tools, size_t count, const char *name, bool modern)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(tools[i].name, name) == 0 && (modern || !tools[i].modern_only))
			return &tools[i];
	return NULL;
}

static void tools_call(struct mcp_call *call, void *arg)
{
	yyjson_val *params = mcp_call_params(call);
	const char *name = yyjson_get_str(yyjson_obj_get(params, "name"));
	bool modern = mcp_call_is_modern(call);
	const struct fixture_tool *tool = NULL;

	if (name)
		tool = find_in(
			fixture_plain_tools, fixture_plain_tool_count, name, modern);
	if (name && !tool)
		tool = find_in(
			fixture_input_tools, fixture_input_tool_count, name, modern);
	if (tool)
		tool->call(call, arg, yyjson_obj_get(params, "arguments"));
	else
		mcp_call_fail(call, MCP_INVALID_PARAMS, "Unknown tool: %.64s",
			name ? name : "");
}

static const struct mcp_method methods[] = {
	{.name = "tools/list", .cache_ttl_ms = LIST_TTL_MS, .handle = tools_list},
	{.name = "tools/call",
		.name_param = "name",
		.cache_ttl_ms = -1,
		.handle = tools_call},
	{.name = "resources/list",
		.cache_ttl_ms = LIST_TTL_MS,
		.handle = fixture_resources_list},
	{.name = "resources/templates/list",
		.cache_ttl_ms = LIST_TTL_MS,
		.handle = fixture_templates_list},
	{.name = "resources/read",
		.name_param = "uri",
		.cache_ttl_ms = LIST_TTL_MS,
		.handle = fixture_resources_read},
	{.name = "resources/subscribe",
		.cache_ttl_ms = -1,
		.legacy_only = true,
		.handle = fixture_empty},
	{.name = "resources/unsubscribe",
		.cache_ttl_ms = -1,
		.legacy_only = true,
		.handle = fixture_empty},
	{.name = "prompts/list",
		.cache_ttl_ms = LIST_TTL_MS,
		.handle = fixture_prompts_list},
	{.name = "prompts/get",
		.name_param = "name",
		.cache_ttl_ms = -1,
		.handle = fixture_prompts_get},
	{.name = "completion/complete", .cache_ttl_ms = -1, .handle = fixture_complete},
	{.name = "logging/setLevel",
		.cache_ttl_ms = -1,
		.legacy_only = true,
		.handle = fixture_empty},
};

static struct gateway gateway;
static struct fixture fixture;

static const struct mcp_service service = {
	.name = "paige-mcp-fixture",
	.title = "Conformance fixture",
	.version = "1.0.0",
	.instructions = "For the conformance suite.",
	.capabilities =
		"{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true},"
		"\"resources\":{\"subscribe\":true},\"logging\":{},\"completions\":{}}",
	.list_changes = MCP_LIST_TOOLS | MCP_LIST_PROMPTS,
	.methods = methods,
	.method_count = sizeof(methods) / sizeof(methods[0]),
	.arg = &fixture,
};

static int listen_on(int port)
{
	const int on = 1;
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(fd, 128) < 0) {
		perror("mcp_fixture");
		exit(EXIT_FAILURE);
	}
	return fd;
}

static void on_term(evutil_socket_t signal, short what, void *arg)
{
	(void)signal;
	(void)what;
	event_base_loopbreak(arg);
}

int main(int argc, char **argv)
{
	static const unsigned char key[MCP_KEY_BYTES] = "for tests";
	struct gateway *g = &gateway;
	struct event *term;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: mcp_fixture PORT\n");
		return 64;
	}
	signal(SIGPIPE, SIG_IGN);
	log_init("mcp-fixture", LOG_LEVEL_INFO);
	fd = listen_on(atoi(argv[1]));
	g->base = fixture.base = event_base_new();
	g->parsers = jobs_new(g->base);
	g->port = (uint16_t)http_listening_port(fd);
	g->diag_fd = sockdiag_open();
	access_policy_init(
		&g->access, STR_LIT("localhost"), g->port, STR_LIT(""), STR_LIT(""));
	g->mcp = fixture.mcp = mcp_server_new(g->base, &service, &g->metrics);
	mcp_server_set_key(g->mcp, key);
	if (http_start(g, &http_site, fd, 1) < 0)
		return EXIT_FAILURE;
	term = evsignal_new(g->base, SIGTERM, on_term, g->base);
	evsignal_add(term, NULL);
	printf("http://127.0.0.1:%u/mcp\n", g->port);
	fflush(stdout);
	event_base_dispatch(g->base);
	return EXIT_SUCCESS;
}

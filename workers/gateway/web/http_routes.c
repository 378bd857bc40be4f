/* http_routes.c - see http_routes.h. */
#include "workers/gateway/web/http_routes.h"
#include "workers/gateway/http/metrics.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/web/agents.h"
#include "workers/gateway/web/backup_request.h"
#include "workers/gateway/web/costs.h"
#include "workers/gateway/web/guards.h"
#include "workers/gateway/web/health.h"
#include "workers/gateway/web/login.h"
#include "workers/gateway/web/mirror_request.h"
#include "workers/gateway/web/sessions.h"
#include "workers/gateway/web/site.h"
#include "workers/gateway/ws/ws_upgrade.h"

#define READ (EVHTTP_REQ_GET | EVHTTP_REQ_HEAD)
#define READ_ALLOW "GET, HEAD"
#define MCP (EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE)
#define MCP_ALLOW "GET, POST, DELETE"

static const struct http_route routes[] = {
	{"/health", false, READ, READ_ALLOW, ACCESS_RULES_HOST, health_answer},
	{"/ready", false, READ, READ_ALLOW, ACCESS_RULES_HOST, health_answer_ready},
	{"/metrics", false, READ, READ_ALLOW, ACCESS_RULES_ALL, metrics_answer},
	{"/mcp", false, MCP, MCP_ALLOW, ACCESS_RULES_ALL, mcp_handle},
	{"/mcp/", false, MCP, MCP_ALLOW, ACCESS_RULES_ALL, mcp_handle},
	{"/ws", false, EVHTTP_REQ_GET, "GET", ACCESS_RULES_ALL, ws_upgrade},
	{"/agent", false, EVHTTP_REQ_GET, "GET", ACCESS_RULES_ALL, agents_upgrade},
	{"/guards/", true, EVHTTP_REQ_GET | EVHTTP_REQ_POST, "GET, POST",
		ACCESS_RULES_ALL, guards_handle},
	{"/backup", false, EVHTTP_REQ_POST, "POST", ACCESS_RULES_ALL,
		backup_request_handle},
	{"/cost", false, READ, READ_ALLOW, ACCESS_RULES_ALL, costs_handle},
	{"/mirror", false, READ | EVHTTP_REQ_POST, "GET, HEAD, POST", ACCESS_RULES_ALL,
		mirror_request_handle},
	{"/session", false, READ, READ_ALLOW, ACCESS_RULES_ALL, session_handle},
	{"/unsaved", false, READ, READ_ALLOW, ACCESS_RULES_ALL, unsaved_handle},
	{"/sessions", false, READ, READ_ALLOW, ACCESS_RULES_ALL, sessions_handle},
	{"/login", false, READ | EVHTTP_REQ_POST, "GET, HEAD, POST", ACCESS_RULES_LOGIN,
		login_handle},
	{"/page/", true, READ, READ_ALLOW, ACCESS_RULES_ALL, site_answer},
	{"/", false, READ, READ_ALLOW, ACCESS_RULES_ALL, site_answer},
};

static const struct http_route *route_of(struct str path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		const struct http_route *route = &routes[i];

		if (route->prefix ? str_starts(path, route->path)
				  : str_is(path, route->path))
			return route;
	}
	return NULL;
}

const struct http_site http_site = {
	.route_of = route_of,
	.ask_for_token = login_ask_for_token,
};

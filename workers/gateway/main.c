/*
 * main.c - the gateway's beginning and end.
 *
 * HTTP begins as soon as the store has given the key of the MCP sessions or has shown
 * that it cannot, so that no client is told a session is unknown for want of it, and when
 * the events for windows are heard, so that none of them is lost; /health is served in
 * any case.
 */
#include "common/base/log.h"
#include "common/loop/jobs.h"
#include "common/loop/timer.h"
#include "common/worker/worker.h"
#include "workers/gateway/daemon/fleet_view.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/sockdiag.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/routes/agent_sessions.h"
#include "workers/gateway/routes/events.h"
#include "workers/gateway/routes/guard_watch.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/tools/mcp_session_store.h"
#include "workers/gateway/tools/mcp_tool_call.h"
#include "workers/gateway/tools/mcp_tool_log.h"
#include "workers/gateway/tools/mcp_tools.h"
#include "workers/gateway/web/agents.h"
#include "workers/gateway/web/http_routes.h"
#include "workers/gateway/web/login_page.h"
#include "workers/gateway/ws/ws_server.h"
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

/* How long HTTP waits for the store and for events. */
#define WAIT_MS 1000

/*
 * A message and its parsed form take some hundred kilobytes; below this size malloc takes
 * them from memory that it keeps, rather than from the kernel and page by page for each
 * message. What lies free at the end goes back.
 */
#define MMAP_BYTES (2 * 1024 * 1024)
#define TRIM_BYTES (4 * 1024 * 1024)

static struct gateway gateway;
static bool serving;
static bool has_key, has_events;
static int listen_count;

static void on_uncongested(void *arg, enum worker_id owner)
{
	struct gateway *g = arg;

	ws_server_resume_reading(g->ws, owner);
	if (g->agents)
		ws_server_resume_reading(g->agents, owner);
}

static void start_serving(struct gateway *g)
{
	int rc;

	if (serving)
		return;
	serving = true;
	rc = http_start(g, &http_site, WORKER_LISTEN_FD, listen_count);
	if (rc < 0) {
		log_error(
			"HTTP could not be started", "error", "%s", strerror(-rc), NULL);
		worker_die(g->worker, WORKER_EXIT_INTERNAL);
	}
	log_info("serving", "port", "%u", g->port, NULL);
	worker_ready(g->worker);
}

static void on_key(struct gateway *g)
{
	has_key = true;
	if (has_events)
		start_serving(g);
}

static void on_heard(void *arg)
{
	struct gateway *g = arg;

	has_events = true;
	if (has_key)
		start_serving(g);
}

static void on_waited_enough(EVENT_UNUSED, void *arg)
{
	start_serving(arg);
}

static int read_listeners(struct gateway *g)
{
	const char *text = getenv("PAIGE_LISTEN_FDS");
	int port;

	listen_count = text ? atoi(text) : 0;
	if (listen_count < 1 || listen_count > 8) {
		log_error("PAIGE_LISTEN_FDS must be 1 to 8", "value", "%s",
			text ? text : "", NULL);
		return -EINVAL;
	}
	port = http_listening_port(WORKER_LISTEN_FD);
	if (port < 0) {
		log_error("the supervisor passed no listening socket", "fd", "%d",
			WORKER_LISTEN_FD, "error", "%s", strerror(-port), NULL);
		return port;
	}
	g->port = (uint16_t)port;
	return 0;
}

/* Names are looked up once, before the process may open no file any more. */
static struct peers allowed;
static struct proxies proxies;

static void find_allowed(const struct gateway *g)
{
	const struct settings *s = g->worker->settings;
	AUTO_BUF problems = {0};
	struct str rest, line;

	peers_resolve(
		str_of(s->allowed_users), str_of(s->allowed_groups), &allowed, &problems);
	proxies_resolve(str_of(s->trusted_proxies), &proxies, &problems);
	rest = buf_str(&problems);
	while (str_take_line(&rest, &line))
		log_warn("a setting about who may connect has no effect", "problem",
			"%.*s", STR_ARG(line), NULL);
}

static void set_access(struct gateway *g)
{
	access_policy_init(&g->access, str_of(g->worker->settings->host), g->port,
		g->token, str_of(g->worker->settings->allowed_origins));
	g->access.public_hosts = str_of(g->worker->settings->public_hosts);
	g->access.allowed = &allowed;
	g->access.proxies = &proxies;
}

static int init(struct worker *w)
{
	struct gateway *g = &gateway;

	mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
	w->state = g;
	g->worker = w;
	g->base = w->base;
	g->bus = w->bus;
	g->token = str_of(getenv("PAIGE_TOKEN"));
	snprintf(g->epoch, sizeof(g->epoch), "%016llx.%016llx",
		(unsigned long long)w->epoch, (unsigned long long)w->generation);
	if (read_listeners(g) < 0)
		return WORKER_EXIT_USAGE;
	if (login_page_init() < 0) {
		log_error("the login page is broken", NULL);
		return WORKER_EXIT_INTERNAL;
	}
	g->diag_fd = sockdiag_open();
	if (g->diag_fd < 0)
		log_warn("the kernel does not tell who owns a connection: clients need "
			 "the token",
			"error", "%s", strerror(-g->diag_fd), NULL);
	find_allowed(g);
	set_access(g);
	g->parsers = jobs_new(g->base);
	if (!g->parsers)
		return WORKER_EXIT_INTERNAL;
	g->ws = ws_server_new(g, ws_message_take);
	g->ws->on_close = guard_watch_forget;
	g->mcp = mcp_server_new(g->base, mcp_tools_service(g), &g->metrics);
	events_subscribe(g);
	mcp_tool_calls_begin(g);
	agents_start(g);
	if (g->agents)
		agent_sessions_start(g);
	bus_when_heard(g->bus, WAIT_MS, on_heard, g);
	bus_on_uncongested(g->bus, on_uncongested, g);
	mcp_sessions_fetch(g, on_key);
	event_once_ms(g->base, on_waited_enough, g, WAIT_MS);
	return WORKER_EXIT_OK;
}

/* No paths and no programs: strangers talk to this process. */
static void confine(struct worker *w, struct confinement *c)
{
	(void)w;
	(void)c;
}

static void on_agent_clients_gone(void *arg)
{
	struct gateway *g = arg;

	worker_stopped(g->worker);
}

static void on_windows_gone(void *arg)
{
	struct gateway *g = arg;

	if (g->agents)
		ws_server_stop(g->agents, on_agent_clients_gone, g);
	else
		worker_stopped(g->worker);
}

static void stop(struct worker *w)
{
	struct gateway *g = w->state;

	log_info("shutting down: closing windows and MCP streams", "windows", "%zu",
		g->ws->count, NULL);
	if (serving)
		http_stop_accepting(g);
	serving = true;		/* and it does not begin any more */
	jobs_drain(g->parsers); /* what was received is handed on */
	mcp_tool_calls_end_all(g);
	mcp_server_stop(g->mcp);
	mcp_tool_log_stop(g);
	ws_server_stop(g->ws, on_windows_gone, g);
}

static void reload(struct worker *w)
{
	set_access(w->state);
}

static void fleet(struct worker *w, struct str json)
{
	struct gateway *g = w->state;
	struct proto_error error;

	if (fleet_view_update(&g->fleet, json, &error) < 0)
		log_error("the supervisor's word on the workers was not understood",
			"reason", "%s", error.text, NULL);
	for (int i = 0; i < WORKER_COUNT; i++) {
		bus_set_stopped(g->bus, (enum worker_id)i, g->fleet.workers[i].stopped);
		bus_set_enabled(
			g->bus, (enum worker_id)i, fleet_view_counts(&g->fleet, i));
	}
}

static const struct worker_spec spec = {
	.id = WORKER_GATEWAY,
	.init = init,
	.confine = confine,
	.stop = stop,
	.reload = reload,
	.fleet = fleet,
	.ready_later = true,
	.changelist = true,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}

/*
 * gateway.h - state that the parts of the gateway share.
 *
 * The gateway talks to clients and does not interpret messages: each is a row in
 * proto/catalogue/ws.def or proto/catalogue/mcp_tools.def, and the worker named there answers it. It opens no
 * file and starts no program.
 */
#pragma once

#include "common/worker/worker.h"
#include "workers/gateway/daemon/fleet_view.h"
#include "workers/gateway/http/access.h"
#include "workers/gateway/http/metrics.h"

struct http_server;
struct jobs;
struct mcp_server;
struct ws_server;

struct gateway {
	struct worker *worker;
	struct event_base *base;
	struct bus *bus;
	uint16_t port;
	/* As clients see it: of the daemon and of this process, since a window can resume
	 * only what this process remembers. */
	char epoch[40];
	struct str token;
	struct access_policy access;
	int diag_fd;	      /* sockdiag.h; -1 when the kernel does not answer */
	struct jobs *parsers; /* the thread that reads long messages and bodies */
	struct fleet_view fleet;
	struct gateway_metrics metrics;
	struct http_server *http;
	struct ws_server *ws;
	struct ws_server *agents; /* clients of /agent; NULL without AGENT_COMMAND */
	bool agents_linked;	  /* what the agent worker publishes arrives */
	struct mcp_server *mcp;
};

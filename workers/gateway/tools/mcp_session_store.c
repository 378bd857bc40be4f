/* mcp_session_store.c - see mcp_session_store.h. */
#include "workers/gateway/tools/mcp_session_store.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/mcp/mcp.h"
#include <errno.h>
#include <stdio.h>

#define RETRY_MS 500
#define RETRY_MAX_MS 8000

static void (*fetch_done)(struct gateway *g);
static int failures; /* in a row */
static bool told;    /* that the store cannot give them */
static void ask(struct gateway *g);

static void report_done(struct gateway *g)
{
	void (*done)(struct gateway * g) = fetch_done;

	fetch_done = NULL;
	if (done)
		done(g);
}

static int read_key(struct str hex, unsigned char key[MCP_KEY_BYTES])
{
	if (hex.len != 2 * MCP_KEY_BYTES)
		return -EINVAL;
	for (size_t i = 0; i < MCP_KEY_BYTES; i++) {
		char pair[3] = {hex.ptr[2 * i], hex.ptr[2 * i + 1], '\0'}, *end;

		key[i] = (unsigned char)strtoul(pair, &end, 16);
		if (*end)
			return -EINVAL;
	}
	return 0;
}

static int take(struct gateway *g, const struct bus_reply *reply, struct arena *arena)
{
	struct mcp_sessions_kept kept;
	struct proto_error error;
	unsigned char key[MCP_KEY_BYTES];

	if (bus_reply_decode(METHOD_MCP_SESSIONS, reply, arena, &kept, &error) < 0 ||
		read_key(kept.key, key) < 0)
		return -EINVAL;
	mcp_server_set_key(g->mcp, key);
	for (size_t i = 0; i < kept.ended.count; i++)
		mcp_server_note_ended(g->mcp, kept.ended.items[i]);
	return 0;
}

static void on_retry(EVENT_UNUSED, void *arg)
{
	ask(arg);
}

/* A store that is away comes back by itself; one that has refused needs somebody to look
 * at DATA_DIR: health tells. Sessions of Claude Code do not outlive the gateway
 * meanwhile.
 */
static void ask_again(struct gateway *g, const struct bus_reply *reply)
{
	int pause_ms = RETRY_MS;

	for (int i = 0; i < failures && pause_ms < RETRY_MAX_MS; i++)
		pause_ms *= 2;
	if (failures++ == 0)
		log_warn("the key of the MCP sessions was not given; asking again",
			"reason", "%.*s", STR_ARG(reply->message), NULL);
	if (reply->status == BUS_ERROR && str_is(reply->code, "INTERNAL_ERROR")) {
		char reason[400];

		snprintf(reason, sizeof(reason), "%.*s", STR_ARG(reply->message));
		worker_set_condition(g->worker, WORKER_DEGRADED, reason);
		told = true;
	}
	event_once_ms(g->base, on_retry, g, pause_ms);
}

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct gateway *g = arg;
	AUTO_ARENA arena = {0};

	if (reply->status != BUS_OK || take(g, reply, &arena) < 0) {
		ask_again(g, reply);
	} else {
		failures = 0;
		if (told)
			worker_set_condition(g->worker, WORKER_FINE, NULL);
		told = false;
	}
	report_done(g);
}

static void ask(struct gateway *g)
{
	bus_call(g->bus, METHOD_MCP_SESSIONS, (struct str){NULL, 0}, STR_LIT("{}"), 0,
		on_reply, g);
}

void mcp_sessions_fetch(struct gateway *g, void (*done)(struct gateway *g))
{
	fetch_done = done;
	ask(g);
}

void mcp_sessions_tell_ended(void *arg, const char *session_id)
{
	const struct mcp_session_ended ended = {.session_id = str_of(session_id)};
	struct gateway *g = arg;

	bus_call_message(g->bus, METHOD_MCP_SESSION_END, str_of(session_id), &ended, 0,
		NULL, NULL);
}

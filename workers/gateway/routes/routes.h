/*
 * routes.h - the messages of windows in proto/catalogue/ws.def as a table, and what becomes of a message by its row.
 *
 * Called by ws_message.c with messages whose envelope is right.
 */
#pragma once

#include "proto/tables/methods.h"
#include "proto/tables/ws.h"
#include "workers/gateway/routes/ws_message.h"

enum route_kind { ROUTE_CALL, ROUTE_FOLLOW, ROUTE_LOCAL, ROUTE_IGNORE, ROUTE_STUB };

struct route {
	const char *type;
	enum route_kind kind;
	/* ROUTE_CALL */
	enum method method;
	const char *answer; /* type of the answer, or NULL */
	const char *error_type;
	const char *echo; /* a field of the request that errors repeat, or NULL */
	enum ws_audience error_audience; /* WS_TO_SENDER or WS_TO_ALL */
	bool blocks_reader; /* the window's next message waits for the answer */
	bool restores;	    /* restored.h completes the answer */
	/* ROUTE_FOLLOW */
	enum ws_audience follows;
	bool (*may_follow)(const struct ws_message *message); /* NULL: it may */
	/* ROUTE_LOCAL */
	void (*local)(const struct ws_message *message);
};

/* NULL when the type is not known. */
const struct route *route_of(struct str type);

void route_message(const struct route *route, const struct ws_message *message);

/*
 * Pure. Writes the payload of an error: {code, message, context} for connection:error,
 * else
 * {<echo>, error}, and for fs:save_error code and version too. `echo` is JSON or absent.
 */
struct bus_reply;
void route_error_payload(const struct route *route, const struct bus_reply *reply,
	struct str type, struct str id, struct str echo, struct buf *out);

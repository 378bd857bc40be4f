/*
 * routes.h - the messages of windows in proto/catalogue/ws.def as a table, and what becomes of a message by its row.
 *
 * Called by ws_message.c with messages whose envelope is right.
 */
#pragma once

#include "common/base/clock.h"
#include "proto/tables/methods.h"
#include "proto/tables/ws.h"
#include "workers/gateway/routes/ws_message.h"
#include <sys/queue.h>

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
	bool reviews; /* a review of a kata, of which windows are told while it is under way */
	bool tells_reviews; /* the answer tells of it */
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

/*
 * A review of a kata that a window has asked for, so that a window that comes later, as a page that was
 * reloaded, can be told that an answer is to come. What is under way here is what this gateway waits for: its
 * windows hear of the end of each. A gateway that is new waits for none, whatever the llm worker is still
 * doing. It lies in the call that it belongs to; there are as many as the bus takes calls.
 */
struct route_review {
	TAILQ_ENTRY(route_review) link; /* the oldest first */
	struct str kata;		/* its id as JSON, as the window wrote it */
	struct wall since;
};

/* `kata` is borrowed until route_review_end; absent: a review of nothing, of which nobody is told. */
void route_review_begin(struct route_review *review, struct str kata, struct wall now);
void route_review_end(struct route_review *review);
/* Adds a kata that a window has opened, a JSON object with members, to *out, with `reviewSince`, when a review of
 * it is under way. False, with nothing added: there is none. */
bool route_review_tell(struct str kata, struct str opened, struct buf *out);

/*
 * bus_stub.h - a bus that goes nowhere, for fuzzing and for unit tests of what calls it: calls are kept and
 * answered when told.
 *
 * Defines the functions of common/bus/bus.h and worker.h for who calls and hears others; include it in one file of
 * a target. Who serves, too, defines those for that himself.
 */
#pragma once

#include "common/bus/bus.h"
#include "common/worker/worker.h"
#include <stdlib.h>

#define STUB_MAX_CALLS 4096

static struct {
	bus_reply_fn *fn;
	void *arg;
} stub_calls[STUB_MAX_CALLS];
static size_t stub_count;

/* Answers every call that waits; calls made meanwhile too. */
static inline void stub_answer_with(const struct bus_reply *reply)
{
	for (int rounds = 0; stub_count > 0 && rounds < 8; rounds++) {
		size_t n = stub_count;

		for (size_t i = 0; i < n; i++)
			stub_calls[i].fn(stub_calls[i].arg, reply);
		stub_count -= n;
		for (size_t i = 0; i < stub_count; i++)
			stub_calls[i] = stub_calls[n + i];
	}
}

static inline void stub_answer(bool ok)
{
	const struct bus_reply good = {.status = BUS_OK,
		.body = STR_LIT("{\"root\":{},\"cursor\":1,\"state\":{}}")};
	const struct bus_reply bad = {.status = BUS_ERROR,
		.code = STR_LIT("FILE_ERROR"),
		.message = STR_LIT("no"),
		.context = STR_LIT("{\"path\":\"x\",\"version\":\"v\"}")};

	stub_answer_with(ok ? &good : &bad);
}

/* What a reply is kept by, if whoever answers gives it one. */
struct bus_kept {
	unsigned refs;
};

struct bus_kept *bus_reply_keep(const struct bus_reply *reply)
{
	if (reply->kept)
		reply->kept->refs++;
	return reply->kept;
}

void bus_kept_release(struct bus_kept *kept)
{
	kept->refs--;
}

void bus_call(struct bus *bus, enum method method, struct str key, struct str body,
	int64_t deadline_ms, bus_reply_fn *on_reply, void *arg)
{
	(void)bus;
	(void)method;
	(void)key;
	(void)deadline_ms;
	/* What is handed on must be JSON still: other workers parse it. */
	yyjson_doc *doc = yyjson_read(body.ptr, body.len, 0);

	if (!doc)
		abort();
	yyjson_doc_free(doc);
	if (!on_reply || stub_count == STUB_MAX_CALLS)
		return;
	stub_calls[stub_count].fn = on_reply;
	stub_calls[stub_count++].arg = arg;
}

void bus_call_taking(struct bus *bus, enum method method, struct str key, struct str body,
	struct buf *owner, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg)
{
	(void)owner;
	bus_call(bus, method, key, body, deadline_ms, on_reply, arg);
}

void bus_call_message(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg)
{
	struct buf body = {0};

	proto_encode(method_infos[method].request(), request, &body);
	bus_call(bus, method, key, buf_str(&body), deadline_ms, on_reply, arg);
	buf_free(&body);
}

int bus_reply_decode(enum method method, const struct bus_reply *reply,
	struct arena *arena, void *out, struct proto_error *error)
{
	(void)method;
	(void)reply;
	(void)arena;
	(void)out;
	(void)error;
	return -1;
}

bool bus_congested(const struct bus *bus, enum worker_id owner)
{
	(void)bus;
	(void)owner;
	return stub_count >= STUB_MAX_CALLS / 2;
}

void bus_subscribe(struct bus *bus, enum worker_id from, const char *prefix,
	bus_event_fn *fn, void *arg)
{
	(void)bus;
	(void)from;
	(void)prefix;
	(void)fn;
	(void)arg;
}

void bus_on_gap(struct bus *bus, enum worker_id from, bus_gap_fn *fn, void *arg)
{
	(void)bus;
	(void)from;
	(void)fn;
	(void)arg;
}

void bus_complain_of_event(
	struct bus *bus, const char *what, const struct bus_event *event)
{
	(void)bus;
	(void)what;
	(void)event;
}

/* There is no supervisor. */
bool worker_ask_supervisor(struct worker *w, int fd)
{
	(void)w;
	(void)fd;
	return false;
}

void bus_get_stats(const struct bus *bus, struct bus_stats *out)
{
	(void)bus;
	*out = (struct bus_stats){0};
}

const int64_t bus_took_limits_us[BUS_TOOK_LIMIT_COUNT];

void bus_get_owner_stats(
	const struct bus *bus, enum worker_id owner, struct bus_owner_stats *out)
{
	(void)bus;
	(void)owner;
	*out = (struct bus_owner_stats){0};
}

/* Beside the bus: the other one would bring all of the worker with it. */
void worker_set_condition(
	struct worker *w, enum worker_condition condition, const char *reason)
{
	(void)w;
	(void)condition;
	(void)reason;
}

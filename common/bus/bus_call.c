/*
 * bus_call.c - calls of bus.h: made, refused, delivered. Callbacks never run inside
 * bus_call: what fails at once is delivered later in the same turn of the loop.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/bus_retry.h"
#include "common/loop/timer.h"
#include "proto/tables/errors.h"
#include <stdlib.h>

/* ---- lists ---- */

void bus_calls_append(struct bus_calls *list, struct bus_call *call)
{
	call->next = NULL;
	if (list->last)
		list->last->next = call;
	else
		list->first = call;
	list->last = call;
	list->count++;
}

struct bus_call *bus_calls_take(struct bus_calls *list)
{
	struct bus_call *call = list->first;

	if (call) {
		list->first = call->next;
		if (!list->first)
			list->last = NULL;
		list->count--;
	}
	return call;
}

/* ---- making ---- */

static struct bus_call *call_new(enum method method, struct str key, struct str body)
{
	struct bus_call *call = xmalloc(sizeof(*call) + key.len + body.len);
	char *bytes;

	bytes = (char *)(call + 1);
	*call = (struct bus_call){.method = method, .failed = BUS_OK};
	if (key.len)
		memcpy(bytes, key.ptr, key.len);
	call->key = (struct str){key.ptr ? bytes : NULL, key.len};
	if (body.len)
		memcpy(bytes + key.len, body.ptr, body.len);
	call->body = (struct str){bytes + key.len, body.len};
	return call;
}

static enum bus_status refusal(
	const struct bus_peer *peer, enum method method, struct str key, struct str body)
{
	if (peer->not_enabled)
		return BUS_NOT_ENABLED;
	if (peer->stopped)
		return BUS_STOPPED;
	if (body.len > BUS_BODY_MAX)
		return BUS_TOO_BIG;
	if (peer->calls >= BUS_MAX_CALLS || peer->bytes + body.len > BUS_MAX_BYTES)
		return BUS_REFUSED;
	if (key.ptr && !bus_key_valid(key)) {
		log_error("call with a bad key", "method", "%s",
			method_infos[method].name, NULL);
		return BUS_ERROR;
	}
	return BUS_OK;
}

void bus_set_stopped(struct bus *bus, enum worker_id owner, bool stopped)
{
	bus->peers[owner].stopped = stopped;
}

void bus_set_enabled(struct bus *bus, enum worker_id owner, bool enabled)
{
	bus->peers[owner].not_enabled = !enabled;
}

void bus_call_ask_flush(struct bus *bus)
{
	if (bus->flush_asked)
		return;
	bus->flush_asked = true;
	event_active(bus->flush, EV_TIMEOUT, 0);
}

static void start_call(struct bus *bus, struct bus_call *call, enum bus_status status,
	int64_t deadline_ms)
{
	struct bus_peer *peer = &bus->peers[method_infos[call->method].owner];

	if (deadline_ms <= 0)
		deadline_ms = method_infos[call->method].deadline_ms;
	call->begun = clock_mono();
	call->deadline = mono_add_ms(call->begun, deadline_ms);
	call->failed = status;
	peer->stats.refused += status == BUS_REFUSED || status == BUS_STOPPED ||
			       status == BUS_NOT_ENABLED;
	peer->calls++;
	peer->bytes += call->body.len;
	bus->stats.calls++;
	bus->stats.in_flight++;
	if (peer->calls > BUS_CONGESTED_CALLS || peer->bytes > BUS_CONGESTED_BYTES)
		peer->congested = true;
	if (status != BUS_OK)
		bus_calls_append(&bus->failed, call);
	else
		bus_peer_add(peer, call);
	bus_call_ask_flush(bus);
}

void bus_call(struct bus *bus, enum method method, struct str key, struct str body,
	int64_t deadline_ms, bus_reply_fn *on_reply, void *arg)
{
	struct bus_peer *peer = &bus->peers[method_infos[method].owner];
	enum bus_status status = refusal(peer, method, key, body);
	struct bus_call *call;

	if (status != BUS_OK)
		call = call_new(method, STR_LIT(""), STR_LIT(""));
	else
		call = call_new(method, key, body);
	call->on_reply = on_reply;
	call->arg = arg;
	start_call(bus, call, status, deadline_ms);
}

void bus_call_taking(struct bus *bus, enum method method, struct str key, struct str body,
	struct buf *owner, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg)
{
	struct bus_peer *peer = &bus->peers[method_infos[method].owner];
	enum bus_status status = refusal(peer, method, key, body);
	struct bus_call *call =
		call_new(method, status == BUS_OK ? key : STR_LIT(""), STR_LIT(""));

	if (status == BUS_OK) {
		call->body = body;
		call->owner = *owner;
		*owner = (struct buf){0};
	}
	call->on_reply = on_reply;
	call->arg = arg;
	start_call(bus, call, status, deadline_ms);
}

void bus_call_message(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg)
{
	const struct type *(*type)(void) = method_infos[method].request;
	AUTO_BUF body = {0};

	if (type && request)
		proto_encode(type(), request, &body);
	else
		buf_add_str(&body, STR_LIT("{}"));
	bus_call(bus, method, key, buf_str(&body), deadline_ms, on_reply, arg);
}

/* ---- delivering ---- */

const int64_t bus_took_limits_us[BUS_TOOK_LIMIT_COUNT] = {100, 250, 500, 1000, 2500, 5000,
	10000, 50000, 250000, 1000000, 10000000, 60000000};

static void count_time(struct bus_owner_stats *s, int64_t us)
{
	size_t i = 0;

	while (i < BUS_TOOK_LIMIT_COUNT && us > bus_took_limits_us[i])
		i++;
	if (i < BUS_TOOK_LIMIT_COUNT)
		s->within[i]++;
	s->count++;
	s->total_us += us;
}

/* Off the account, with the word that there is room again. */
static void call_done(struct bus_peer *peer, struct bus_call *call)
{
	struct bus *bus = peer->bus;

	count_time(&peer->stats, clock_mono().us - call->begun.us);
	peer->calls--;
	peer->bytes -= call->body.len;
	bus->stats.in_flight--;
	buf_free(&call->owner);
	free(call);
	if (peer->congested && peer->calls <= BUS_CONGESTED_CALLS / 2 &&
		peer->bytes <= BUS_CONGESTED_BYTES / 2) {
		peer->congested = false;
		if (bus->on_uncongested)
			bus->on_uncongested(bus->on_uncongested_arg, peer->owner);
	}
}

void bus_call_fail(struct bus_peer *peer, struct bus_call *call, enum bus_status status)
{
	char text[BUS_FAILURE_SIZE];
	struct bus_reply reply = {.status = status};

	if (status == BUS_TIMEOUT)
		peer->bus->stats.timeouts++;
	bus_tap_failure(peer->bus, call, status);
	bus_failure_text(status, call->method, text);
	reply.code = str_of(bus_failure_code(status));
	reply.message = str_of(text);
	if (call->on_reply)
		call->on_reply(call->arg, &reply);
	call_done(peer, call);
}

static struct str member(yyjson_val *object, const char *name, const char *fallback)
{
	yyjson_val *v = yyjson_obj_get(object, name);

	if (!yyjson_is_str(v))
		return str_of(fallback);
	return (struct str){yyjson_get_str(v), yyjson_get_len(v)};
}

/* {"code","message","context"?} */
static void deliver_error(struct bus_call *call, struct str body)
{
	struct bus_reply reply = {.status = BUS_ERROR};
	AUTO_DOC *document = yyjson_read(body.ptr, body.len, 0);
	yyjson_val *root = yyjson_doc_get_root(document);
	yyjson_val *context = yyjson_obj_get(root, "context");
	AUTO_FREE char *context_text = NULL;
	size_t len = 0;

	reply.code = member(root, "code", "INTERNAL_ERROR");
	if (str_is(reply.code, error_code_infos[ERROR_TOO_BIG].name))
		reply.status = BUS_TOO_BIG;
	reply.message =
		member(root, "message", "The answer of the worker cannot be read");
	if (context)
		context_text = yyjson_val_write(context, 0, &len);
	reply.context = (struct str){context_text, len};
	call->on_reply(call->arg, &reply);
}

/* Shorter ones are copied, so that little is kept for them. */
#define KEPT_BYTES (64u * 1024)

struct bus_kept *bus_reply_keep(const struct bus_reply *reply)
{
	if (!reply->kept || reply->body.len < KEPT_BYTES ||
		reply->body.len < bus_message_text(reply->kept->message).len / 2)
		return NULL;
	reply->kept->refs++;
	return reply->kept;
}

void bus_kept_release(struct bus_kept *kept)
{
	if (--kept->refs > 0)
		return;
	bus_message_free(kept->message);
	free(kept);
}

void bus_call_deliver(struct bus_peer *peer, struct bus_call *call,
	const struct bus_reply_record *record, struct bus_kept *kept)
{
	peer->bus->stats.replies++;
	if (call->on_reply && !record->ok) {
		deliver_error(call, record->body);
	} else if (call->on_reply) {
		struct bus_reply reply = {
			.status = BUS_OK, .body = record->body, .kept = kept};

		call->on_reply(call->arg, &reply);
	}
	call_done(peer, call);
}

void bus_call_flush(struct bus *bus)
{
	struct bus_calls failed = bus->failed;
	struct bus_call *call;

	bus->flush_asked = false;
	bus->failed = (struct bus_calls){0};
	while ((call = bus_calls_take(&failed)))
		bus_call_fail(&bus->peers[method_infos[call->method].owner], call,
			call->failed);
	for (int i = 0; i < WORKER_COUNT; i++)
		bus_peer_send(&bus->peers[i]);
}

/* ---- reading replies ---- */

static void *arena_malloc(void *ctx, size_t size)
{
	return arena_alloc(ctx, size);
}

static void *arena_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	void *fresh;

	if (size <= old_size)
		return ptr;
	fresh = arena_alloc(ctx, size);
	memcpy(fresh, ptr, old_size);
	return fresh;
}

static void arena_no_free(void *ctx, void *ptr)
{
	(void)ctx;
	(void)ptr;
}

int bus_reply_decode(enum method method, const struct bus_reply *reply,
	struct arena *arena, void *out, struct proto_error *error)
{
	const struct type *(*type)(void) = method_infos[method].reply;
	const yyjson_alc alc = {arena_malloc, arena_realloc, arena_no_free, arena};
	/* Without YYJSON_READ_INSITU the text is only read. */
	union {
		const char *text;
		char *unchanged;
	} in = {.text = reply->body.ptr};
	yyjson_read_err problem;
	yyjson_doc *document;

	document = yyjson_read_opts(in.unchanged, reply->body.len, 0, &alc, &problem);
	if (!document || !type) {
		snprintf(error->text, sizeof(error->text), "%s: %s",
			method_infos[method].name,
			document ? "has no reply type" : problem.msg);
		return -EINVAL;
	}
	return proto_decode(type(), yyjson_doc_get_root(document), "reply",
		DECODE_LENIENT, arena, out, error);
}

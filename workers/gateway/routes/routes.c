/* routes.c - see routes.h. */
#include "workers/gateway/routes/routes.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/routes/guard_watch.h"
#include "workers/gateway/routes/hello.h"
#include "workers/gateway/routes/ping.h"
#include "workers/gateway/routes/restored.h"
#include "workers/gateway/routes/supervisor.h"
#include "workers/gateway/routes/terminal.h"
#include "workers/gateway/ws/ws_server.h"
#include <stdlib.h>

static const struct route routes[] = {
#define CALL(                                                                            \
	type_, method_, answer_, error_type_, echo_, error_audience_, blocks_reader_)    \
	{.type = type_,                                                                  \
		.kind = ROUTE_CALL,                                                      \
		.method = METHOD_##method_,                                              \
		.answer = answer_,                                                       \
		.error_type = error_type_,                                               \
		.echo = echo_,                                                           \
		.error_audience = WS_TO_##error_audience_,                               \
		.blocks_reader = blocks_reader_,                                         \
		.restores = METHOD_##method_ == METHOD_SESSION_RESUME,                   \
		.reviews = METHOD_##method_ == METHOD_REVIEW ||                          \
			   METHOD_##method_ == METHOD_REVIEW_SUBMIT,                     \
		.tells_reviews = METHOD_##method_ == METHOD_KATA_OPEN},
#define ROUTE(type_, method_, answer_, error_type_, echo_, error_audience_, doc)         \
	CALL(type_, method_, answer_, error_type_, echo_, error_audience_, false)
#define SESSION(type_, method_, answer_, doc)                                            \
	CALL(type_, method_, answer_, "connection:error", NULL, SENDER, true)
#define FOLLOW(type_, audience, may, doc)                                                \
	{.type = type_,                                                                  \
		.kind = ROUTE_FOLLOW,                                                    \
		.follows = WS_TO_##audience,                                             \
		.may_follow = may},
#define LOCAL(type_, payload, function, doc)                                             \
	{.type = type_, .kind = ROUTE_LOCAL, .local = function},
#define IGNORE(type_, payload, doc) {.type = type_, .kind = ROUTE_IGNORE},
#define STUB(type_, payload, doc) {.type = type_, .kind = ROUTE_STUB},
#include "proto/catalogue/ws.def"
#undef CALL
};

const struct route *route_of(struct str type)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (str_is(type, routes[i].type))
			return &routes[i];
	return NULL;
}

/* ---- errors ---- */

static bool is_connection_error(const struct route *route)
{
	return strcmp(route->error_type, "connection:error") == 0;
}

static void put_connection_error(const struct route *route, const struct bus_reply *reply,
	struct str type, struct str id, struct str echo, struct buf *out)
{
	struct str missing = json_slice_member(reply->context, "missing");
	struct str path = json_slice_member(reply->context, "path");

	buf_add_str(out, STR_LIT("{\"code\":"));
	buf_add_json_string(out, reply->code);
	buf_add_str(out, STR_LIT(",\"message\":"));
	buf_add_json_string(out, reply->message);
	buf_add_str(out, STR_LIT(",\"context\":"));
	if (missing.ptr && path.ptr)
		buf_printf(out, "{\"path\":%.*s},\"missing\":%.*s", STR_ARG(path),
			STR_ARG(missing));
	else if (reply->context.ptr)
		buf_add_str(out, reply->context);
	else if (route->echo && echo.ptr)
		buf_printf(out, "{\"%s\":%.*s}", route->echo, STR_ARG(echo));
	else
		ws_message_context(type, id, out);
	buf_add_char(out, '}');
}

void route_error_payload(const struct route *route, const struct bus_reply *reply,
	struct str type, struct str id, struct str echo, struct buf *out)
{
	struct str version = json_slice_member(reply->context, "version");

	if (is_connection_error(route)) {
		put_connection_error(route, reply, type, id, echo, out);
		return;
	}
	buf_add_char(out, '{');
	if (route->echo)
		buf_printf(out, "\"%s\":%.*s,", route->echo,
			STR_ARG(echo.ptr ? echo : STR_LIT("null")));
	buf_add_str(out, STR_LIT("\"error\":"));
	buf_add_json_string(out, reply->message);
	if (strcmp(route->error_type, "fs:save_error") == 0) {
		buf_add_str(out, STR_LIT(",\"code\":"));
		buf_add_json_string(out, reply->code);
		if (version.ptr)
			buf_printf(out, ",\"version\":%.*s", STR_ARG(version));
	}
	buf_add_char(out, '}');
}

/* ---- reviews under way ---- */

static TAILQ_HEAD(, route_review) reviews = TAILQ_HEAD_INITIALIZER(reviews);

void route_review_begin(struct route_review *review, struct str kata, struct wall now)
{
	*review = (struct route_review){.kata = kata, .since = now};
	TAILQ_INSERT_TAIL(&reviews, review, link);
}

void route_review_end(struct route_review *review)
{
	TAILQ_REMOVE(&reviews, review, link);
}

static const struct route_review *first_of(struct str kata)
{
	const struct route_review *review;

	if (!kata.ptr)
		return NULL;
	TAILQ_FOREACH(review, &reviews, link)
	if (review->kata.ptr && str_eq(review->kata, kata))
		return review;
	return NULL;
}

bool route_review_tell(struct str kata, struct str opened, struct buf *out)
{
	const struct route_review *review = first_of(kata);
	char since[WALL_ISO_SIZE];

	if (!review || opened.len < 2)
		return false;
	wall_iso(review->since, since);
	/* In front: behind the last member would be behind a text that may be long. */
	buf_printf(out, "{\"reviewSince\":\"%s\",", since);
	buf_add(out, opened.ptr + 1, opened.len - 1);
	return true;
}

/* ---- calls ---- */

/* A call under way for a window. The texts lie behind it. */
struct call {
	struct ws_client *client;
	const struct route *route;
	struct str id;
	struct str echo; /* JSON */
	struct route_review review;
};

static char *put_text(char *at, struct str text, struct str *out)
{
	if (!text.ptr)
		return at;
	memcpy(at, text.ptr, text.len);
	*out = (struct str){at, text.len};
	return at + text.len;
}

static struct call *call_new(const struct route *route, const struct ws_message *m)
{
	struct call *call = xmalloc(sizeof(*call) + m->id.len + m->echo.len);

	*call = (struct call){.client = m->client, .route = route};
	put_text(put_text((char *)(call + 1), m->id, &call->id), m->echo, &call->echo);
	ws_client_ref(m->client);
	if (route->reviews)
		route_review_begin(&call->review, call->echo, clock_wall());
	return call;
}

static void call_free(struct call *call)
{
	if (call->route->reviews)
		route_review_end(&call->review);
	ws_client_unref(call->client);
	free(call);
}

static void deliver(struct call *call, enum ws_audience audience, const char *type,
	struct payload *payload)
{
	if (audience == WS_TO_ALL)
		ws_broadcast(call->client->server, str_of(type), payload, call->client,
			call->id);
	else
		ws_answer(call->client, str_of(type), payload, call->id);
}

static void deliver_answer(struct call *call, struct payload *payload)
{
	const char *answer = call->route->answer;

	deliver(call, ws_server_info(answer)->audience, answer, payload);
}

static void deliver_error(struct call *call, const struct bus_reply *reply)
{
	const struct route *route = call->route;
	enum ws_audience audience = route->error_audience;
	struct buf out = {0};
	struct payload *payload;

	if (str_is(reply->code, "INVALID_MESSAGE")) {
		ws_message_refuse(
			call->client, str_of(route->type), call->id, reply->message);
		return;
	}
	/* What was never begun is no news for others (P5.7). */
	if (is_connection_error(route) && str_is(reply->code, "NOT_IMPLEMENTED"))
		audience = WS_TO_SENDER;
	log_info("request failed", "connection", "%s", call->client->id, "type", "%s",
		route->type, "code", "%.*s", STR_ARG(reply->code), "reason", "%.*s",
		STR_ARG(reply->message), NULL);
	route_error_payload(
		route, reply, str_of(route->type), call->id, call->echo, &out);
	payload = payload_taking(&out);
	deliver(call, audience, route->error_type, payload);
	payload_unref(payload);
}

static void call_over(struct call *call)
{
	if (call->route->blocks_reader)
		ws_client_resume_reading(call->client, WS_PAUSED_FOR_ANSWER);
	call_free(call);
}

static void on_restored(void *arg, struct payload *payload)
{
	struct call *call = arg;

	deliver_answer(call, payload);
	call_over(call);
}

/* A reference. */
static struct payload *payload_for(const struct call *call, const struct bus_reply *reply)
{
	struct buf out = {0};

	if (call->route->tells_reviews &&
		route_review_tell(call->echo, reply->body, &out))
		return payload_taking(&out);
	return payload_of_reply(reply);
}

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct call *call = arg;
	const struct route *route = call->route;

	if (reply->status != BUS_OK) {
		deliver_error(call, reply);
	} else if (route->restores) {
		restored_complete(
			call->client->server->gateway, reply->body, on_restored, call);
		return;
	} else if (route->answer) {
		struct payload *payload = payload_for(call, reply);

		deliver_answer(call, payload);
		payload_unref(payload);
	}
	call_over(call);
}

static void call_owner(const struct route *route, const struct ws_message *m)
{
	const struct method_info *method = &method_infos[route->method];
	struct bus *bus = m->client->server->gateway->bus;
	struct call *call = call_new(route, m);
	char key[UUID_SIZE];
	struct str key_str = {NULL, 0};

	if (method->flags & METHOD_KEYED) {
		uuid7(clock_wall(), key);
		key_str = str_of(key);
	}
	if (m->text)
		bus_call_taking(bus, route->method, key_str, m->payload, m->text, 0,
			on_reply, call);
	else
		bus_call(bus, route->method, key_str, m->payload, 0, on_reply, call);
	if (route->blocks_reader)
		ws_client_pause_reading(m->client, WS_PAUSED_FOR_ANSWER);
	else if (bus_congested(bus, method->owner))
		ws_client_pause_reading(m->client, method->owner);
}

static void follow(const struct route *route, const struct ws_message *m)
{
	const struct follow *wanted = m->decoded;

	if (!route->may_follow || route->may_follow(m))
		ws_client_follow(m->client, route->follows, wanted->follow);
}

static void answer_stub(const struct ws_message *m)
{
	AUTO_BUF context = {0};

	log_warn("nothing answers this message type yet", "type", "%.*s",
		STR_ARG(m->type), NULL);
	ws_message_context(m->type, m->id, &context);
	ws_message_error(m->client, "NOT_IMPLEMENTED",
		STR_LIT("Nothing answers this message yet"), buf_str(&context), m->id);
}

void route_message(const struct route *route, const struct ws_message *message)
{
	switch (route->kind) {
	case ROUTE_CALL:
		call_owner(route, message);
		break;
	case ROUTE_FOLLOW:
		follow(route, message);
		break;
	case ROUTE_LOCAL:
		route->local(message);
		break;
	case ROUTE_IGNORE:
		break;
	case ROUTE_STUB:
		answer_stub(message);
		break;
	}
}

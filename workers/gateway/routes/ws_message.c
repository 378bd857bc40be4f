/* ws_message.c - see ws_message.h. */
#include "workers/gateway/routes/ws_message.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "proto/tables/ws.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http_reading.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/routes/routes.h"
#include "workers/gateway/ws/ws_server.h"
#include <stdio.h>
#include <stdlib.h>

/* Of an unknown type, in the log. */
#define LOGGED_TYPE_BYTES 100
/* A path with every byte escaped; what is longer is none, and is not told again. */
#define MAX_ECHO_BYTES (6u * 8192 + 2)
/* The type of a message that is refused, in its answer. */
#define CONTEXT_TYPE_BYTES 200

void ws_message_context(struct str type, struct str id, struct buf *out)
{
	if (type.len > CONTEXT_TYPE_BYTES)
		type.len = CONTEXT_TYPE_BYTES;
	buf_add_str(out, STR_LIT("{\"type\":"));
	if (type.ptr)
		buf_add_json_string(out, type);
	else
		buf_add_str(out, STR_LIT("null"));
	buf_add_str(out, STR_LIT(",\"id\":"));
	buf_add_str(out, id.ptr ? id : STR_LIT("null"));
	buf_add_char(out, '}');
}

void ws_message_error(struct ws_client *client, const char *code, struct str text,
	struct str context, struct str id)
{
	const struct connection_error error = {
		.code = str_of(code), .message = text, .context = {.raw = context}};
	AUTO_BUF out = {0};

	proto_encode(connection_error_type(), &error, &out);
	ws_answer_text(client, STR_LIT("connection:error"), buf_str(&out), id);
}

void ws_message_refuse(
	struct ws_client *client, struct str type, struct str id, struct str text)
{
	AUTO_BUF context = {0};

	client->server->metrics->ws_invalid++;
	log_info("invalid message", "connection", "%s", client->id, "type", "%.*s",
		STR_ARG(type), "reason", "%.*s", STR_ARG(text), NULL);
	ws_message_context(type, id, &context);
	ws_message_error(client, "INVALID_MESSAGE", text, buf_str(&context), id);
}

/* The id is sent back as it came: a string or a number. False when it is something else.
 */
static bool take_id(struct ws_message *m, struct str text, yyjson_val *root)
{
	yyjson_val *id = yyjson_obj_get(root, "id");

	if (!id || yyjson_is_null(id))
		return true;
	if (!yyjson_is_str(id) && !yyjson_is_num(id))
		return false;
	m->id = json_slice_member(text, "id");
	if (m->id.len > WS_MAX_ID_BYTES) {
		m->id = (struct str){NULL, 0};
		return false;
	}
	return true;
}

void ws_message_id_keep(struct ws_message_id *kept, const struct ws_message *message)
{
	snprintf(kept->json, sizeof(kept->json), "%.*s", STR_ARG(message->id));
}

struct str ws_message_id_of(const struct ws_message_id *kept)
{
	return str_of(kept->json[0] ? kept->json : NULL);
}

/* yyjson keeps members in the order of the text. */
static bool is_last_of(yyjson_val *object, const yyjson_val *value)
{
	yyjson_obj_iter members = yyjson_obj_iter_with(object);
	yyjson_val *key, *last = NULL;

	while ((key = yyjson_obj_iter_next(&members)))
		last = yyjson_obj_iter_get_val(key);
	return last == value;
}

/* The payload and its text; `data` stands in for it. NULL when there is none. */
static yyjson_val *take_payload(struct ws_message *m, struct str text, yyjson_val *root)
{
	static const char *const names[] = {"payload", "data"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		yyjson_val *payload = yyjson_obj_get(root, names[i]);

		if (!payload)
			continue;
		m->payload = is_last_of(root, payload)
				     ? json_slice_last_member(text, names[i])
				     : json_slice_member(text, names[i]);
		return payload;
	}
	return NULL;
}

/* The key was written with escapes: the payload has to be written anew. */
static void rewrite_payload(struct ws_message *m)
{
	size_t len;
	AUTO_FREE char *text =
		alloc_checked(yyjson_val_write(m->json, YYJSON_WRITE_NOFLAG, &len));
	m->payload = arena_str(m->arena, (struct str){text, len});
	m->rewritten = true;
}

/* NULL when the envelope is right, with *m filled; else what is wrong. */
static const char *read_envelope(struct ws_message *m, struct str text, yyjson_val *root)
{
	yyjson_val *type;

	if (!yyjson_is_obj(root))
		return "message: expected an object";
	type = yyjson_obj_get(root, "type");
	if (yyjson_is_str(type))
		m->type = (struct str){yyjson_get_str(type), yyjson_get_len(type)};
	if (!take_id(m, text, root))
		return "id: expected a string";
	if (!m->type.ptr)
		return "type: expected a string";
	m->json = take_payload(m, text, root);
	return NULL;
}

static void ignore_unknown(const struct ws_message *m)
{
	struct str type = m->type;

	if (type.len > LOGGED_TYPE_BYTES)
		type.len = LOGGED_TYPE_BYTES;
	m->client->server->metrics->ws_unknown++;
	log_warn("unknown message type ignored", "connection", "%s", m->client->id,
		"type", "%.*s", STR_ARG(type), NULL);
}

/* It lies anywhere in a payload that may be long. */
static void take_echo(struct ws_message *m, const char *name)
{
	m->echo = json_slice_member(m->payload, name);
	if (m->echo.len > MAX_ECHO_BYTES)
		m->echo = (struct str){NULL, 0};
}

/* A payload that the gateway itself reads; the owner of a method decodes that of a call. */
static const char *decode_payload(struct ws_message *m, struct proto_error *error)
{
	const struct type *type = ws_client_infos[ws_client_by_name(m->type)].payload();
	void *decoded = arena_alloc(m->arena, type->size);

	if (proto_decode(type, m->json, "payload", DECODE_LENIENT, m->arena, decoded,
		    error) < 0)
		return error->text;
	m->decoded = decoded;
	return NULL;
}

/* Checks everything that the gateway checks, and nothing else: for any thread. NULL with
 * the route of the message, or NULL for an unknown type; else what is wrong. The document
 * is the message's. */
static const char *understand(struct ws_message *m, struct str text,
	const struct route **route, struct proto_error *error)
{
	yyjson_val *root;
	const char *wrong;

	*route = NULL;
	m->document = proto_parse(text, error);
	if (!m->document)
		return error->text;
	root = yyjson_doc_get_root(m->document);
	wrong = read_envelope(m, text, root);
	if (wrong)
		return wrong;
	*route = route_of(m->type);
	if (!*route)
		return NULL;
	if (!yyjson_is_obj(m->json))
		return "payload: expected an object";
	if (!m->payload.ptr)
		rewrite_payload(m);
	if ((*route)->echo)
		take_echo(m, (*route)->echo);
	return (*route)->kind == ROUTE_CALL ? NULL : decode_payload(m, error);
}

static void act(const struct ws_message *m, const struct route *route, const char *wrong)
{
	m->client->server->metrics->ws_received++;
	if (wrong)
		ws_message_refuse(m->client, m->type, m->id, str_of(wrong));
	else if (!route)
		ignore_unknown(m);
	else
		route_message(route, m);
}

/* ---- large messages ---- */

/* One that is parsed beside the loop; its window says nothing more meanwhile. */
struct parsing {
	struct job job;
	struct buf text;
	struct arena arena;
	struct ws_message message;
	const struct route *route;
	const char *wrong;
	struct proto_error error;
};

static void run_parsing(struct job *job)
{
	struct parsing *p = (struct parsing *)job;

	p->wrong = understand(&p->message, buf_str(&p->text), &p->route, &p->error);
}

static void done_parsing(struct job *job)
{
	struct parsing *p = (struct parsing *)job;
	struct ws_client *client = p->message.client;

	if (!p->message.rewritten)
		p->message.text = &p->text;
	act(&p->message, p->route, p->wrong);
	http_free_document(client->server->gateway->parsers, p->message.document);
	arena_free(&p->arena);
	buf_free(&p->text);
	free(p);
	ws_client_resume_reading(client, WS_PAUSED_FOR_PARSING);
	ws_client_unref(client);
}

static void parse_beside(struct ws_client *client)
{
	struct parsing *p = xcalloc(1, sizeof(*p));

	p->job = (struct job){.run = run_parsing, .done = done_parsing};
	p->text = ws_reader_take_message(&client->reader);
	p->message = (struct ws_message){.client = client, .arena = &p->arena};
	ws_client_ref(client);
	ws_client_pause_reading(client, WS_PAUSED_FOR_PARSING);
	jobs_add(client->server->gateway->parsers, &p->job);
}

void ws_message_take(struct ws_client *client, struct str text)
{
	static struct arena arena; /* reset, not freed: one message at a time */
	struct ws_message m = {.client = client, .arena = &arena};
	const struct route *route;
	struct proto_error error;
	const char *wrong;

	if (text.len > READ_AT_ONCE_BYTES) {
		parse_beside(client);
		return;
	}
	wrong = understand(&m, text, &route, &error);
	act(&m, route, wrong);
	yyjson_doc_free(m.document);
	arena_reset(&arena);
}

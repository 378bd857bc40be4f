/* guard_watch.c - see guard_watch.h. */
#include "workers/gateway/routes/guard_watch.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/routes/ws_message.h"
#include <stdio.h>
#include <stdlib.h>

#define MAX_ID_BYTES 128
/* Quoted, with every byte escaped. */
#define MAX_ID_JSON (6 * MAX_ID_BYTES + 2)

struct watch {
	struct ws_client *client; /* NULL: a free place */
	int kind;
	char id[MAX_ID_JSON + 1]; /* as events have it: a JSON string */
	int64_t cursor;		  /* of the newest state that was told */
};

static struct watch watches[GUARD_WATCH_MAX];
static size_t watch_count; /* places that were ever used */

/* The id as every encoder of ours writes it, so that events need not be parsed. */
static void write_id(struct str id, char out[MAX_ID_JSON + 1])
{
	AUTO_BUF quoted = {0};

	buf_add_json_string(&quoted, id);
	snprintf(out, MAX_ID_JSON + 1, "%.*s", STR_ARG(buf_str(&quoted)));
}

static bool concerns(const struct watch *w, int kind, struct str id_json)
{
	return w->client && w->kind == kind && str_is(id_json, w->id);
}

static struct watch *find(const struct ws_client *client, int kind, struct str id)
{
	char id_json[MAX_ID_JSON + 1];

	write_id(id, id_json);
	for (size_t i = 0; i < watch_count; i++)
		if (watches[i].client == client &&
			concerns(&watches[i], kind, str_of(id_json)))
			return &watches[i];
	return NULL;
}

/* A place for a new watch, or NULL. */
static struct watch *free_place(void)
{
	for (size_t i = 0; i < watch_count; i++)
		if (!watches[i].client)
			return &watches[i];
	return watch_count < GUARD_WATCH_MAX ? &watches[watch_count++] : NULL;
}

void guard_watch_forget(struct ws_client *client)
{
	for (size_t i = 0; i < watch_count; i++)
		if (watches[i].client == client)
			watches[i].client = NULL;
	while (watch_count > 0 && !watches[watch_count - 1].client)
		watch_count--;
}

/* ---- subscribing ---- */

/* A subscription whose first state is being fetched. */
struct opening {
	struct ws_client *client;
	int kind;
	char guard_id[MAX_ID_BYTES + 1];
	struct ws_message_id message_id;
};

static void send_state(struct opening *o, const struct guard_snapshot *snapshot)
{
	struct watch *w = find(o->client, o->kind, str_of(o->guard_id));
	const struct guard_state state = {.kind = o->kind,
		.has_kind = true,
		.id = str_of(o->guard_id),
		.cursor = snapshot->cursor,
		.has_cursor = true,
		.state = snapshot->state};
	AUTO_BUF out = {0};

	if (!w || w->cursor > snapshot->cursor)
		return; /* gone, or a newer state came meanwhile */
	w->cursor = snapshot->cursor;
	proto_encode(guard_state_type(), &state, &out);
	ws_answer_text(o->client, STR_LIT("guard:state"), buf_str(&out),
		ws_message_id_of(&o->message_id));
}

static void fail(struct opening *o, struct str code, struct str text, struct str context)
{
	struct watch *w = find(o->client, o->kind, str_of(o->guard_id));
	AUTO_ARENA arena = {0};

	if (w && w->cursor < 0)
		w->client = NULL; /* there is nothing to watch */
	ws_message_error(o->client, arena_cstr(&arena, code), text, context,
		ws_message_id_of(&o->message_id));
}

static void on_snapshot(void *arg, const struct bus_reply *reply)
{
	struct opening *o = arg;
	AUTO_ARENA arena = {0};
	struct guard_snapshot snapshot;
	struct proto_error error;

	if (reply->status != BUS_OK)
		fail(o, reply->code, reply->message, reply->context);
	else if (bus_reply_decode(METHOD_GUARD_GET, reply, &arena, &snapshot, &error) < 0)
		fail(o, STR_LIT("INTERNAL_ERROR"), str_of(error.text),
			(struct str){NULL, 0});
	else
		send_state(o, &snapshot);
	ws_client_unref(o->client);
	free(o);
}

/* From now on its events are told, so that none is missed while the first state is
 * fetched. */
static bool watch(struct ws_client *client, int kind, struct str id)
{
	struct watch *w = find(client, kind, id);

	if (w)
		return true;
	w = free_place();
	if (!w)
		return false;
	*w = (struct watch){.client = client, .kind = kind, .cursor = -1};
	write_id(id, w->id);
	return true;
}

void guard_watch_on_subscribe(const struct ws_message *message)
{
	const struct guard_ref *ref = message->decoded;
	struct opening *o;

	if (!watch(message->client, ref->kind, ref->id)) {
		ws_message_error(message->client, "BUSY",
			STR_LIT("Too many guard machines are watched"),
			(struct str){NULL, 0}, message->id);
		return;
	}
	o = xcalloc(1, sizeof(*o));
	o->client = message->client;
	o->kind = ref->kind;
	snprintf(o->guard_id, sizeof(o->guard_id), "%.*s", STR_ARG(ref->id));
	ws_message_id_keep(&o->message_id, message);
	ws_client_ref(o->client);
	bus_call_message(o->client->server->gateway->bus, METHOD_GUARD_GET,
		(struct str){NULL, 0}, ref, 0, on_snapshot, o);
}

/* ---- telling ---- */

/* The number in the body, -1 for none. A member is followed by a comma or a brace. */
static int64_t cursor_of(struct str body)
{
	struct str cursor = json_slice_member(body, "cursor");

	return cursor.ptr ? strtoll(cursor.ptr, NULL, 10) : -1;
}

/* Kind, id and cursor come first in the body: what the machine shows behind them is not
 * looked at. */
void guard_watch_tell(struct str type, struct payload *payload)
{
	struct str body = payload_str(payload), kind = json_slice_member(body, "kind"),
		   id = json_slice_member(body, "id");
	int kind_index;
	int64_t cursor;

	if (kind.len < 2 || id.len < 2) {
		log_error("an event of a guard machine does not name it", NULL);
		return;
	}
	kind_index = enumeration_index(
		guard_kind_enumeration(), (struct str){kind.ptr + 1, kind.len - 2});
	cursor = str_is(type, "guard:state") ? cursor_of(body) : -1;
	for (size_t i = 0; i < watch_count; i++) {
		if (!concerns(&watches[i], kind_index, id))
			continue;
		if (cursor > watches[i].cursor)
			watches[i].cursor = cursor;
		/* Who follows every machine has it already. */
		if (!ws_client_follows(watches[i].client, WS_TO_GUARDS))
			ws_answer(
				watches[i].client, type, payload, (struct str){NULL, 0});
	}
}

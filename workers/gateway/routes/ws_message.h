/*
 * ws_message.h - reads the text that a window sent.
 *
 * Called by ws_client.c. Checks the envelope (FR-049), and the payload of a message that the
 * gateway itself answers against proto/catalogue/ws.def. The payload of a message for another
 * worker is passed on as it is: the bus decodes it there, once. Only the sender hears what is
 * wrong (EC-22, EC-23); an unknown type is logged and ignored (FR-060).
 */
#pragma once

#include "common/base/arena.h"
#include "workers/gateway/ws/ws_client.h"
#include <yyjson.h>

/* Longer ids are refused: they are sent back. */
#define WS_MAX_ID_BYTES 256

/* Borrowed until the handler returns. */
struct ws_message {
	struct ws_client *client;
	struct str type;
	struct str id;	    /* JSON of the id, a string or a number; absent without one */
	struct str payload; /* JSON text as received */
	struct str echo; /* JSON of the member that an error of a call names; or absent */
	struct buf *text; /* that id and payload lie in, when it may be taken; or NULL */
	yyjson_val *json; /* the payload */
	const void *decoded; /* the payload; NULL in a call of a worker */
	struct arena *arena;
	yyjson_doc *document;
	bool rewritten; /* the payload, which lies in the arena */
};

/* `text` is what the client's reader has just given. A message of more than
 * READ_AT_ONCE_BYTES is parsed on a thread (http_reading.h), and its window is read on when
 * that is done: no other window waits for it. */
void ws_message_take(struct ws_client *client, struct str text);

/* The id of a message that is answered after its handler has returned. */
struct ws_message_id {
	char json[WS_MAX_ID_BYTES + 1]; /* empty: none */
};

void ws_message_id_keep(struct ws_message_id *kept, const struct ws_message *message);
/* JSON, or absent. */
struct str ws_message_id_of(const struct ws_message_id *kept);

/* Answers connection:error to one window; `context` is JSON or absent. */
void ws_message_error(struct ws_client *client, const char *code, struct str text,
	struct str context, struct str id);
/* Answers INVALID_MESSAGE to one window, logs and counts it. `text` says what is wrong. */
void ws_message_refuse(
	struct ws_client *client, struct str type, struct str id, struct str text);
/* {"type":...,"id":...} for the context of such an error. */
void ws_message_context(struct str type, struct str id, struct buf *out);

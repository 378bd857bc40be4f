/*
 * ws.h - the WebSocket messages of ws.def as tables.
 *
 * Every message is an envelope {type, payload, id?, timestamp} (FR-049); what the daemon
 * sends also has `seq`. `type` names a row, `payload` has the type of the row.
 */
#pragma once

#include "proto/codec/codec.h"

/* Who gets a message of the daemon. From WS_TO_PROGRESS on: the windows that asked for it. */
enum ws_audience {
	WS_TO_ALL,
	WS_TO_SENDER,
	WS_TO_PROGRESS,
	WS_TO_LOG,
	WS_TO_GUARDS,
	WS_TO_STATUS,
	WS_TO_AGENTS,
};

struct ws_info {
	const char *name; /* "file:open" */
	const struct type *(*payload)(void);
	enum ws_audience audience; /* of the daemon's messages */
	bool unsent; /* of the daemon's messages: declared, but nothing sends it (P5.12,
			P5.18) */
	const char *doc;
};

extern const struct ws_info ws_client_infos[]; /* editor to daemon */
extern const size_t ws_client_count;
extern const struct ws_info ws_server_infos[]; /* daemon to editor */
extern const size_t ws_server_count;

/* Index of a name in ws_client_infos, or -1. */
int ws_client_by_name(struct str name);
/* Index of a name in ws_server_infos, or -1. */
int ws_server_by_name(struct str name);
/* The message of this name, which is one of the catalogue: from a table, or written in the code. */
const struct ws_info *ws_server_info(const char *name);

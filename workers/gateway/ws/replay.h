/*
 * replay.h - the last broadcasts, and the connections that ended, so that a window that
 * returns gets what it missed.
 *
 * Bounded by number and bytes; owned by ws_server.c. Lost with the process: then
 * everybody starts afresh.
 */
#pragma once

#include "common/base/ids.h"
#include "workers/gateway/ws/payload.h"
#include "workers/gateway/ws/resume.h"

#define REPLAY_MAX_ITEMS 1024
#define REPLAY_MAX_BYTES (16u * 1024 * 1024)
#define REPLAY_MAX_CLOSED 64

struct replay_text {
	struct str type; /* lives for ever */
	struct payload *payload;
};

struct replay_item {
	uint64_t number;
	int64_t timestamp_ms;
	struct replay_text text;    /* without a payload only for windows that list
				    directories */
	struct replay_text listing; /* in its place for those windows; without a payload
				       they get the same */
};

struct replay_closed {
	char id[UUID_SIZE];
	struct resume_log log;
};

/* Zero is a valid empty buffer. */
struct replay {
	uint64_t last; /* number of the newest broadcast; they begin at 1 */
	uint64_t first_kept;
	size_t bytes;
	struct replay_item items[REPLAY_MAX_ITEMS]; /* by number modulo the size */
	struct replay_closed closed[REPLAY_MAX_CLOSED];
	uint64_t closed_count; /* ever */
};

/* Numbers a broadcast and keeps it; holds the payloads. `listing` may be absent. */
uint64_t replay_add(struct replay *r, int64_t timestamp_ms,
	const struct replay_text *text, const struct replay_text *listing);

/* What a window gets of a broadcast; NULL: it was only for those that list directories. */
const struct replay_text *replay_text_for(
	const struct replay_item *item, bool lists_directories);

/* The kept broadcast of this number, or NULL. */
const struct replay_item *replay_get(const struct replay *r, uint64_t number);

/* Remembers how far a connection that ends had come. */
void replay_note_closed(struct replay *r, const char *id, const struct resume_log *log);

/* The log of the ended connection `id`, the newest one when absent; NULL when it is not
 * known. */
const struct resume_log *replay_find_closed(const struct replay *r, struct str id);

void replay_fini(struct replay *r);

/*
 * channel.h - the supervisor's end of a worker's fd 3: packets of proto/worker.h.
 *
 * Called by process.c. Never blocks: STOP and RELOAD that do not fit are kept until they
 * do, of FLEET only the newest. Packets of another generation, of a wrong size or of an
 * unknown type are dropped.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/str.h"
#include "proto/worker.h"
#include <event2/event.h>

/* `body` is valid during the call; `fd` came with it and is taken, -1 without. -1 as type:
 * the other end is closed, and no more will come. */
typedef void channel_fn(void *arg, int type, struct str body, int fd);

struct channel {
	int fd; /* -1: closed */
	uint64_t generation;
	struct event *readable;
	struct event *writable;
	channel_fn *fn;
	void *arg;
	/* What waits to be sent. */
	bool stop;
	struct buf reload;
	struct buf fleet;
};

/* Takes `fd` (non-blocking). 0 or -errno, then `fd` is closed too. */
int channel_open(struct channel *c, struct event_base *base, int fd, uint64_t generation,
	channel_fn *fn, void *arg) __attribute__((warn_unused_result));
void channel_send_stop(struct channel *c);
void channel_send_reload(struct channel *c, struct str json);
/* With the descriptor `fd`, which stays the caller's. False when it does not fit now. */
bool channel_send_tap(struct channel *c, int fd) __attribute__((warn_unused_result));
void channel_send_fleet(struct channel *c, struct str json);
/* Hands over what has come already; for the last words of a process that has ended. */
void channel_drain(struct channel *c);
void channel_close(struct channel *c);

/*
 * Pure: checks one packet. The type with *body set, or -1 when it is to be dropped.
 */
int channel_parse(const void *packet, size_t len, uint64_t generation, struct str *body);

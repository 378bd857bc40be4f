/*
 * rogue_wire.h - the messages of the bus without nng, for a peer that sends them wrong on
 * purpose.
 *
 * nng's scalability protocols on a Unix socket: each side greets with 8 bytes, then every
 * message is a 1, its length in 8 bytes (big endian) and its bytes. A request and its
 * reply begin with the same 4 bytes. Used by bus_rogue.c alone.
 */
#pragma once

#include "common/base/buf.h"
#include <stdbool.h>

enum wire_protocol { WIRE_PUB = 0x20, WIRE_SUB = 0x21, WIRE_REQ = 0x30, WIRE_REP = 0x31 };

#define WIRE_ID_BYTES 4
#define WIRE_FRAME_BYTES 9

struct wire {
	int fd; /* -1: closed */
	bool greeted;
	struct buf in;
};

/* A listening socket in place of whatever lies at `path`. -1 with errno. */
int wire_listen(const char *path);
/* Connects and greets. False when nobody is there or the other side is none. */
bool wire_dial(struct wire *w, const char *path, enum wire_protocol self);
void wire_accept(struct wire *w, int fd, enum wire_protocol self);
void wire_close(struct wire *w);
/* One whole message. False when the other side did not take it within a second: then it
 * is closed. */
bool wire_send(struct wire *w, struct str message);
/* The same for bytes that are no message. */
bool wire_send_raw(struct wire *w, struct str bytes);
/* Reads what is there, waiting at most `ms` for something. False when the connection has
 * ended. */
bool wire_read(struct wire *w, int ms);
/* The next whole message that was read, valid until the next wire_read; false when there
 * is none. */
bool wire_take(struct wire *w, struct str *message, size_t *at);
/* Drops what wire_take has passed. */
void wire_taken(struct wire *w, size_t at);

/*
 * session_record.h - DATA_DIR/agents/<session>.session: the part of an agent session that outlives
 * the worker: its folder, whether its program knows it, and its history.
 *
 * A file of lines, each a letter and what it is about. A line is written, with one write(2), before a
 * client sees it: a worker that is killed at any moment has recorded at least what clients
 * have seen. The next start cuts off an incomplete last line. When the file has grown it is
 * rewritten with the lines that still count, under another name first. Nothing is synced: it
 * survives the process, not a loss of power.
 *
 * Knows no sessions; called by session_recovery.c.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/ids.h"
#include "workers/agent/history.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define RECORD_ENDING ".session"
/* While it is being rewritten; a leftover of a killed worker is ignored. */
#define RECORD_NEW_ENDING RECORD_ENDING ".new"
/* Of a session that ended without a client connected: a client may resume it. */
#define RECORD_ASIDE_ENDING ".ended"
/* So many are kept; the oldest go. */
#define RECORD_ASIDE_MAX 32
/* It is rewritten when it has grown by this since the last time. */
#define RECORD_GROWTH_BYTES (2u * HISTORY_MAX_BYTES)
/* No record is longer: one of that growth, and a message on either side of it. */
#define RECORD_MAX_BYTES (64u * 1024 * 1024)

enum record_line {
	RECORD_FOLDER = 'f',  /* its path, a JSON string; the first line */
	RECORD_KNOWN = 'k',   /* nothing: the program knows the session */
	RECORD_DROPPED = 'd', /* a number: older messages that were dropped */
	RECORD_START = 's',   /* nothing: the program is about to be started */
	RECORD_MESSAGE = 'm', /* a message to clients, JSON */
	RECORD_RESULT = 'r', /* the same; it ends a turn: the program knows the session */
	RECORD_END = 'x',    /* the same; nothing is left of the program */
};

/* What a record says. Zero is a session in which nothing has happened. */
struct record_state {
	bool known;   /* to the program: it is to be resumed */
	bool running; /* the program */
	struct history history;
};

/* What a line other than RECORD_FOLDER and RECORD_DROPPED means. */
void record_apply(struct record_state *state, enum record_line line, struct str about);
/* The same; takes the memory of a message and leaves the buffer empty. */
void record_apply_taking(
	struct record_state *state, enum record_line line, struct buf *about);
/* Applies a line, without its newline. False when it is invalid. `folder` gets the path
 * of RECORD_FOLDER. */
bool record_take(struct str line, struct record_state *state, char folder[PATH_MAX])
	__attribute__((warn_unused_result));
/* The lines that say this much. */
void record_render(const char *folder, const struct record_state *state, struct buf *out);

struct record {
	int fd; /* -1: none is kept */
	uint64_t bytes, bytes_when_new;
	bool behind; /* a line could not be written: the file is to be written anew */
};

/* Makes the record of a session in a directory, or writes it anew. 0 or -errno; what was
 * there before stays then. */
int record_replace(struct record *r, int dir_fd, const char *id, struct str lines)
	__attribute__((warn_unused_result));
/* Adds a line. 0 or -errno: the record is behind then, and takes no line until it is
 * replaced. */
int record_add(struct record *r, enum record_line line, struct str about)
	__attribute__((warn_unused_result));
/* The session cannot be resumed. */
void record_remove(struct record *r, int dir_fd, const char *id);
void record_close(struct record *r);
/* Closes it and keeps it under its other name. */
void record_set_aside(struct record *r, int dir_fd, const char *id);
/* Gives one that was set aside its name again: it can be opened. 0 or -errno. */
int record_take_back(int dir_fd, const char *id) __attribute__((warn_unused_result));
/* The folder of one that was set aside. 0; -EBADMSG: it is damaged; or -errno. */
int record_folder_aside(int dir_fd, const char *id, char folder[PATH_MAX])
	__attribute__((warn_unused_result));

/* Opens and reads the record of a session. 0; -EBADMSG: it is damaged; or -errno. */
int record_open(struct record *r, int dir_fd, const char *id, struct record_state *state,
	char folder[PATH_MAX]) __attribute__((warn_unused_result));

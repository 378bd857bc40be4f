/*
 * folds.h - streams read from the store and folded, for what is not in memory.
 *
 * Used to load an instance, to give the first answer to an event once more, to make
 * bundles, and to check a stream. Rows come page by page; each job lives until it is
 * done, and holds nothing of an instance but its name.
 */
#pragma once

#include "workers/guard-engine/engine/engine.h"

struct fold {
	struct engine *engine;
	enum guard_kind kind;
	char id[GUARD_ID_SIZE];
	struct stream stream; /* where it has come to; the state belongs to the job */
	struct stream_result result; /* of the last step */
	int64_t until; /* stop after the step that begins with this row; 0: the end */
	bool keep;     /* keep all rows in `rows` */
	struct stream_row *rows;
	size_t row_count, row_room;
	struct arena arena; /* of kept rows */
	int64_t steps;

	/* How it ended. */
	const char *code; /* NULL when it went well, else the code of an error */
	char message[400];

	void (*done)(struct fold *f); /* may take what it wants; the job is freed then */
	void *arg;
	int64_t arg_number;
};

/* A job that begins before the first row; set its wishes, then fold_run. */
struct fold *fold_new(struct engine *e, enum guard_kind kind, struct str id,
	void (*done)(struct fold *f));
/* Goes on behind `stream.cursor`. */
void fold_run(struct fold *f);
/* Ends it in its current state: calls `done` and frees it. */
void fold_end(struct fold *f);
/* The store has decided: the same call would get the same answer again. False when it is
 * away, busy, or its disk is full. */
bool folds_is_final(const struct bus_reply *reply);

/* Answers a call with the first answer to the event whose rows begin with `first`. */
void folds_answer_again(struct instance *i, struct bus_request *request, int64_t first);
/* The same, when the event is there; else CONFLICT. */
void folds_answer_if_known(
	struct instance *i, struct bus_request *request, struct str client_event_id);

/* Answer guard.bundle and guard.replay. */
void folds_bundle(struct engine *e, struct str id, enum guard_bundle_for reader,
	struct bus_request *request);
void folds_replay(struct engine *e, enum guard_kind kind, struct str id,
	struct bus_request *request);

/*
 * files.h - asks the file worker for what only it knows: open files, buffers, diffs.
 *
 * Asked after the commit, without holding up anything. A file worker that is away must
 * not undo what is durable already, so after FILES_WAIT_MS the answer goes out without
 * its part.
 */
#pragma once

#include "common/base/str.h"
#include "proto/codec/codec.h"

struct store;
struct call;

#define FILES_WAIT_MS 2000

/* `files` is in the call's arena; its items are NULL when the file worker did not answer.
 */
typedef void files_open_fn(struct store *store, struct call *call, struct strs files);

/* Asks for the open files; then calls `fn`, which gives the call its answer, and answers.
 */
void files_ask_open(struct store *store, struct call *call, files_open_fn *fn);

/* `members` is the inside of a JSON object, in the call's arena; absent when the file
 * worker did not answer, `why` says so for people then. */
typedef void files_state_fn(
	struct store *store, struct call *call, struct str members, struct str why);

/* The same for state items (names of enum state_item), for a model: without long texts. */
void files_ask_state(
	struct store *store, struct call *call, struct strs include, files_state_fn *fn);

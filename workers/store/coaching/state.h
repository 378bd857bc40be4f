/*
 * state.h - the nine items of the session state (story 6; P6.12 to P6.17).
 *
 * Six come from tables; open files, buffers and diffs are asked of the file worker after
 * the commit.
 */
#pragma once

struct store;
struct call;

/* Makes the answer of a call that answers session_resumed: the items of the store, which
 * the gateway puts together with those of the file worker. 0 or -errno. */
int state_answer_restored(struct store *store, struct call *call)
	__attribute__((warn_unused_result));

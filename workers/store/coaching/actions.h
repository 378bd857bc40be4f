/*
 * actions.h - the action log (story 4): rows in, events out.
 *
 * Rows that the Observer hears of (actions.def, FR-048) are published as action/<type>
 * after the commit (P4.3), all others as log/<type>. Rows are never changed or deleted (P2.18).
 */
#pragma once

#include "common/base/ids.h"
#include "proto/tables/actions.h"

struct store;
struct call;
struct session_ref;

/* A row to be written. */
struct action_entry {
	const char *id;
	enum action action;
	struct str data; /* JSON text, absent for NULL */
	const char *created_at;
};

/* Writes one row for `session` and publishes it. 1 written, 0
 * it was there already, or -errno. */
int action_write(struct store *store, struct call *call,
	const struct session_ref *session, const struct action_entry *entry)
	__attribute__((warn_unused_result));

/*
 * Writes row `n` of this call for the session that the call belongs to, with `data` of
 * the action's own type. Without a session it is dropped (EC-17). As action_write.
 */
int action_log(struct store *store, struct call *call, unsigned n, enum action action,
	const void *data) __attribute__((warn_unused_result));

/* 1 when the row with this id is there, with *data (in the call's arena) and *session_id
 * filled; 0; -errno. */
int action_find(struct store *store, struct call *call, const char *id,
	struct str *session_id, struct str *data) __attribute__((warn_unused_result));

/*
 * hint_level.h - the hint level of the session, and the progress events of its phases (P2.6,
 * P5.19).
 */
#pragma once

#include "common/base/str.h"

struct store;
struct call;
struct type;

/* A progress event to be written. */
struct progress_entry {
	const char *id;
	const char *event_type; /* hint_used, hint_escalated, review_requested,
				   review_passed */
	struct str data;	/* JSON text, absent for NULL */
	const char *created_at;
};

/* Writes a progress event of the current phase of the active session; nothing without a
 * session or an active phase. 1 written, 0 not, or -errno. */
int progress_write(struct store *store, struct call *call,
	const struct progress_entry *entry) __attribute__((warn_unused_result));
/* The same in row `n` of the call; `data` of `type` becomes its JSON. */
int progress_record(struct store *store, struct call *call, unsigned n,
	const char *event_type, const struct type *type, const void *data)
	__attribute__((warn_unused_result));

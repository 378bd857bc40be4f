/*
 * http_refusals.h - the log of refused requests, bounded: anybody may send them, and as
 * many as he likes.
 *
 * Called by http.c. The first ones of a second are logged one by one, the rest as a sum.
 */
#pragma once

#include "common/base/str.h"

#define REFUSALS_SHOWN 5	 /* a second */
#define REFUSALS_SHOWN_BYTES 200 /* of each text from outside */

struct event_base;

/* What the request said of itself, and the visitor as a trusted proxy names him, may be
 * absent. `reason` is ours. */
void refusals_note(struct event_base *base, const char *reason, struct str path,
	struct str host, struct str origin, struct str visitor);

/*
 * metrics_text.h - metrics in the text format of Prometheus, out of what other processes have told. Pure.
 *
 * Called by metrics.c.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "proto/codec/messages.h"

/* One metric without labels; `kind` is "counter" or "gauge". */
void metrics_put(struct buf *out, const char *name, const char *kind, const char *help,
	uint64_t value);

/* Version; memory, processor time and start of each process; disk. */
void metrics_put_status(
	const struct ctl_status *status, struct wall now, struct buf *out);

/*
 * supervisor_ask.h - asks the supervisor what only it knows or can do: status, settings, logs, doctor, a restart.
 *
 * The worker opens no socket. Each question travels on a connection of its own, which is handed to the supervisor
 * (WORKER_PACKET_ASK), in the words of ctl.sock (proto/catalogue/ctl.def). Called by routes/supervisor.c and metrics.c.
 */
#pragma once

#include "common/worker/worker.h"
#include "proto/codec/messages.h"

/* Borrowed during the callback. */
struct supervisor_answer {
	const char *code; /* name of an error code; NULL: it succeeded */
	struct str text;  /* of the error, for people */
	struct str line;  /* the answer, one line of JSON, when it succeeded */
	yyjson_val *root; /* of it */
};

typedef void supervisor_answer_fn(void *arg, const struct supervisor_answer *answer);

/* Calls `fn` exactly once: with the answer, or with BUSY, TIMEOUT, UNAVAILABLE or INTERNAL_ERROR. It may run inside
 * this call. The request is encoded before this returns. `deadline_ms` 0: as long as such a request may take. */
void supervisor_ask(struct worker *worker, const struct ctl_request *request,
	int deadline_ms, supervisor_answer_fn *fn, void *arg);

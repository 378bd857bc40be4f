/*
 * worker.h - the worker's side of proto/worker.h.
 *
 * worker_main sets up signals, log, settings, event loop, bus and confinement, calls init, serves the
 * methods, beats, and stops in order. A worker is one thread with one libevent loop; whatever must
 * block runs elsewhere (llm has flow threads).
 */
#pragma once

#include "common/bus/bus.h"
#include "common/confine/confine.h"
#include "common/settings/settings_snapshot.h"
#include "proto/worker.h"
#include <event2/event.h>

struct worker {
	const struct worker_spec *spec;
	struct event_base *base;
	struct bus *bus;
	/* A snapshot (settings_snapshot.h); a reload replaces it. What init borrowed from the
	 * first one stays valid for the life of the process; later, take a reference before
	 * keeping anything from it or passing it to another thread. Read on the loop only. */
	const struct settings *settings;
	char runtime_dir[108];
	uint64_t generation;
	uint64_t epoch;
	void *state; /* the worker's own */
	struct worker_private *private_;
};

enum worker_condition { WORKER_FINE, WORKER_DEGRADED, WORKER_FAILING };

struct worker_spec {
	enum worker_id id;
	/* Opens everything, registers a handler for each method of the worker, and makes no thread; 0, or the exit code of enum worker_exit after having logged why. May return
	 * before the worker is ready: then it calls worker_ready later. */
	int (*init)(struct worker *w);
	/* Optional. What the process may still do once init is done. */
	void (*confine)(struct worker *w, struct confinement *c);
	/* Optional. After confinement, which must hold for every thread: whatever makes threads. */
	void (*begin)(struct worker *w);
	/* Optional. Begin to stop: finish what is acknowledged, then call worker_stopped (at once is fine). */
	void (*stop)(struct worker *w);
	/* Optional. w->settings holds the new values. */
	void (*reload)(struct worker *w);
	/* Optional. FLEET packets (the gateway). `fleet` is JSON. */
	void (*fleet)(struct worker *w, struct str fleet);
	/* Ready, and answering the bus, only after worker_ready; others are when init is done
	 * and every worker that they subscribe to was heard. */
	bool ready_later;
	/* epoll is told of changed events once a turn of the loop, which spares the calls for those
	 * that are undone within the turn. A descriptor must not be closed in the turn in which its
	 * events are deleted while another descriptor of the same socket lives. */
	bool changelist;
};

/* Never returns before the worker is done; returns the exit code. */
int worker_main(const struct worker_spec *spec, int argc, char **argv);

void worker_ready(struct worker *w);
void worker_stopped(struct worker *w);
/* Shown in /health and status. `reason` is copied, NULL when fine. WORKER_FAILING of the store makes
 * /health 503. */
void worker_set_condition(
	struct worker *w, enum worker_condition condition, const char *reason);
/* A JSON object for `paigectl status` (the store: {"session": id or null}). Copied. */
void worker_set_detail(struct worker *w, struct str json_object);
/* The gateway: hands `fd`, one end of a stream socket, to the supervisor (WORKER_PACKET_ASK); it
 * stays the caller's to close. False when it did not go out. */
bool worker_ask_supervisor(struct worker *w, int fd);
/* Ends the process with an exit code after logging; for errors after init. */
_Noreturn void worker_die(struct worker *w, enum worker_exit code);

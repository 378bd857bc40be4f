/*
 * bus_rig.h - what the bus tests stand on: this process plays the gateway, bus_rig_worker
 * programs play the others, all in one temporary directory. A failure of the machinery
 * ends the test.
 */
#pragma once

#include "common/base/buf.h"
#include "common/bus/bus.h"
#include <sys/types.h>

#define RIG_CALLS_MAX 20000

struct rig_call {
	struct rig *rig;
	bool done;
	enum bus_status status;
	struct buf body, code, message;
	int64_t ms; /* how long it took */
	struct mono begun;
	unsigned order; /* in which it was answered, from 1 */
};

struct rig {
	char directory[32];
	struct event_base *base;
	struct bus *bus;
	struct rig_call *calls;
	unsigned count, answered;
	bool waiting; /* for all of them: the last one ends the turn */
};

/* The bus of the gateway is open; bus_start is left to rig_start. */
void rig_init(struct rig *rig);
void rig_start(struct rig *rig);
void rig_fini(struct rig *rig);

/* Starts bus_rig_worker and waits until it serves. Made before or after the bus. */
pid_t rig_peer(const struct rig *rig, const char *worker, const char *subscribe_to);
void rig_kill(pid_t *peer);
/* TERM; its exit status, or -1 when it took more than two seconds. */
int rig_stop(pid_t *peer);

/* Calls with a key when the method wants one; the body is a printf format. */
struct rig_call *rig_call(struct rig *rig, enum method method, int64_t deadline_ms,
	const char *body, ...) __attribute__((format(printf, 4, 5)));
/* Turns the loop until all calls are answered, at most so long. True when they are. */
bool rig_wait(struct rig *rig, int64_t ms);
void rig_turn(struct rig *rig, int64_t ms);
/* Fails the test unless every call has been answered well. */
void rig_check_all_ok(const struct rig *rig);
/* An integer of an answer, -1 without. */
int64_t rig_number(const struct rig_call *call, const char *name);

/* Turns the loop until the ledger has so many lines, at most so long. True when it has. */
bool rig_received(struct rig *rig, size_t count, int64_t ms);
/* The n of all lines in the ledger; *count of them, to be freed. */
int64_t *rig_ledger(const struct rig *rig, size_t *count);
/* Whether WORKER/rep or WORKER/pub is there. */
bool rig_has_socket(const struct rig *rig, const char *name);
int rig_open_fds(void);

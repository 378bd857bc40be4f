/*
 * store_process.h - a real paige-store under a test: started, killed, started anew, and
 * called over the bus.
 *
 * The test stands where the supervisor (fd 3) and the gateway (the caller on the bus)
 * are. Everything happens below one temporary directory. A failure of the machinery
 * itself ends the program.
 */
#pragma once

#include "common/base/buf.h"
#include "common/bus/bus.h"
#include <stdbool.h>
#include <sys/types.h>

struct store_process {
	char directory[64];
	char data_dir[80];
	char database[96]; /* DATA_DIR/paige.db */
	char log[80];	   /* what the store writes to stderr */
	struct event_base *base;
	struct bus *bus;
	struct bus *llm; /* what only llm may ask */
	pid_t pid;	 /* 0: not running */
	int control;	 /* our end of fd 3 */
	struct event *control_event;
	bool ready;
	unsigned heartbeats;
	char condition[16]; /* the last told: fine, degraded, failing */
	struct buf reason, detail;
	off_t file_limit; /* RLIMIT_FSIZE of the next start; 0: none */
	int open_calls;	  /* of store_call, not answered yet */
};

/* `data_dir` NULL: one in the temporary directory. The bus is open, the store is not
 * started. */
void store_process_init(struct store_process *p, const char *data_dir);
void store_process_start(struct store_process *p);
/* Turns the loop until it is ready; false when it ended instead. */
bool store_process_wait_ready(struct store_process *p);
/* Turns the loop until `*done` or so many milliseconds passed; true when done. */
bool store_process_turn(struct store_process *p, const bool *done, int ms);
/* kill -9, and waits. */
void store_process_kill(struct store_process *p);
/* Asks it to stop as the supervisor does. Its exit code, or -1 when it had to be killed
 * after 10 s. */
int store_process_stop(struct store_process *p);
/* Waits for it to end by itself, 10 s at most. Its exit code, or -1. */
int store_process_wait_end(struct store_process *p);
/* Removes the directory. */
void store_process_fini(struct store_process *p);

/* A call that is waited for. `body` JSON. The reply's body, code and message live in the
 * arena. */
struct bus_reply store_call(struct store_process *p, enum method method, const char *key,
	const char *body, struct arena *arena);
/* The first column of the first row that a reading connection of its own finds, as text;
 * "" without. */
void store_query(const struct store_process *p, const char *sql, char out[256]);
long store_count(const struct store_process *p, const char *sql);

/* ending.h - how a worker's process ended. Called by process.c and status.c. */
#ifndef PAIGE_SUPERVISOR_PAIGED_PROCESS_ENDING_H
#define PAIGE_SUPERVISOR_PAIGED_PROCESS_ENDING_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include <signal.h>

enum ending_kind { ENDING_NONE, ENDING_EXIT, ENDING_SIGNAL, ENDING_SPAWN };

/* Zero: it never ended. */
struct ending {
	enum ending_kind kind;
	int code; /* exit code, signal, or errno of a program that could not be executed
		   */
	bool core;
	struct wall at;
	struct buf tail; /* the last lines it wrote */
};

/* As waitid(2) tells it; `spawn_error` is not 0 when the program was not executed. */
void ending_set(struct ending *e, const siginfo_t *info, int spawn_error, struct wall at);
/* True for the exit codes that park a worker (proto/catalogue/exits.def). */
bool ending_parks(const struct ending *e);
/* "exit", "signal", "spawn" */
const char *ending_kind_name(enum ending_kind kind);
/* In words: "killed by signal 11 (Segmentation fault), core dumped". */
void ending_print(const struct ending *e, struct buf *out);

#endif

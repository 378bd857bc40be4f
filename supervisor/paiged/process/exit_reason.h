/* exit_reason.h - how a worker's process ended. Called by process.c and status.c. */
#pragma once

#include "common/base/buf.h"
#include "common/base/clock.h"
#include <signal.h>

enum exit_reason_kind {
	EXIT_REASON_NONE,
	EXIT_REASON_EXIT,
	EXIT_REASON_SIGNAL,
	EXIT_REASON_SPAWN
};

/* Zero: it never ended. */
struct exit_reason {
	enum exit_reason_kind kind;
	int code; /* exit code, signal, or errno of a program that could not be executed
		   */
	bool core;
	struct wall at;
	struct buf tail; /* the last lines it wrote */
};

/* As waitid(2) tells it; `spawn_error` is not 0 when the program was not executed. */
void exit_reason_set(
	struct exit_reason *e, const siginfo_t *info, int spawn_error, struct wall at);
/* True for the exit codes that park a worker (proto/catalogue/exits.def). */
bool exit_reason_parks(const struct exit_reason *e);
/* "exit", "signal", "spawn" */
const char *exit_reason_kind_name(enum exit_reason_kind kind);
/* In words: "killed by signal 11 (Segmentation fault), core dumped". */
void exit_reason_print(const struct exit_reason *e, struct buf *out);

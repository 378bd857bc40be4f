/*
 * reaper.h - the process between the agent worker and one agent: nothing that the agent
 * starts outlives it.
 *
 * The worker starts its own program with REAPER_ARGUMENT. The reaper is a session leader
 * and a subreaper, runs the agent in a process group of its own, passes signals on, and
 * when the agent has ended, or the worker has (killed with -9 included: the socket ends),
 * kills and reaps everything below itself, also what has left the group. When the reaper
 * itself is killed the agent dies with it (PR_SET_PDEATHSIG) and the rest falls to the
 * worker, which is a subreaper too.
 */
#pragma once

#include <sys/types.h>

#define REAPER_ARGUMENT "--keep"
/* A SOCK_SEQPACKET socket to the worker. */
#define REAPER_FD 3
/* Held open while anything of the agent may be there (session_recovery.c); not the agent's. */
#define REAPER_LOCK_FD 4
/* From TERM to KILL after the worker has gone. */
#define REAPER_ORPHAN_MS 1000

/* One byte, from the worker. */
enum reaper_command {
	REAPER_INTERRUPT = 'I', /* SIGINT to the agent's group */
	REAPER_TERMINATE = 'T', /* SIGTERM, and SIGCONT */
	REAPER_KILL = 'K',	/* SIGKILL, to everything */
};

/* From the reaper, once: the agent has ended and nothing is left of it. */
struct reaper_report {
	int start_error; /* errno: the program could not be executed */
	int code;	 /* exit code, or -1 */
	int signal;	 /* that ended it, or 0 */
};

/* argv: the program, looked for in PATH, and its arguments. Returns the exit code. */
int reaper_main(char *const *argv);

/*
 * worker.h - the interface between the supervisor and a worker: all you need to write one.
 *
 * A worker is a program started by paiged with
 *
 *   fd 0  /dev/null
 *   fd 1  the same as fd 2
 *   fd 2  a pipe to the supervisor, which writes every line to DATA_DIR/logs/<worker>.log
 *   fd 3  a SOCK_SEQPACKET socket to the supervisor; EOF means that the supervisor is gone:
 *         finish within WORKER_ORPHAN_MS and exit
 *   fd 4… the gateway only: the listening sockets, PAIGE_LISTEN_FDS of them
 *
 * and these environment variables, beside every setting of config/settings.def with its resolved value
 * (secrets only for workers that need them):
 *
 *   PAIGE_WORKER       its name
 *   PAIGE_GENERATION   16 hexadecimal digits, new for every process; echoed in every packet
 *   PAIGE_RUNTIME_DIR  where sockets go (mode 0700, short path)
 *   PAIGE_PROJECT_SPELLING  PROJECT_DIR as it was given, absolute, with its links
 *   PAIGE_EPOCH        16 hexadecimal digits, the same for all workers until the daemon starts anew
 *   PAIGE_BUS_KEYS     how callers prove who they are (common/bus/rules/bus_keys.h); without it every key is 0
 *   PAIGE_BROKER       1 when the supervisor makes the connections of confined workers (WORKER_PACKET_CONNECTS)
 *   PAIGE_TOKEN        the gateway only: the access token of this run
 *   PAIGE_LISTEN_FDS   the gateway only
 *
 * common/worker does all of this; a worker's main.c is a table of methods and an init function.
 */
#pragma once

#include "proto/tables/workers.h"
#include <stdint.h>

#define WORKER_CONTROL_FD 3
#define WORKER_LISTEN_FD 4
#define WORKER_HEARTBEAT_MS 5000
#define WORKER_ORPHAN_MS 3000
#define WORKER_PACKET_MAX 32768 /* RELOAD with every text as long as it may be */

/* Packets on fd 3. Numbers are never reused. */
enum worker_packet_type {
	/* worker to supervisor */
	/* once, when it serves */
	WORKER_PACKET_READY = 1,
	/* every WORKER_HEARTBEAT_MS from its main loop; no body */
	WORKER_PACKET_HEARTBEAT = 2,
	/* body: JSON of type worker_status, when it changes */
	WORKER_PACKET_STATUS = 3,
	/* Once, after confinement and before the first connect: with the listener (SCM_RIGHTS) of a
	 * filter of system calls that leaves connect to the supervisor; body: struct worker_connects. */
	WORKER_PACKET_CONNECTS = 4,
	/* The gateway only, with one end of a stream socket (SCM_RIGHTS): it asks on it as
	 * paigectl does on ctl.sock, one question, of what ctl.h lets the gateway ask. No body. */
	WORKER_PACKET_ASK = 5,

	/* supervisor to worker */
	/* finish and exit 0 */
	WORKER_PACKET_STOP = 100,
	/* body: JSON object, every setting that may change while running and that the
	 * worker was given, with its value as text */
	WORKER_PACKET_RELOAD = 101,
	/* the gateway only; body: JSON of type fleet, when it changes */
	WORKER_PACKET_FLEET = 102,
	/* with a pipe (SCM_RIGHTS): write a line of type tapped to it for each bus
	 * message, until nobody reads it */
	WORKER_PACKET_TAP = 103,
};

struct worker_packet_header {
	uint16_t type;
	uint16_t reserved;
	uint32_t body_bytes;
	uint64_t generation;
};

struct worker_connects {
	uint64_t uses_network; /* 1: it may connect to any address of IP; else 0 */
};

/* Exit codes, exits.def: WORKER_EXIT_OK, WORKER_EXIT_CONFIG, ... */
enum worker_exit {
#define WORKER_EXIT(symbol, code, ...) WORKER_EXIT_##symbol = code,
#include "proto/catalogue/exits.def"
#undef WORKER_EXIT
};

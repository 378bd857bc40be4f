/*
 * confine.h - what a process may still do, enforced by the kernel (Landlock, seccomp).
 *
 * Landlock says which files, which TCP ports, which sockets and whom a process may
 * signal; how much of it a kernel knows is its ABI number. Seccomp refuses system calls:
 * those that no worker needs (confine_calls.def), and in part what an old ABI leaves
 * open; and it leaves connect to the supervisor (supervisor/paiged/process/broker.h), since it does not
 * see addresses and Landlock looks at those of Unix sockets from ABI 9 on alone. What is
 * open all the same is in confine_gaps.def, which `paigectl status` and the
 * documentation show.
 *
 * Landlock holds for the calling thread and for threads made later, so a worker makes its
 * threads after confinement. Seccomp holds for all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CONFINE_MAX_PATHS 24

/* Nobody starts programs: fork and exec fail with EPERM. */
struct confinement {
	/* Directories and files, borrowed; the lists end with NULL. Read-write implies
	 * read. What is not there is left out. */
	const char *read_write[CONFINE_MAX_PATHS];
	const char *read_only[CONFINE_MAX_PATHS];
	bool uses_network; /* make sockets of IP and connect them to anything */
	bool keeps_files;  /* set mode, owner and attributes of files that it has open */
};

/* Where sockets of the bus lie; each worker has a folder in it. */
struct confine_sockets {
	const char *own;		       /* the folder in which it makes its own */
	const char *others[CONFINE_MAX_PATHS]; /* folders whose sockets it may connect to,
						  NULL at the end */
};

/* Returns what holds now ("landlock+seccomp", "seccomp", "none") for status; static text.
 * Logs an error when there are other threads, for which Landlock does not hold.
 * `connects` is NULL, or gets the listener on which every connect waits to be made by
 * somebody else (seccomp_unotify(2)); -1 when there is no filter. */
const char *confine_apply(const struct confinement *c,
	const struct confine_sockets *sockets, int *connects);

/* The ABI of Landlock that the running kernel offers, 0 without. */
int confine_landlock_abi(void);
/* Number `n`, from 0, of what workers may do because the kernel offers only `abi`; NULL
 * after the last. `broker`: the supervisor makes their connections. */
const char *confine_gap(int abi, bool broker, size_t n);

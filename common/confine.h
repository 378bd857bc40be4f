/*
 * confine.h - what a process may still do, enforced by the kernel where it can (Landlock, seccomp).
 *
 * Best effort: a kernel without one of them leaves that part open, and `paigectl status` says what is
 * enforced. Landlock holds for the calling thread and for threads made later: a worker makes its own
 * threads after init. Seccomp holds for all.
 */
#ifndef PAIGE_COMMON_CONFINE_H
#define PAIGE_COMMON_CONFINE_H

#include <stdbool.h>

#define CONFINE_MAX_PATHS 8

struct confinement {
	/* Directories, borrowed. Read-write implies read. The runtime directory is always writable. */
	const char *read_write[CONFINE_MAX_PATHS];
	const char *read_only[CONFINE_MAX_PATHS];
	bool may_exec; /* else execve and execveat fail with EPERM */
};

/* Writes what holds now ("landlock+seccomp", "seccomp", "none") for status; static text. */
const char *confine_apply(const struct confinement *c, const char *runtime_dir);

#endif

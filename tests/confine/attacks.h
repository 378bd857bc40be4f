/*
 * attacks.h - what the attacks have in common: who tries them, where, and what came of it.
 *
 * Everything is hidden: the library is loaded into programs that have names of their own.
 */
#pragma once

#include <sys/types.h>

#pragma GCC visibility push(hidden)

extern char place[300]; /* of this worker and thread */
extern char worker[32];
extern pid_t victim;
extern int tcp_port;

/* A path in a directory, good for the next three calls. */
const char *at(const char *directory, const char *name);
#define OWN(name) at(place, name)

/* 0 when the call succeeded, closing what it opened; else its errno. */
int fd_result(int fd);
int result(long r);

/* Each gives 0 when it succeeded, else its errno. */
#define ATTACK(name, fn) int attack_##fn(void);
#include "tests/confine/attacks.def"
#undef ATTACK

#pragma GCC visibility pop

/*
 * bus_nng_threads.h - decides on which processor nng's threads run. Called by bus.c and
 * bus_affinity.c.
 *
 * A message passes from the sender's loop through the other side's poll and task threads
 * to its loop, and nng 1.5.2 has no setting for any of them. Left alone, every step wakes
 * a thread on another processor, and of the two task threads per processor each
 * completion wakes one whose work was done by another. In measurements a call between two
 * workers took less than half the time, and less than half the processor time, when
 *
 * - the threads of all workers of a daemon share one processor, so that a hand-over is a
 *   context switch and not an interrupt;
 * - one task thread works and the others sleep;
 * - that one is a batch thread (SCHED_BATCH): nng wakes it while holding the locks that
 *   it needs, and it only runs into them when it gets the processor at once.
 *
 * In the paths of nng that we use no task waits for another task, so one thread is enough.
 * If it ever stalls, bus_nng_threads_watch wakes the others for good.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Makes nng start its threads, once per process; the same `seed` gives the same
 * processor. Where the system refuses, nng's own placement stays. */
void bus_nng_threads_make(uint64_t seed);
/* Binds the calling thread to the processor of nng's threads. False if the system refuses. */
bool bus_nng_threads_join(void);
/* Lets it run wherever the process could when the threads were made. */
void bus_nng_threads_leave(void);
/* Call at each tick of the bus; a new look at the threads is begun only with `look`. True
 * if they had stalled and were all woken just now. */
bool bus_nng_threads_watch(bool look);

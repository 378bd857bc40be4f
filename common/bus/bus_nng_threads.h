/*
 * bus_nng_threads.h - how nng's threads are placed. Called by bus.c.
 *
 * A message passes from the sender's loop through the other side's poll and task threads
 * to its loop, and nng 1.5.2 has no setting for any of them. Left alone, every step wakes
 * a thread on another processor, and of the two task threads per processor each
 * completion wakes one whose work was done by another. Measured, a call between two
 * workers takes less than half the time, and of the processors, when
 *
 * - the threads of all workers of a daemon share one processor, so that handing on is a
 *   switch and not an interrupt (the loops run where they like, or there: bus_affinity.c);
 * - one task thread works and the others sleep;
 * - that one is a batch thread (SCHED_BATCH): nng wakes it while holding the locks that
 *   it needs, and it only runs into them when it gets the processor at once.
 *
 * Nothing in nng's paths that we use waits inside a task for another task, so one is
 * enough; should it ever stand still, the watch wakes the others for good.
 */
#ifndef PAIGE_COMMON_BUS_BUS_NNG_THREADS_H
#define PAIGE_COMMON_BUS_BUS_NNG_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Makes nng start its threads, once per process; the same `seed` gives the same
 * processor. What cannot be had is left as nng does it. */
void bus_nng_threads_make(uint64_t seed);
/* The calling thread runs where nng's threads do. False when that cannot be had. */
bool bus_nng_threads_join(void);
/* Every second: true when the threads stood still and were all woken just now. */
bool bus_nng_threads_watch(void);

#endif

/*
 * bus_nng_threads.h - one of nng's task threads works, the others are kept asleep.
 *
 * nng 1.5.2 makes two task threads per processor and has no setting for it. Each
 * completion of an I/O wakes another of them, which finds its work done by the first:
 * with four of them a call between two workers costs about a third more, in time and in
 * processor. Nothing in nng's paths that we use waits inside a task for another task, so
 * one is enough; should it ever stand still, the watch wakes the others for good.
 */
#ifndef PAIGE_COMMON_BUS_NNG_THREADS_H
#define PAIGE_COMMON_BUS_NNG_THREADS_H

#include <stdbool.h>

/* After the first socket was opened, once per process. Gives up when a thread is missing.
 */
void bus_nng_threads_park(void);
/* Every second: true when the threads stood still and were all woken just now. */
bool bus_nng_threads_watch(void);

#endif

/*
 * alarms.h - which of many deadlines is next: a heap over items that carry their place in
 * it.
 *
 * Pure; one heap for each clock of the kernel, see clocks.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero is not in a heap. */
struct alarm {
	int64_t at_ms;
	size_t place; /* from 1; 0: not in the heap */
};

/* Zero is an empty heap. Alarms are borrowed. */
struct alarms {
	struct alarm **items; /* from 1 */
	size_t count, room;
};

/* Sets an alarm, or moves it. */
void alarms_set(struct alarms *heap, struct alarm *a, int64_t at_ms);
/* Takes it out, if it is in. */
void alarms_clear(struct alarms *heap, struct alarm *a);
/* The next one, NULL for none. */
struct alarm *alarms_first(const struct alarms *heap);
void alarms_fini(struct alarms *heap);

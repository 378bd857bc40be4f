/*
 * timeline.h - the clock of one stream (R49, R51, R53; G8).
 *
 * Times of a stream are Unix milliseconds that begin with the wall clock at its creation
 * and follow a clock of the kernel from there: setting the wall clock moves neither
 * deadlines nor what is left. After the computer was started anew the kernel's clocks
 * begin at zero; then the wall clock tells how long it was off, but never that time ran
 * backwards. Pure.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

#define TIMELINE_BOOT_SIZE 64

struct timeline {
	char boot_id[TIMELINE_BOOT_SIZE]; /* in which `offset_ms` holds */
	int64_t offset_ms;		  /* to be added to the kernel's clock */
};

/* What the clocks say: the one of the kernel that the machine follows, and the wall
 * clock. */
struct moment {
	struct str boot_id;
	int64_t raw_ms;
	int64_t wall_ms;
};

/* For a new stream. */
struct timeline timeline_new(const struct moment *now);

/* For a stream of another process, whose last event was at `last_ms`: goes on as it was
 * within the same boot. */
struct timeline timeline_resume(
	struct str boot_id, int64_t offset_ms, int64_t last_ms, const struct moment *now);

int64_t timeline_now(const struct timeline *t, const struct moment *now);

/* When the kernel's clock shows that time. */
int64_t timeline_raw(const struct timeline *t, int64_t at_ms);

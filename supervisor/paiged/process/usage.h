/* usage.h - memory and time of a process, from /proc. Called by process_table.c and status.c.
 */
#pragma once

#include "common/base/clock.h"
#include <sys/types.h>

struct usage {
	int64_t rss_bytes;
	int64_t cpu_ms; /* user and system */
};

/* Processor time at a moment; zero is "none yet". */
struct usage_sample {
	struct mono at;
	int64_t cpu_ms;
};

/* 0 or -errno; *out untouched on failure. */
int usage_read(pid_t pid, struct usage *out) __attribute__((warn_unused_result));
/* Pure: reads the text of /proc/<pid>/stat. 0 or -EINVAL. */
int usage_parse(const char *stat, long ticks_per_second, long page_bytes,
	struct usage *out) __attribute__((warn_unused_result));
/* Pure: percent of one core between the sample and now. */
double usage_percent(struct usage_sample earlier, struct mono now, int64_t cpu_ms);

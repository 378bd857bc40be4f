/* timeline.c - see timeline.h. */
#include "workers/guard-engine/engine/timeline.h"
#include <stdio.h>

static struct timeline anchored(const struct moment *now, int64_t shows_ms)
{
	struct timeline t = {.offset_ms = shows_ms - now->raw_ms};

	snprintf(t.boot_id, sizeof(t.boot_id), "%.*s", STR_ARG(now->boot_id));
	return t;
}

struct timeline timeline_new(const struct moment *now)
{
	return anchored(now, now->wall_ms);
}

struct timeline timeline_resume(
	struct str boot_id, int64_t offset_ms, int64_t last_ms, const struct moment *now)
{
	struct timeline t =
		anchored(now, now->wall_ms > last_ms ? now->wall_ms : last_ms);

	if (str_eq(boot_id, now->boot_id))
		t.offset_ms = offset_ms;
	return t;
}

int64_t timeline_now(const struct timeline *t, const struct moment *now)
{
	return now->raw_ms + t->offset_ms;
}

int64_t timeline_raw(const struct timeline *t, int64_t at_ms)
{
	return at_ms - t->offset_ms;
}

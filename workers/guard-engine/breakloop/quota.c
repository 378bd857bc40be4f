/* quota.c - see quota.h. */
#include "workers/guard-engine/breakloop/quota.h"

#define HOUR_S 3600

/*
 * From this long before the moment the clock is followed: longer than any window, so that
 * what is assumed at the beginning does not matter at the end.
 */
#define LOOK_BACK_S (72 * HOUR_S)

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

struct quota_window quota_window_at(const struct zone *z, int hours, int64_t wall_ms)
{
	int64_t length = (int64_t)hours * HOUR_S, t = floor_div(wall_ms, 1000);
	int64_t at = t - LOOK_BACK_S, offset = zone_offset(z, at);
	int64_t label =
		floor_div(at + offset, length); /* the highest that the clock has shown */
	int64_t start = label * length - offset;

	/* Every turn goes to the next boundary or change of offset. */
	for (;;) {
		int64_t boundary = (floor_div(at + offset, length) + 1) * length - offset;
		int64_t change = zone_next_change(z, at), shown;
		bool on_boundary;

		at = boundary < change ? boundary : change;
		offset = zone_offset(z, at);
		shown = floor_div(at + offset, length);
		on_boundary = shown * length == at + offset;
		if (shown > label || (on_boundary && at - start >= length)) {
			if (at > t)
				return (struct quota_window){start * 1000, at * 1000};
			start = at;
		}
		if (shown > label)
			label = shown;
	}
}

void quota_fill(struct quota *q, struct quota_window now)
{
	q->remaining = q->limit;
	q->window = now;
}

void quota_roll(struct quota *q, int64_t wall_ms, struct quota_window now)
{
	if (now.start_ms >= q->window.end_ms)
		quota_fill(q, now);
	else if (wall_ms >= q->window.end_ms)
		/* Another zone: its present window began before ours was over, so the
		 * next one counts. */
		q->window.end_ms = now.end_ms;
}

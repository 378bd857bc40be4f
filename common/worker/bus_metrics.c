/* bus_metrics.c - see bus_metrics.h. */
#include "common/worker/bus_metrics.h"

static void describe(const struct bus_owner_stats *s, struct turns_bucket *buckets,
	struct bus_owner_metrics *out)
{
	for (size_t i = 0; i < BUS_TOOK_LIMIT_COUNT; i++)
		buckets[i] = (struct turns_bucket){.limit_us = bus_took_limits_us[i],
			.has_limit_us = true,
			.count = (int64_t)s->within[i],
			.has_count = true};
	out->count = (int64_t)s->count;
	out->total_us = s->total_us;
	out->refused = (int64_t)s->refused;
	out->waiting = (int64_t)s->waiting;
	out->has_count = out->has_total_us = out->has_refused = out->has_waiting = true;
	out->buckets.items = buckets;
	out->buckets.count = BUS_TOOK_LIMIT_COUNT;
}

void bus_metrics_get(const struct bus *bus, enum worker_id self, struct bus_metrics *out)
{
	struct bus_owner_stats stats;

	out->count = 0;
	for (int i = 0; i < WORKER_COUNT; i++) {
		const enum worker_id owner = (enum worker_id)i;

		if (owner == self || !method_called_by(self, owner))
			continue;
		bus_get_owner_stats(bus, owner, &stats);
		out->items[out->count] =
			(struct bus_owner_metrics){.owner = str_of(worker_infos[i].name)};
		describe(&stats, out->buckets[out->count], &out->items[out->count]);
		out->count++;
	}
}

/* bus_metrics.h - the calls of a worker to the others, as it tells them for GET /metrics (type bus_owner_metrics). */
#pragma once

#include "common/bus/bus.h"
#include "proto/codec/messages.h"

struct bus_metrics {
	struct bus_owner_metrics items[WORKER_COUNT];
	struct turns_bucket buckets[WORKER_COUNT][BUS_TOOK_LIMIT_COUNT];
	size_t count;
};

/* One item for each worker that `self` may call (methods.def). The items point into *out. */
void bus_metrics_get(const struct bus *bus, enum worker_id self, struct bus_metrics *out);

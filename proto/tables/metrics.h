/* metrics.h - metrics.def as an enumeration with a table. */
#pragma once

#include "proto/tables/workers.h"

enum metric {
#define METRIC(symbol, ...) METRIC_##symbol,
#define GATEWAY_COUNT(...)
#define BUS_COUNT(...)
#include "proto/catalogue/metrics.def"
#undef METRIC
#undef GATEWAY_COUNT
#undef BUS_COUNT
	METRIC_COUNT
};

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
/* As the text format calls them: "counter". */
extern const char *const metric_kind_names[];

struct metric_info {
	enum worker_id worker; /* that counts it */
	const char *name;
	enum metric_kind kind;
	const char *help;
};

extern const struct metric_info metric_infos[METRIC_COUNT];

/* Upper bounds of the buckets of every histogram, in seconds, ascending: from a short call of the small model to a
 * coaching pipeline. */
#define METRIC_LIMIT_COUNT 10
extern const double metric_limits[METRIC_LIMIT_COUNT];

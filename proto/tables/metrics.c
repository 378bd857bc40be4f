/* metrics.c - the table behind metrics.h. */
#include "proto/tables/metrics.h"

const struct metric_info metric_infos[METRIC_COUNT] = {
#define METRIC(symbol, worker_, name_, kind_, help_)                                     \
	[METRIC_##symbol] = {.worker = WORKER_##worker_,                                 \
		.name = name_,                                                           \
		.kind = METRIC_##kind_,                                                  \
		.help = help_},
#define GATEWAY_COUNT(...)
#define BUS_COUNT(...)
#include "proto/catalogue/metrics.def"
#undef METRIC
#undef GATEWAY_COUNT
#undef BUS_COUNT
};

const char *const metric_kind_names[] = {"counter", "gauge", "histogram"};

const double metric_limits[METRIC_LIMIT_COUNT] = {
	0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};

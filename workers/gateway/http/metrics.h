/*
 * metrics.h - what the gateway counts, and GET /metrics in Prometheus text format.
 *
 * What is counted with each message is a plain field that the parts increase (GATEWAY_COUNT of metrics.def).
 * Others are asked for what they count: each worker that is up (common/worker/metrics.h), and the supervisor,
 * which knows memory and disk. The answer waits for them for a second at most, and goes out without those that did not come.
 */
#pragma once

#include <stdint.h>

struct gateway;
struct http_request;

struct gateway_metrics {
#define METRIC(...)
#define BUS_COUNT(...)
#define GATEWAY_COUNT(member, name, kind, help) uint64_t member;
#include "proto/catalogue/metrics.def"
#undef METRIC
#undef BUS_COUNT
#undef GATEWAY_COUNT
};

void metrics_answer(struct gateway *g, struct http_request *request);

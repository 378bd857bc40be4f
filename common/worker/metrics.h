/*
 * metrics.h - what a worker counts for GET /metrics (proto/catalogue/metrics.def).
 *
 * The counts begin with the process and are gone with it, as Prometheus expects. The gateway asks each worker for them
 * (type worker_metrics in bus.def). From any thread.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/tables/metrics.h"

/* Combinations of a metric and its labels. Further ones are not counted, so labels must come from short lists. */
#define METRIC_SERIES_MAX 256
#define METRIC_LABELS_SIZE 200

/* The labels of one series, in the text form of Prometheus. Zero is none. */
struct metric_labels {
	char text[METRIC_LABELS_SIZE];
	size_t len;
};

/* Adds a label; a value that does not fit is cut. */
void metric_label(struct metric_labels *labels, const char *name, const char *value);

/* Counters and gauges: adds `n`, which is negative for gauges alone. `labels` NULL: none. */
void metric_add(enum metric metric, const struct metric_labels *labels, double n);
/* Histograms. */
void metric_observe(
	enum metric metric, const struct metric_labels *labels, double seconds);

/* Appends the two lines in front of the values of a metric, for metrics of other processes, too. `kind` is "counter", "gauge" or
 * "histogram". */
void metric_print_head(
	struct buf *out, const char *name, const char *kind, const char *help);
/* Appends all metrics of a worker in the text format of Prometheus; one that was not counted yet has no values. */
void metrics_print(enum worker_id worker, struct buf *out);
/* The method by which the gateway asks a worker, or -1: it asks no other. */
int metrics_method(enum worker_id worker);
/* For tests: forgets everything. */
void metrics_reset(void);

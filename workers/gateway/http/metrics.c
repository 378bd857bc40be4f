/* metrics.c - see metrics.h. */
#include "workers/gateway/http/metrics.h"
#include "common/base/alloc.h"
#include "common/worker/bus_metrics.h"
#include "common/worker/metrics.h"
#include "common/worker/turns.h"
#include "proto/codec/messages.h"
#include "workers/gateway/daemon/supervisor_ask.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/metrics_text.h"
#include <inttypes.h>
#include <stdlib.h>

/* For the supervisor; a call on the bus has as long (methods.def). */
#define PATIENCE_MS 1000

static void put_workers(struct buf *out, const struct fleet_view *fleet)
{
	metric_print_head(out, "paige_worker_up", "gauge", "Whether a worker serves.");
	for (int i = 0; i < WORKER_COUNT; i++)
		if (fleet_view_counts(fleet, i))
			buf_printf(out, "paige_worker_up{worker=\"%s\"} %d\n",
				worker_infos[i].name, fleet->workers[i].up);
	metric_print_head(out, "paige_worker_restarts_total", "counter",
		"How often a worker was started anew.");
	for (int i = 0; i < WORKER_COUNT; i++)
		if (fleet_view_counts(fleet, i))
			buf_printf(out,
				"paige_worker_restarts_total{worker=\"%s\"} %" PRId64
				"\n",
				worker_infos[i].name, fleet->workers[i].restarts);
}

/* Fields that count by themselves. */
static void put_counts(struct buf *out, const struct gateway *g)
{
	const struct gateway_metrics *own = &g->metrics;
	struct bus_stats bus;

	bus_get_stats(g->bus, &bus);
#define METRIC(...)
#define GATEWAY_COUNT(member, name, kind, help)                                          \
	metrics_put(out, name, metric_kind_names[METRIC_##kind], help, own->member);
#define BUS_COUNT(member, name, kind, help)                                              \
	metrics_put(out, name, metric_kind_names[METRIC_##kind], help, bus.member);
#include "proto/catalogue/metrics.def"
#undef METRIC
#undef GATEWAY_COUNT
#undef BUS_COUNT
}

/* ---- what workers count ---- */

/* A request whose answer waits for the workers. */
struct scrape {
	struct gateway *gateway;
	struct evhttp_request *ev;
	unsigned waiting;
	struct buf histograms, longest, longest_cpu;
	struct buf calls, refused, queued; /* on the bus, by worker and owner */
	struct buf status, counted;	   /* of the supervisor; of the workers */
};

/* What asks one of them. */
struct question {
	struct scrape *scrape;
	enum worker_id worker;
};

static void put_gauge(struct buf *out, const char *name, const char *worker, int64_t us)
{
	buf_printf(out, "%s{worker=\"%s\"} %.6f\n", name, worker, (double)us / 1e6);
}

/* One series of a histogram, whose labels are `labels`. */
static void put_histogram(struct buf *out, const char *name, const char *labels,
	const struct turns_bucket *buckets, size_t bucket_count, int64_t count,
	int64_t total_us)
{
	int64_t within = 0;

	for (size_t i = 0; i < bucket_count; i++) {
		within += buckets[i].count;
		buf_printf(out, "%s_bucket{%s,le=\"%g\"} %" PRId64 "\n", name, labels,
			(double)buckets[i].limit_us / 1e6, within);
	}
	buf_printf(out, "%s_bucket{%s,le=\"+Inf\"} %" PRId64 "\n", name, labels, count);
	buf_printf(out, "%s_sum{%s} %.6f\n", name, labels, (double)total_us / 1e6);
	buf_printf(out, "%s_count{%s} %" PRId64 "\n", name, labels, count);
}

static void put_turns(struct scrape *s, enum worker_id id, const struct turns *t)
{
	const char *worker = worker_infos[id].name;
	char labels[64];

	snprintf(labels, sizeof(labels), "worker=\"%s\"", worker);
	put_histogram(&s->histograms, "paige_loop_turn_seconds", labels, t->buckets.items,
		t->buckets.count, t->count, t->total_us);
	put_gauge(&s->longest, "paige_loop_turn_longest_seconds", worker, t->longest_us);
	put_gauge(&s->longest_cpu, "paige_loop_turn_longest_cpu_seconds", worker,
		t->longest_cpu_us);
}

/* What a worker tells of its calls to each of the others. */
static void put_bus(struct scrape *s, enum worker_id id,
	const struct bus_owner_metrics *items, size_t n)
{
	char labels[128];

	for (size_t i = 0; i < n; i++) {
		/* A name that a worker has sent. */
		if (worker_by_name(items[i].owner) < 0)
			continue;
		snprintf(labels, sizeof(labels), "worker=\"%s\",owner=\"%.*s\"",
			worker_infos[id].name, STR_ARG(items[i].owner));
		put_histogram(&s->calls, "paige_bus_call_seconds", labels,
			items[i].buckets.items, items[i].buckets.count, items[i].count,
			items[i].total_us);
		buf_printf(&s->refused, "paige_bus_refused_total{%s} %" PRId64 "\n",
			labels, items[i].refused);
		buf_printf(&s->queued, "paige_bus_queue_calls{%s} %" PRId64 "\n", labels,
			items[i].waiting);
	}
}

static void answer(struct scrape *s)
{
	struct gateway *g = s->gateway;
	AUTO_BUF out = {0};
	int64_t up_ms = fleet_view_uptime_ms(&g->fleet, clock_mono());

	metrics_put(&out, "paige_uptime_seconds", "gauge", "Age of the daemon.",
		(uint64_t)up_ms / 1000);
	put_counts(&out, g);
	put_workers(&out, &g->fleet);
	buf_add_str(&out, buf_str(&s->status));
	metrics_print(WORKER_GATEWAY, &out);
	buf_add_str(&out, buf_str(&s->counted));
	metric_print_head(&out, "paige_loop_turn_seconds", "histogram",
		"How long the turns of a worker's loop took.");
	buf_add_str(&out, buf_str(&s->histograms));
	metric_print_head(&out, "paige_loop_turn_longest_seconds", "gauge",
		"The longest turn since the worker was started.");
	buf_add_str(&out, buf_str(&s->longest));
	metric_print_head(&out, "paige_loop_turn_longest_cpu_seconds", "gauge",
		"The most processor time of a turn since the worker was started.");
	buf_add_str(&out, buf_str(&s->longest_cpu));
	metric_print_head(&out, "paige_bus_call_seconds", "histogram",
		"How long calls of a worker to another took, until the answer or the "
		"failure.");
	buf_add_str(&out, buf_str(&s->calls));
	metric_print_head(&out, "paige_bus_refused_total", "counter",
		"Calls that were refused because too many wait, or the owner is "
		"stopped.");
	buf_add_str(&out, buf_str(&s->refused));
	metric_print_head(&out, "paige_bus_queue_calls", "gauge",
		"Calls that wait for an owner, or for its answer.");
	buf_add_str(&out, buf_str(&s->queued));
	http_reply_later(
		s->ev, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&out));
}

static void have_one(struct scrape *s)
{
	if (--s->waiting > 0)
		return;
	answer(s);
	buf_free(&s->histograms);
	buf_free(&s->longest);
	buf_free(&s->longest_cpu);
	buf_free(&s->calls);
	buf_free(&s->refused);
	buf_free(&s->queued);
	buf_free(&s->status);
	buf_free(&s->counted);
	free(s);
}

static void on_metrics(void *arg, const struct bus_reply *reply)
{
	struct question *q = arg;
	AUTO_ARENA arena = {0};
	struct worker_metrics metrics;
	struct proto_error error;

	/* A worker that does not answer is left out. */
	if (reply->status == BUS_OK && bus_reply_decode(metrics_method(q->worker), reply,
					       &arena, &metrics, &error) == 0) {
		put_turns(q->scrape, q->worker, &metrics.turns);
		put_bus(q->scrape, q->worker, metrics.bus.items, metrics.bus.count);
		buf_add_str(&q->scrape->counted, metrics.text);
	}
	have_one(q->scrape);
	free(q);
}

static void ask(struct scrape *s, enum worker_id worker)
{
	struct question *q = xmalloc(sizeof(*q));

	*q = (struct question){s, worker};
	s->waiting++;
	bus_call(s->gateway->bus, metrics_method(worker), (struct str){NULL, 0},
		STR_LIT("{}"), 0, on_metrics, q);
}

/* ---- what the supervisor knows ---- */

static void on_status(void *arg, const struct supervisor_answer *reply)
{
	struct scrape *s = arg;
	AUTO_ARENA arena = {0};
	struct ctl_status status;
	struct proto_error error;

	if (!reply->code && proto_decode(ctl_status_type(), reply->root, "status",
				    DECODE_LENIENT, &arena, &status, &error) == 0)
		metrics_put_status(&status, clock_wall(), &s->status);
	have_one(s);
}

static void ask_supervisor(struct scrape *s)
{
	const struct ctl_request request = {.command = CTL_STATUS, .has_command = true};

	s->waiting++;
	supervisor_ask(s->gateway->worker, &request, PATIENCE_MS, on_status, s);
}

void metrics_answer(struct gateway *g, struct http_request *request)
{
	struct scrape *s = xcalloc(1, sizeof(*s));
	struct turns own;
	struct bus_metrics calls;

	*s = (struct scrape){.gateway = g, .ev = request->ev, .waiting = 1};
	turns_get(&own);
	put_turns(s, WORKER_GATEWAY, &own);
	bus_metrics_get(g->bus, WORKER_GATEWAY, &calls);
	put_bus(s, WORKER_GATEWAY, calls.items, calls.count);
	for (int i = 0; i < WORKER_COUNT; i++)
		if (g->fleet.workers[i].up && metrics_method(i) >= 0)
			ask(s, i);
	ask_supervisor(s);
	have_one(s);
}

/* metrics.c - see metrics.h. */
#include "workers/gateway/metrics.h"
#include "workers/gateway/gateway.h"
#include "workers/gateway/http.h"
#include <inttypes.h>

static void put(struct buf *out, const char *name, const char *kind, const char *help,
	uint64_t value)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name, help, name,
		kind, name, value);
}

static void put_workers(struct buf *out, const struct fleet_view *fleet)
{
	buf_add_str(out, STR_LIT("# HELP paige_worker_up Whether a worker serves.\n"
				 "# TYPE paige_worker_up gauge\n"));
	for (int i = 0; i < WORKER_COUNT; i++)
		if (fleet_view_counts(fleet, i))
			buf_printf(out, "paige_worker_up{worker=\"%s\"} %d\n",
				worker_infos[i].name, fleet->workers[i].up);
	buf_add_str(out, STR_LIT("# HELP paige_worker_restarts_total How often a worker "
				 "was started "
				 "anew.\n# TYPE paige_worker_restarts_total counter\n"));
	for (int i = 0; i < WORKER_COUNT; i++)
		if (fleet_view_counts(fleet, i))
			buf_printf(out,
				"paige_worker_restarts_total{worker=\"%s\"} %" PRId64
				"\n",
				worker_infos[i].name, fleet->workers[i].restarts);
}

static void put_bus(struct buf *out, const struct bus *bus)
{
	struct bus_stats s;

	bus_get_stats(bus, &s);
	put(out, "paige_bus_calls_total", "counter", "Calls made to other workers.",
		s.calls);
	put(out, "paige_bus_timeouts_total", "counter", "Calls not answered in time.",
		s.timeouts);
	put(out, "paige_bus_resets_total", "counter", "Calls lost with their worker.",
		s.resets);
	put(out, "paige_bus_repeats_total", "counter", "Calls made again.", s.repeats);
	put(out, "paige_bus_events_total", "counter", "Events received.", s.received);
	put(out, "paige_bus_gaps_total", "counter", "Gaps seen in events.", s.gaps);
	put(out, "paige_bus_deaf_relistens_total", "counter",
		"Listeners that had gone deaf.", s.deaf_relistens);
	put(out, "paige_bus_in_flight", "gauge", "Calls being waited for.", s.in_flight);
}

void metrics_answer(struct gateway *g, struct http_request *request)
{
	struct buf out = {0};
	int64_t up_ms = fleet_view_uptime_ms(&g->fleet, clock_mono());

	put(&out, "paige_uptime_seconds", "gauge", "Age of the daemon.",
		(uint64_t)up_ms / 1000);
#define METRIC(member, kind, name, help) put(&out, name, kind, help, g->metrics.member);
	METRICS(METRIC)
#undef METRIC
	put_workers(&out, &g->fleet);
	put_bus(&out, g->bus);
	http_reply(
		request, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&out));
	buf_free(&out);
}

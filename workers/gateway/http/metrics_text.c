/* metrics_text.c - see metrics_text.h. */
#include "workers/gateway/http/metrics_text.h"
#include "common/worker/metrics.h"
#include "proto/tables/supervisor.h"
#include <inttypes.h>

void metrics_put(struct buf *out, const char *name, const char *kind, const char *help,
	uint64_t value)
{
	metric_print_head(out, name, kind, help);
	buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

static struct metric_labels label(const char *name, struct str value)
{
	struct metric_labels labels = {.len = 0};
	AUTO_ARENA arena = {0};

	metric_label(&labels, name, arena_cstr(&arena, value));
	return labels;
}

/* ---- processes ---- */

/* Of the supervisor or a worker. */
struct process_figures {
	struct str name;
	int64_t rss_bytes, cpu_ms, uptime_ms;
};

/* False for a worker that has no process. */
static bool figures_of(
	const struct ctl_status *status, size_t index, struct process_figures *out)
{
	const struct ctl_worker *w;

	if (index == 0) {
		*out = (struct process_figures){STR_LIT(SUPERVISOR_NAME),
			status->rss_bytes, status->cpu_ms, status->uptime_ms};
		return true;
	}
	w = &status->workers.items[index - 1];
	*out = (struct process_figures){w->name, w->rss_bytes, w->cpu_ms, w->uptime_ms};
	return w->has_pid;
}

static void put_processes(const struct ctl_status *status, struct buf *out,
	const char *name, const char *kind, const char *help,
	double (*value)(const struct process_figures *figures, struct wall now),
	struct wall now)
{
	metric_print_head(out, name, kind, help);
	for (size_t i = 0; i <= status->workers.count; i++) {
		struct process_figures figures;
		struct metric_labels labels;

		if (!figures_of(status, i, &figures))
			continue;
		labels = label("worker", figures.name);
		buf_printf(out, "%s{%.*s} %.15g\n", name, (int)labels.len, labels.text,
			value(&figures, now));
	}
}

static double memory_of(const struct process_figures *figures, struct wall now)
{
	(void)now;
	return (double)figures->rss_bytes;
}

static double cpu_of(const struct process_figures *figures, struct wall now)
{
	(void)now;
	return (double)figures->cpu_ms / 1000;
}

static double start_of(const struct process_figures *figures, struct wall now)
{
	return (double)(now.us / 1000 - figures->uptime_ms) / 1000;
}

void metrics_put_status(const struct ctl_status *status, struct wall now, struct buf *out)
{
	const struct metric_labels version = label("version", status->version);

	metric_print_head(
		out, "paige_build_info", "gauge", "Always 1; the version is a label.");
	buf_printf(out, "paige_build_info{%.*s} 1\n", (int)version.len, version.text);
	put_processes(status, out, "paige_process_resident_memory_bytes", "gauge",
		"Resident memory of each process; paiged is the supervisor.", memory_of,
		now);
	put_processes(status, out, "paige_process_cpu_seconds_total", "counter",
		"Processor time of each process since its start.", cpu_of, now);
	put_processes(status, out, "paige_process_start_time_seconds", "gauge",
		"When each process was started, in seconds since 1970.", start_of, now);
	metrics_put(out, "paige_log_lines_dropped_total", "counter",
		"Lines of logs that could not be written.",
		(uint64_t)status->log_lines_dropped);
	if (!status->has_disk_bytes)
		return;
	metrics_put(out, "paige_disk_size_bytes", "gauge",
		"Size of the file system that holds the daemon's data.",
		(uint64_t)status->disk_bytes);
	metrics_put(out, "paige_disk_free_bytes", "gauge",
		"What the daemon may still write on it.",
		(uint64_t)status->disk_free_bytes);
}

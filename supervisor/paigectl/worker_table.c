/* worker_table.c - the workers of a daemon as a table in 80 columns, for status and top. */
#include "supervisor/paigectl/paigectl.h"
#include <inttypes.h>
#include <stdio.h>

static enum colour colour_of(const struct ctl_worker *w)
{
	if (str_is(w->state, "ready"))
		return str_is(w->condition, "fine") ? COLOUR_GREEN : COLOUR_YELLOW;
	if (str_is(w->state, "starting") || str_is(w->state, "stopping") ||
		str_is(w->want, "down"))
		return COLOUR_YELLOW;
	return COLOUR_RED;
}

static void print_worker(const struct ctl_worker *w)
{
	char up[32] = "-", rss[32] = "-", pid[24] = "-", restarts[24], cpu[24] = "-";

	if (w->has_pid) {
		terminal_age(w->uptime_ms, up);
		terminal_bytes(w->rss_bytes, rss);
		snprintf(pid, sizeof(pid), "%" PRId64, w->pid);
		snprintf(cpu, sizeof(cpu), "%.1f%%", w->cpu_percent);
	}
	snprintf(restarts, sizeof(restarts), "%" PRId64, w->restarts.total);
	printf("%-13.*s ", STR_ARG(w->name));
	terminal_print(colour_of(w), "%-8.*s", STR_ARG(w->state));
	printf(" %7s %7s ", pid, up);
	terminal_print(w->restarts.window_60s > 0 ? COLOUR_YELLOW : COLOUR_NONE, "%8s",
		restarts);
	printf(" %9s %7s  ", rss, cpu);
	terminal_print(str_is(w->condition, "fine") ? COLOUR_NONE : COLOUR_YELLOW,
		"%.*s\n", STR_ARG(w->condition));
}

void worker_table_print(const struct ctl_status *s)
{
	printf("%-13s %-8s %7s %7s %8s %9s %7s  %s\n", "WORKER", "STATE", "PID", "UP",
		"RESTARTS", "MEMORY", "CPU", "CONDITION");
	for (size_t i = 0; i < s->workers.count; i++)
		print_worker(&s->workers.items[i]);
}

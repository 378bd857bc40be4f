/* worker_table.c - the workers of a daemon as a table in 80 columns, for status and top. */
#include "supervisor/paigectl/paigectl.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum colour colour_of(const struct ctl_worker *w)
{
	if (str_is(w->state, "ready"))
		return str_is(w->condition, "fine") ? COLOUR_GREEN : COLOUR_YELLOW;
	if (str_is(w->state, "starting") || str_is(w->state, "stopping") ||
		str_is(w->want, "down"))
		return COLOUR_YELLOW;
	return COLOUR_RED;
}

/* "14.7M", in at most 6 characters. */
static void print_size(int64_t bytes, char out[16])
{
	static const char units[] = "KMGT";
	double value = (double)bytes / 1024;
	size_t i = 0;

	while (value >= 1000 && i + 1 < strlen(units)) {
		value /= 1024;
		i++;
	}
	snprintf(out, 16, "%.1f%c", value, units[i]);
}

static void print_worker(const struct ctl_worker *w)
{
	char up[32] = "-", rss[16] = "-", pid[24] = "-", restarts[24], cpu[24] = "-";
	bool fine = str_is(w->condition, "fine");

	if (w->has_pid) {
		terminal_age(w->uptime_ms, up);
		print_size(w->rss_bytes, rss);
		snprintf(pid, sizeof(pid), "%" PRId64, w->pid);
		snprintf(cpu, sizeof(cpu), "%.1f%%", w->cpu_percent);
	}
	snprintf(restarts, sizeof(restarts), "%" PRId64, w->restarts.total);
	printf("%-13.*s ", STR_ARG(w->name));
	terminal_print(colour_of(w), "%-8.*s", STR_ARG(w->state));
	printf(" %7s %6s ", pid, up);
	terminal_print(w->restarts.window_60s > 0 ? COLOUR_YELLOW : COLOUR_NONE, "%4s",
		restarts);
	printf(" %6s %6s ", rss, cpu);
	terminal_print(fine ? COLOUR_NONE : COLOUR_YELLOW, "%.*s", STR_ARG(w->condition));
	/* Beside a longer word there is no room for it. */
	if (fine && w->confinement.len)
		printf(" [%.*s]", STR_ARG(w->confinement));
	putchar('\n');
}

void worker_table_print(const struct ctl_status *s)
{
	printf("%-13s %-8s %7s %6s %4s %6s %6s %s\n", "WORKER", "STATE", "PID", "UP",
		"RST", "MEMORY", "CPU", "CONDITION");
	for (size_t i = 0; i < s->workers.count; i++)
		print_worker(&s->workers.items[i]);
}

/* command_cost.c - paigectl cost: what calls to Claude cost, as the System view of the web client has it. */
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS 20000
#define DAYS_DEFAULT 30
#define DAYS_MAX 366
/* Columns beside the name of the group, with a blank before each. */
#define FIGURES_WIDTH 54
#define NAME_LEAST 5
/* A count from here on is told in millions, so that it fits its column. */
#define MILLIONS_FROM 10000000

enum group { BY_DAY, BY_MODEL, BY_KIND, GROUPS };
static const char *const group_names[GROUPS] = {"day", "model", "kind"};

static void print_count(int64_t n, int width)
{
	char text[32];

	if (n < MILLIONS_FROM)
		snprintf(text, sizeof(text), "%" PRId64, n);
	else
		snprintf(text, sizeof(text), "%.1fM", (double)n / 1e6);
	printf(" %*s", width, text);
}

static void print_group(const struct cost_group *g, int width)
{
	char latency[32] = "-", cost[32];

	if (g->has_average_latency_ms && g->average_latency_ms < 1000)
		snprintf(latency, sizeof(latency), "%.0f ms", g->average_latency_ms);
	else if (g->has_average_latency_ms)
		snprintf(
			latency, sizeof(latency), "%.1f s", g->average_latency_ms / 1000);
	snprintf(cost, sizeof(cost), "$%.4f", g->cost);
	terminal_cell(g->key, width, TERMINAL_CUT_END);
	print_count(g->calls, 6);
	print_count(g->failures, 6);
	print_count(g->input_tokens, 9);
	print_count(g->output_tokens, 9);
	printf(" %8s %10s\n", latency, cost);
}

/* As wide as the longest name, within what the terminal leaves. */
static int name_width(const struct cost_group *groups, size_t count)
{
	int width = NAME_LEAST, most = terminal_columns() - FIGURES_WIDTH;

	for (size_t i = 0; i < count; i++)
		if (groups[i].key.len > (size_t)width)
			width = groups[i].key.len < (size_t)most ? (int)groups[i].key.len
								 : most;
	return width;
}

static void print_spent(const char *of, double spent, bool has_budget, double budget)
{
	printf("%-14s $%.4f", of, spent);
	if (has_budget)
		terminal_print(
			spent >= budget ? COLOUR_RED : COLOUR_NONE, " of $%.2f", budget);
	else
		printf(", no budget");
	putchar('\n');
}

static void print_costs(const struct cost_totals *t, enum group by, long days)
{
	const struct cost_group *groups = by == BY_DAY	   ? t->days.items
					  : by == BY_MODEL ? t->models.items
							   : t->kinds.items;
	size_t count = by == BY_DAY	? t->days.count
		       : by == BY_MODEL ? t->models.count
					: t->kinds.count;
	int width = name_width(groups, count);
	char period[32];

	snprintf(period, sizeof(period), days == 1 ? "Last day" : "Last %ld days", days);
	print_spent("Today", t->budget.spent_day, t->budget.has_day, t->budget.day);
	print_spent("This session", t->budget.spent_session, t->budget.has_session,
		t->budget.session);
	printf("%-14s $%.4f for %" PRId64 " calls, %" PRId64 " failed, %" PRId64
	       " cancelled\n",
		period, t->total.cost, t->total.calls, t->total.failures,
		t->total.cancelled);
	if (count == 0)
		return;
	printf("\n%-*s %6s %6s %9s %9s %8s %10s\n", width, group_names[by], "calls",
		"failed", "tokens in", "out", "latency", "cost");
	for (size_t i = 0; i < count; i++)
		print_group(&groups[i], width);
}

/* 0, or an exit code after having said why. */
static int read_options(const struct options *o, enum group *by, long *days)
{
	const char *group = options_get(o, "by");

	*by = BY_DAY;
	*days = DAYS_DEFAULT;
	if (group) {
		for (*by = BY_DAY; *by < GROUPS && strcmp(group, group_names[*by]) != 0;)
			(*by)++;
		if (*by == GROUPS)
			return paigectl_fail(PAIGECTL_USAGE,
				"--by=%s: one of day, model, kind", group);
	}
	return paigectl_number(o, "days", 1, DAYS_MAX, days);
}

/* What the gateway answered, decoded and printed. */
static int show(const struct options *o, yyjson_doc *doc, enum group by, long days)
{
	yyjson_val *root = yyjson_doc_get_root(doc);
	AUTO_ARENA arena = {0};
	struct cost_totals totals;
	int code;

	if (options_get(o, "json"))
		return paigectl_print_json(root);
	code = client_read(root, cost_totals_type(), &arena, &totals);
	if (code == PAIGECTL_DONE)
		print_costs(&totals, by, days);
	return code;
}

int paigectl_cost(const struct options *o)
{
	AUTO_PLACE place = {0};
	AUTO_DOC *doc = NULL;
	char path[32];
	enum group by;
	long days;
	int code = read_options(o, &by, &days);

	if (code == PAIGECTL_DONE)
		code = place_find(o, &place);
	if (code == PAIGECTL_DONE) {
		snprintf(path, sizeof(path), "/cost?days=%ld", days);
		code = gateway_ask(&place, path, NULL, ASK_MS, &doc);
	}
	if (code == PAIGECTL_DONE)
		code = show(o, doc, by, days);
	return code;
}

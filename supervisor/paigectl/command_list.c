/* command_list.c - paigectl list. */
#include "supervisor/paigectl/paigectl.h"

#include <stdio.h>
#include <string.h>

/* Columns beside the two paths: blanks, port and state. */
#define GAP 2
#define PORT_WIDTH 5
#define STATE_WIDTH 8
#define USER_MOST 12
#define UNIT_MOST 22

enum { USER, UNIT, PROJECT, DATA, WIDTHS };

static void widen(int *width, struct str text, int most)
{
	int len = text.len < (size_t)most ? (int)text.len : most;

	if (len > *width)
		*width = len;
}

/* As wide as needed; the paths share what is left of the line. */
static void find_widths(const struct machine *m, int widths[WIDTHS])
{
	int columns = terminal_columns(), rest;

	widths[USER] = widths[UNIT] = 4;
	widths[PROJECT] = 7;
	widths[DATA] = 8;
	for (size_t i = 0; i < m->count; i++) {
		const struct machine_daemon *d = &m->items[i].shown;

		widen(&widths[USER], d->user, USER_MOST);
		widen(&widths[UNIT], d->unit, UNIT_MOST);
		widen(&widths[PROJECT], d->project_dir, columns);
		widen(&widths[DATA], d->data_dir, columns);
	}
	rest = columns - widths[USER] - widths[UNIT] - PORT_WIDTH - STATE_WIDTH - 5 * GAP;
	if (widths[PROJECT] + widths[DATA] <= rest)
		return;
	if (widths[DATA] > rest / 2)
		widths[DATA] =
			widths[PROJECT] < rest / 2 ? rest - widths[PROJECT] : rest / 2;
	widths[PROJECT] = rest - widths[DATA];
}

static void print_row(const int widths[WIDTHS], const struct machine_daemon *d)
{
	char port[16] = "-";

	if (d->has_port)
		snprintf(port, sizeof(port), "%d", (int)d->port);
	terminal_cell(d->user, widths[USER], TERMINAL_CUT_END);
	fputs("  ", stdout);
	terminal_cell(d->unit, widths[UNIT], TERMINAL_CUT_END);
	printf("  %*s  ", PORT_WIDTH, port);
	if (str_is(d->state, "running"))
		terminal_print(COLOUR_GREEN, "%-*s", STATE_WIDTH, "running");
	else
		terminal_cell(d->state, STATE_WIDTH, TERMINAL_CUT_END);
	fputs("  ", stdout);
	terminal_cell(d->project_dir, widths[PROJECT], TERMINAL_CUT_BEGINNING);
	fputs("  ", stdout);
	terminal_cell(d->data_dir, widths[DATA], TERMINAL_CUT_BEGINNING);
	putchar('\n');
}

static void print_table(const struct machine *m)
{
	int widths[WIDTHS];

	find_widths(m, widths);
	printf("%-*s  %-*s  %*s  %-*s  %-*s  %s\n", widths[USER], "USER", widths[UNIT],
		"UNIT", PORT_WIDTH, "PORT", STATE_WIDTH, "STATE", widths[PROJECT],
		"PROJECT", "DATA_DIR");
	for (size_t i = 0; i < m->count; i++)
		print_row(widths, &m->items[i].shown);
}

static void print_all(const struct machine *m)
{
	struct machine_daemon items[MACHINE_MAX];
	struct machine_daemons all = {.daemons = {.items = items, .count = m->count}};

	for (size_t i = 0; i < m->count; i++)
		items[i] = m->items[i].shown;
	(void)paigectl_print_message(machine_daemons_type(), &all);
}

int paigectl_list(const struct options *o)
{
	struct machine m;
	int code = PAIGECTL_DONE;

	machine_look(&m);
	if (options_get(o, "json"))
		print_all(&m);
	else if (m.count > 0)
		print_table(&m);
	if (m.count == 0)
		code = paigectl_fail(
			PAIGECTL_NOT_RUNNING, "no daemon runs on this machine");
	machine_free(&m);
	return code;
}

/* command_sessions.c - paigectl sessions: the coaching sessions, the newest first. */
#include "common/base/clock.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ASK_MS 20000
#define LINES_DEFAULT 20
#define LINES_MAX 1000
/* Columns in front of the title. */
#define FIGURES_WIDTH 45

static void print_session(const struct session_record *s)
{
	char issue[24] = "-", lasted[32] = "-";
	struct wall start, end;

	if (s->has_issue_number)
		snprintf(issue, sizeof(issue), "#%" PRId64, s->issue_number);
	if (wall_parse(s->started_at, &start) == 0) {
		if (!s->ended_at.len || wall_parse(s->ended_at, &end) < 0)
			end = clock_wall();
		terminal_age((end.us - start.us) / 1000, lasted);
	}
	if (s->started_at.len >= 16)
		printf("%.10s %.5s  ", s->started_at.ptr, s->started_at.ptr + 11);
	else
		printf("%-16.*s  ", STR_ARG(s->started_at));
	terminal_print(s->status == SESSION_ACTIVE_NOW ? COLOUR_GREEN : COLOUR_NONE,
		"%-9s", session_status_enumeration()->names[s->status]);
	printf(" %7s %7s  ", lasted, issue);
	terminal_cell(
		s->issue_title, terminal_columns() - FIGURES_WIDTH, TERMINAL_CUT_END);
	putchar('\n');
}

static int print_sessions(yyjson_val *rows)
{
	yyjson_val *row;
	size_t i, max;

	if (yyjson_arr_size(rows) == 0) {
		printf("There was no coaching session yet.\n");
		return PAIGECTL_DONE;
	}
	printf("%-16s  %-9s %7s %7s  %s\n", "STARTED (UTC)", "STATUS", "LASTED", "ISSUE",
		"TITLE");
	yyjson_arr_foreach(rows, i, max, row)
	{
		AUTO_ARENA arena = {0};
		struct session_record session;
		int code = client_read(row, session_record_type(), &arena, &session);

		if (code != PAIGECTL_DONE)
			return code;
		print_session(&session);
	}
	return PAIGECTL_DONE;
}

int paigectl_sessions(const struct options *o)
{
	AUTO_PLACE place = {0};
	AUTO_DOC *doc = NULL;
	char path[40];
	long lines = LINES_DEFAULT;
	int code = paigectl_number(o, "lines", 1, LINES_MAX, &lines);

	if (code == PAIGECTL_DONE)
		code = place_find(o, &place);
	if (code == PAIGECTL_DONE) {
		snprintf(path, sizeof(path), "/sessions?limit=%ld", lines);
		code = gateway_ask(&place, path, NULL, ASK_MS, &doc);
	}
	if (code == PAIGECTL_DONE) {
		yyjson_val *rows = yyjson_obj_get(yyjson_doc_get_root(doc), "rows");

		code = options_get(o, "json") ? paigectl_print_json(rows)
					      : print_sessions(rows);
	}
	return code;
}

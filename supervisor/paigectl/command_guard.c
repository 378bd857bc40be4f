/* command_guard.c - paigectl guard: the guard machines, their events, and whether they
 * replay. */
#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <curl/curl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USAGE "usage: paigectl guard list | show KIND ID | replay KIND ID"

#define ASK_MS 60000
/* On a terminal a payload is cut here. */
#define PAYLOAD_SHOWN 120

/* An answer of the gateway, and what it is decoded into. */
struct answer {
	yyjson_doc *doc;
	struct arena arena;
};

/* Asks and decodes the answer by its type; an exit code after having said why. With
 * --json what came is printed as it is. */
static int ask(const struct options *o, const struct daemon_place *place,
	const char *path, const struct type *type, struct answer *answer, void *out)
{
	int code = gateway_ask(place, path, NULL, ASK_MS, &answer->doc);
	yyjson_val *root = yyjson_doc_get_root(answer->doc);

	if (code != PAIGECTL_DONE)
		return code;
	if (options_get(o, "json")) {
		AUTO_FREE char *text = yyjson_val_write(root, 0, NULL);

		puts(text ? text : "null");
	}
	return client_read(root, type, &answer->arena, out);
}

static void answer_free(struct answer *answer)
{
	yyjson_doc_free(answer->doc);
	arena_free(&answer->arena);
}

/* ---- list ---- */

static void print_instances(const struct guard_list *list)
{
	const char *kind = guard_kind_enumeration()->names[list->kind];

	for (size_t i = 0; i < list->instances.count; i++) {
		const struct guard_info *g = &list->instances.items[i];
		char changed[WALL_ISO_SIZE], next[WALL_ISO_SIZE] = "-";

		wall_iso((struct wall){g->changed_ms * 1000}, changed);
		if (g->has_deadline_ms)
			wall_iso((struct wall){g->deadline_ms * 1000}, next);
		printf("%-13s %-36.*s %6" PRId64 " events  last %s  next %s\n", kind,
			STR_ARG(g->id), g->cursor, changed, next);
	}
}

static int list_all(const struct options *o, const struct daemon_place *place)
{
	const struct enumeration *kinds = guard_kind_enumeration();
	size_t count = 0;
	int code = PAIGECTL_DONE;

	for (size_t k = 0; k < kinds->count && code == PAIGECTL_DONE; k++) {
		struct answer answer = {0};
		struct guard_list list;
		char path[64];

		snprintf(path, sizeof(path), "/guards/%s", kinds->names[k]);
		code = ask(o, place, path, guard_list_type(), &answer, &list);
		if (code == PAIGECTL_DONE && !options_get(o, "json")) {
			print_instances(&list);
			count += list.instances.count;
		}
		answer_free(&answer);
	}
	if (code == PAIGECTL_DONE && count == 0 && !options_get(o, "json"))
		puts("There are no guard machines");
	return code;
}

/* ---- show ---- */

static void print_event(const struct guard_stream_event *e)
{
	char at[WALL_ISO_SIZE];
	AUTO_FREE char *text = yyjson_val_write(e->payload.val, 0, NULL);
	bool cut = text && isatty(STDOUT_FILENO) && strlen(text) > PAYLOAD_SHOWN;

	wall_iso((struct wall){e->at * 1000}, at);
	printf("%5" PRId64 "  %s  %-14.*s ", e->seq, at, STR_ARG(e->actor));
	terminal_print(COLOUR_GREEN, "%-26.*s", STR_ARG(e->type));
	printf("  %.*s%s\n", cut ? PAYLOAD_SHOWN : INT_MAX, text ? text : "",
		cut ? "..." : "");
}

static int show(
	const struct options *o, const struct daemon_place *place, const char *name)
{
	int64_t since = 0;
	size_t count = 1;
	int code = PAIGECTL_DONE;

	/* Page by page, until one is empty. */
	while (code == PAIGECTL_DONE && count > 0) {
		struct answer answer = {0};
		struct guard_events events;
		char path[700];

		snprintf(path, sizeof(path), "/guards/%s/events?since=%" PRId64, name,
			since);
		code = ask(o, place, path, guard_events_type(), &answer, &events);
		count = code == PAIGECTL_DONE ? events.events.count : 0;
		for (size_t i = 0; i < count; i++) {
			since = events.events.items[i].seq;
			if (!options_get(o, "json"))
				print_event(&events.events.items[i]);
		}
		answer_free(&answer);
	}
	return code;
}

/* ---- replay ---- */

static int replay(
	const struct options *o, const struct daemon_place *place, const char *name)
{
	struct answer answer = {0};
	struct guard_replay report;
	char path[700];
	int code;

	snprintf(path, sizeof(path), "/guards/%s/replay", name);
	code = ask(o, place, path, guard_replay_type(), &answer, &report);
	if (code == PAIGECTL_DONE && !report.ok)
		code = paigectl_fail(PAIGECTL_FAILED, "%s does not replay: %.*s", name,
			STR_ARG(report.problem));
	else if (code == PAIGECTL_DONE && !options_get(o, "json"))
		printf("%s: %" PRId64 " rows of %" PRId64
		       " events match what is stored, and the checksums are right\n",
			name, report.rows, report.steps);
	answer_free(&answer);
	return code;
}

/* ---- the command ---- */

/* "kind/id" from KIND ID, or from KIND/ID in one word; false when it is neither. */
static bool read_name(const struct options *o, struct buf *name)
{
	const char *kind = o->operand_count > 1 ? o->operands[1] : "";
	const char *slash = strchr(kind, '/');
	struct str first = {kind, slash ? (size_t)(slash - kind) : strlen(kind)};
	const char *id = slash ? slash + 1 : o->operand_count > 2 ? o->operands[2] : "";
	char *escaped;

	if (enumeration_index(guard_kind_enumeration(), first) < 0 || !*id ||
		strlen(id) > 128 || o->operand_count != (slash ? 2 : 3))
		return false;
	escaped = alloc_checked(curl_easy_escape(NULL, id, 0));
	buf_printf(name, "%.*s/%s", STR_ARG(first), escaped);
	buf_add_char(name, '\0');
	curl_free(escaped);
	return true;
}

static int run(const struct options *o, const char *what, const char *name)
{
	AUTO_PLACE place = {0};
	int code = place_find(o, &place);

	if (code == 0 && !name)
		code = list_all(o, &place);
	else if (code == 0)
		code = strcmp(what, "show") == 0 ? show(o, &place, name)
						 : replay(o, &place, name);
	return code;
}

int paigectl_guard(const struct options *o)
{
	const char *what = o->operand_count ? o->operands[0] : "";
	AUTO_BUF name = {0};
	int code;

	if (strcmp(what, "list") == 0 && o->operand_count == 1)
		code = run(o, what, NULL);
	else if ((strcmp(what, "show") == 0 || strcmp(what, "replay") == 0) &&
		 read_name(o, &name))
		code = run(o, what, name.data);
	else
		code = paigectl_fail(PAIGECTL_USAGE,
			USAGE "; KIND is session-guard, breakloop, interview or idle");
	return code;
}

/* command_mirror.c - paigectl mirror: whether what the learner does is carried to PostgreSQL. */
#include "proto/codec/messages.h"
#include "proto/tables/workers.h"
#include "supervisor/paigectl/paigectl.h"
#include <stdio.h>
#include <string.h>

#define ASK_MS 20000

/* What the worker does, of whom it is known that the learner has agreed. */
static void print_worker(const struct ctl_status *daemon)
{
	for (size_t i = 0; i < daemon->workers.count; i++) {
		const struct ctl_worker *w = &daemon->workers.items[i];

		if (!str_is(w->name, worker_infos[WORKER_MIRROR].name))
			continue;
		const char *says =
			yyjson_get_str(yyjson_obj_get(w->detail.val, "mirror"));

		if (!str_is(w->state, "ready"))
			printf("The mirror worker is %.*s.\n", STR_ARG(w->state));
		else if (w->reason.len)
			printf("%.*s\n", STR_ARG(w->reason));
		else if (says && strcmp(says, "not allowed") == 0)
			/* It does not hear of a decision: it asks the store (MIRROR_CONSENT_MS). */
			printf("The mirror worker has not asked yet: it begins within "
			       "seconds.\n");
		else if (says)
			printf("The mirror worker: %s\n", says);
		return;
	}
	printf("No mirror worker runs: MIRROR_URL is not set.\n");
}

/* `daemon` NULL: only what was decided. */
static int show(yyjson_doc *doc, const struct ctl_status *daemon)
{
	AUTO_ARENA arena = {0};
	struct mirror_consent consent;
	int code = client_read(
		yyjson_doc_get_root(doc), mirror_consent_type(), &arena, &consent);

	if (code != PAIGECTL_DONE)
		return code;
	if (consent.allowed) {
		printf("Allowed since %.*s. Sessions, actions, phases, assessments, "
		       "costs "
		       "and guard\nevents go to PostgreSQL, and no content of files; "
		       "docs/mirror.md lists every\ncolumn. Origin %.*s\n",
			STR_ARG(consent.since), STR_ARG(consent.origin));
		if (daemon)
			print_worker(daemon);
	} else if (consent.since.ptr) {
		printf("Stopped since %.*s. Nothing is sent; what was sent before stays "
		       "there.\n",
			STR_ARG(consent.since));
	} else {
		printf("Never allowed. Nothing is sent.\n");
	}
	return PAIGECTL_DONE;
}

/* Asks again after what the worker does. */
static int show_status(const struct daemon_place *place, yyjson_doc *consent)
{
	AUTO_ARENA arena = {0};
	struct ctl_status daemon;
	AUTO_DOC *doc = NULL;
	int code = client_status(place, ASK_MS, &arena, &daemon, &doc);

	if (code == PAIGECTL_DONE)
		code = show(consent, &daemon);
	return code;
}

int paigectl_mirror(const struct options *o)
{
	const char *what = o->operand_count > 0 ? o->operands[0] : "status";
	bool decides = strcmp(what, "status") != 0;
	const char *post = strcmp(what, "allow") == 0  ? "{\"allow\":true}"
			   : strcmp(what, "stop") == 0 ? "{\"allow\":false}"
						       : NULL;
	AUTO_PLACE place = {0};
	AUTO_DOC *doc = NULL;
	int code;

	if (decides && !post)
		return paigectl_fail(
			PAIGECTL_USAGE, "\"%s\": status, allow or stop", what);
	code = place_find(o, &place);
	if (code == PAIGECTL_DONE)
		code = gateway_ask(&place, "/mirror", post, ASK_MS, &doc);
	if (code == PAIGECTL_DONE && options_get(o, "json"))
		code = paigectl_print_json(yyjson_doc_get_root(doc));
	else if (code == PAIGECTL_DONE)
		code = decides ? show(doc, NULL) : show_status(&place, doc);
	return code;
}

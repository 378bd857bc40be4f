/* command_wait.c - paigectl wait and reload. */
#include "common/base/clock.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TIMEOUT_DEFAULT 120
#define TIMEOUT_MAX 86400
/* Between two looks, and for one answer. */
#define LOOK_US 100000
#define ANSWER_MS 2000
/* Longer than the supervisor itself waits for the workers that it restarts. */
#define RELOAD_MS 200000

/* ---- wait ---- */

enum look { LOOK_READY, LOOK_NOT_YET, LOOK_PARKED, LOOK_ABSENT };

/* What one look at the daemon found; `text` says it in words. */
static enum look judge(const struct ctl_status *s, struct buf *text)
{
	enum look found = str_is(s->state, "running") ? LOOK_READY : LOOK_NOT_YET;

	buf_printf(text, "the daemon is %.*s", STR_ARG(s->state));
	for (size_t i = 0; i < s->workers.count; i++) {
		const struct ctl_worker *w = &s->workers.items[i];

		if (!paigectl_worker_lacks(w))
			continue;
		buf_printf(text, ", %.*s is %.*s", STR_ARG(w->name), STR_ARG(w->state));
		if (str_is(w->state, "parked")) {
			buf_clear(text);
			buf_printf(text,
				"%.*s is parked: %.*s. Fix what is wrong, then run "
				"`paigectl restart %.*s`",
				STR_ARG(w->name), STR_ARG(w->last_exit.meaning),
				STR_ARG(w->name));
			return LOOK_PARKED;
		}
		found = LOOK_NOT_YET;
	}
	if (found == LOOK_READY) {
		buf_clear(text);
		buf_add_str(text, s->url);
	}
	return found;
}

static enum look look(const struct daemon_place *place, int64_t left_ms, struct buf *text)
{
	struct proto_error problem;
	AUTO_ARENA arena = {0};
	struct ctl_status status;
	AUTO_DOC *doc = NULL;
	enum look found = LOOK_NOT_YET;
	int error;

	buf_clear(text);
	if (!place->pid) {
		buf_printf(text, "no daemon is running on %s", place->data_dir);
		return LOOK_ABSENT;
	}
	error = client_try(place->runtime_dir, STR_LIT("{\"command\":\"status\"}"),
		(int)(left_ms < ANSWER_MS ? left_ms : ANSWER_MS), NULL, &doc);
	if (error)
		buf_printf(text, "the daemon (process %d) does not answer: %s",
			(int)place->pid, strerror(-error));
	else if (proto_decode(ctl_status_type(), yyjson_doc_get_root(doc), "status",
			 DECODE_LENIENT, &arena, &status, &problem) != 0)
		buf_printf(text, "the daemon's answer cannot be read: %s", problem.text);
	else
		found = judge(&status, text);
	return found;
}

static int verdict_json(enum look found, const struct buf *text)
{
	static const int codes[] = {[LOOK_READY] = PAIGECTL_DONE,
		[LOOK_NOT_YET] = PAIGECTL_TIMED_OUT,
		[LOOK_PARKED] = PAIGECTL_FAILED,
		[LOOK_ABSENT] = PAIGECTL_NOT_RUNNING};

	(void)paigectl_print_message(paigectl_waited_type(),
		&(struct paigectl_waited){.ready = found == LOOK_READY,
			.has_ready = true,
			.text = buf_str(text)});
	return codes[found];
}

static int verdict(enum look found, const struct buf *text, long seconds)
{
	switch (found) {
	case LOOK_READY:
		printf("ready: %.*s\n", STR_ARG(buf_str(text)));
		return PAIGECTL_DONE;
	case LOOK_PARKED:
		return paigectl_fail(PAIGECTL_FAILED, "%.*s", STR_ARG(buf_str(text)));
	case LOOK_NOT_YET:
		return paigectl_fail(PAIGECTL_TIMED_OUT, "not ready within %ld s: %.*s",
			seconds, STR_ARG(buf_str(text)));
	case LOOK_ABSENT:
		return paigectl_fail(PAIGECTL_NOT_RUNNING, "not ready within %ld s: %.*s",
			seconds, STR_ARG(buf_str(text)));
	}
	return PAIGECTL_FAILED;
}

int paigectl_wait(const struct options *o)
{
	AUTO_BUF text = {0};
	enum look found = LOOK_ABSENT;
	struct mono end;
	int64_t left;
	long seconds = TIMEOUT_DEFAULT;
	int code = paigectl_number(o, "timeout", 0, TIMEOUT_MAX, &seconds);

	if (code != PAIGECTL_DONE)
		return code;
	end = mono_add_ms(clock_mono(), seconds * 1000);
	for (;;) {
		AUTO_PLACE place = {0};

		/* Anew each time: the daemon may be one that starts meanwhile. */
		code = place_find(o, &place);
		left = mono_diff_ms(end, clock_mono());
		if (code == PAIGECTL_DONE)
			found = look(&place, left > 0 ? left : ANSWER_MS, &text);
		if (code != PAIGECTL_DONE || found == LOOK_READY ||
			found == LOOK_PARKED || left <= 0)
			break;
		usleep(LOOK_US);
	}
	if (code == PAIGECTL_DONE)
		code = options_get(o, "json") ? verdict_json(found, &text)
					      : verdict(found, &text, seconds);
	return code;
}

/* ---- reload ---- */

static void print_names(const char *before, struct strs names)
{
	for (size_t i = 0; i < names.count; i++)
		printf("%s%.*s", i == 0 ? before : ", ", STR_ARG(names.items[i]));
	if (names.count > 0)
		putchar('\n');
}

static void print_reloaded(const struct ctl_reloaded *r)
{
	printf("settings read again, %s; ready after %" PRId64 " ms\n",
		r->changed.count + r->later.count > 0 ? "some have changed"
						      : "none has changed",
		r->took_ms);
	print_names("  changed: ", r->changed);
	print_names("  restarted: ", r->restarted);
	print_names("  changes with the next start of the daemon: ", r->later);
}

int paigectl_reload(const struct options *o)
{
	AUTO_PLACE place = {0};
	AUTO_ARENA arena = {0};
	struct ctl_reloaded reloaded;
	AUTO_DOC *doc = NULL;
	int code = place_find(o, &place);

	if (code == PAIGECTL_DONE)
		code = client_ask(
			&place, STR_LIT("{\"command\":\"reload\"}"), RELOAD_MS, &doc);
	if (code == PAIGECTL_DONE)
		code = client_read(
			yyjson_doc_get_root(doc), ctl_reloaded_type(), &arena, &reloaded);
	if (code == PAIGECTL_DONE && options_get(o, "json"))
		code = paigectl_print_json(yyjson_doc_get_root(doc));
	else if (code == PAIGECTL_DONE)
		print_reloaded(&reloaded);
	return code;
}

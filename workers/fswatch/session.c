/*
 * session.c - what the coaching session means for files.
 *
 * While it lasts a timer sums up edits in the action log (FR-043, FR-047); at its start
 * every window gets the tree (P3.11). Which session is active is a record of the journal,
 * so that edits are summed up from the start on.
 *
 * Open files and buffers belong to the windows and to the files, never to a session: they
 * outlive its end, the start of another, and a database that knows nothing of it (P6.21).
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "workers/fswatch/fswatch.h"
#include <stdlib.h>

#define ASK_AGAIN_MS 500

/* ---- the timer of summaries ---- */

static void summarise(struct fswatch *fs, struct buffer *buffer)
{
	struct buffer_log_summary summary;

	if (!buffer->dirty || !buffer_log_timer(&buffer->log, buffer->chars, &summary))
		return;
	action_queue_add(&fs->action_queue, (struct str){NULL, 0}, ACTION_BUFFER_SUMMARY,
		&(struct buffer_summary_data){
			.path = buffer->path,
			.edit_count = summary.edits,
			.has_edit_count = true,
			.char_delta = summary.delta,
			.has_char_delta = true,
			.char_count = summary.chars,
			.has_char_count = true,
		});
	buffers_changed(&fs->buffers, buffer);
}

static void on_summary_timer(EVENT_UNUSED, void *arg)
{
	struct fswatch *fs = arg;

	for (struct buffer *b = fs->buffers.first;
		b && !action_queue_full(&fs->action_queue); b = b->next)
		summarise(fs, b);
	commit_work(fs);
}

static void start_timer(struct fswatch *fs)
{
	int64_t ms = fs->worker->settings->buffer_summary_ms;

	event_add_ms(fs->summary_timer, ms);
}

/* ---- beginning and end ---- */

/* `id` "": none is active. False when nothing changed. */
static bool set_session(struct fswatch *fs, struct str id)
{
	if (str_is(id, fs->session_id))
		return false;
	if (fs->session_id[0])
		event_del(fs->summary_timer);
	if (id.len >= sizeof(fs->session_id))
		id.len = 0;
	memcpy(fs->session_id, id.ptr, id.len);
	fs->session_id[id.len] = '\0';
	journal_add(&fs->journal, JOURNAL_SESSION, id, STR_LIT(""));
	if (id.len > 0)
		start_timer(fs);
	commit_work(fs);
	return true;
}

static void on_session(void *arg, const struct bus_event *event)
{
	struct fswatch *fs = arg;
	AUTO_ARENA arena = {.blocks = NULL};
	struct proto_error error;
	struct session_event session;
	AUTO_DOC *doc = proto_parse(event->body, &error);

	if (!doc || proto_decode(session_event_type(), yyjson_doc_get_root(doc), "event",
			    DECODE_LENIENT, &arena, &session, &error) < 0) {
		log_error("an event of the store cannot be read", "topic", "%.*s",
			STR_ARG(event->topic), "reason", "%s", error.text, NULL);
	} else {
		fs->session_changes++;
		if (str_is(event->topic, "session/started")) {
			if (set_session(fs, session.session_id))
				fswatch_publish_stale(fs);
		} else if (str_is(event->topic, "session/resumed")) {
			set_session(fs, session.session_id);
			fswatch_publish_stale(fs);
		} else if (str_is(session.session_id, fs->session_id)) {
			set_session(fs, STR_LIT(""));
		}
	}
}

/* ---- asking, when events may have been missed ---- */

struct question {
	struct fswatch *fs;
	uint64_t changes; /* when it was asked: an event since then is newer */
};

static void ask(struct fswatch *fs);

/* The event of its start was missed, as happens while workers are still connecting. */
static bool began_of_late(const struct fswatch *fs, const struct active_session *active)
{
	struct wall began;

	return active->started_at.ptr && wall_parse(active->started_at, &began) == 0 &&
	       began.us >= fs->started.us;
}

static void on_active(void *arg, const struct bus_reply *reply)
{
	struct question *q = arg;
	struct fswatch *fs = q->fs;
	AUTO_ARENA arena = {.blocks = NULL};
	struct proto_error error;
	struct active_session active;

	if (reply->status != BUS_OK || bus_reply_decode(METHOD_SESSION_ACTIVE, reply,
					       &arena, &active, &error) < 0)
		event_add_ms(fs->ask_timer, ASK_AGAIN_MS);
	else if (q->changes == fs->session_changes &&
		 set_session(
			 fs, active.session_id.ptr ? active.session_id : STR_LIT("")) &&
		 began_of_late(fs, &active))
		fswatch_publish_stale(fs);
	free(q);
}

static void ask(struct fswatch *fs)
{
	struct question *q = xmalloc(sizeof(*q));

	*q = (struct question){fs, fs->session_changes};
	bus_call(fs->bus, METHOD_SESSION_ACTIVE, (struct str){NULL, 0}, STR_LIT("{}"), 0,
		on_active, q);
}

static void on_ask_timer(EVENT_UNUSED, void *arg)
{
	ask(arg);
}

static void on_gap(void *arg, enum worker_id from, uint64_t missed)
{
	(void)from;
	(void)missed;
	ask(arg);
}

void session_init(struct fswatch *fs)
{
	fs->summary_timer = alloc_checked(
		event_new(fs->worker->base, -1, EV_PERSIST, on_summary_timer, fs));
	fs->ask_timer = alloc_checked(evtimer_new(fs->worker->base, on_ask_timer, fs));
	if (fs->session_id[0])
		start_timer(fs);
	bus_subscribe(fs->bus, WORKER_STORE, "session/", on_session, fs);
	bus_on_gap(fs->bus, WORKER_STORE, on_gap, fs);
}

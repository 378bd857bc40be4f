/* action_queue.c - see action_queue.h. */
#include "workers/fswatch/buffers/action_queue.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include <stdlib.h>

#define CALL_MAX_ROWS 2000
#define CALL_MAX_BYTES (1024u * 1024)
#define LOGGED_ROW_BYTES 500
#define FIRST_PAUSE_MS 100
#define MAX_PAUSE_MS 5000

static const struct str nothing = {"", 0};

/* ---- the queue ---- */

static void append(struct action_queue *o, struct str json)
{
	struct action_queue_row *row = xmalloc(sizeof(*row) + json.len);

	row->next = NULL;
	row->len = json.len;
	memcpy(row->json, json.ptr, json.len);
	*(o->last ? &o->last->next : &o->first) = row;
	o->last = row;
	o->count++;
	o->bytes += json.len;
}

static void drop(struct action_queue *o, uint64_t count)
{
	for (; count > 0 && o->first; count--) {
		struct action_queue_row *row = o->first;

		o->first = row->next;
		if (!o->first)
			o->last = NULL;
		o->count--;
		o->bytes -= row->len;
		free(row);
	}
}

bool action_queue_full(const struct action_queue *o)
{
	return o->count >= ACTION_QUEUE_MAX_ROWS || o->bytes >= ACTION_QUEUE_MAX_BYTES;
}

void action_queue_add(
	struct action_queue *o, struct str id, enum action action, const void *data)
{
	char new_id[UUID_SIZE];
	struct wall now = clock_wall();
	struct action_row row;

	if (!id.ptr) {
		uuid7(now, new_id);
		id = str_of(new_id);
	}
	arena_reset(&o->arena);
	buf_clear(&o->row);
	action_row_make(&o->arena, action, id, now, data, &row);
	proto_encode(action_row_type(), &row, &o->row);
	append(o, buf_str(&o->row));
	journal_add(o->journal, JOURNAL_ROW, buf_str(&o->row), nothing);
}

/* ---- sending ---- */

static void pause(struct action_queue *o)
{
	o->pause_ms = o->pause_ms ? o->pause_ms * 2 : FIRST_PAUSE_MS;
	if (o->pause_ms > MAX_PAUSE_MS)
		o->pause_ms = MAX_PAUSE_MS;

	event_add_ms(o->retry, o->pause_ms);
}

/* The rows of the call are in the action log, or never will be. */
static void sent(struct action_queue *o)
{
	uint64_t count = o->sending;

	drop(o, count);
	journal_add(o->journal, JOURNAL_SENT,
		(struct str){(const char *)&count, sizeof(count)}, nothing);
	o->sending = 0;
	o->pause_ms = 0;
	/* Lost with a crash, this record only makes the rows go out once more. */
	if (journal_commit(o->journal))
		log_debug("the journal cannot be written now", NULL);
}

static size_t shown(size_t len)
{
	return len < LOGGED_ROW_BYTES ? len : LOGGED_ROW_BYTES;
}

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct action_queue *o = arg;
	bool hopeless = reply->status == BUS_ERROR &&
			str_is(reply->code, error_code_infos[ERROR_INVALID_MESSAGE].name);

	if (reply->status != BUS_OK && !hopeless) {
		log_warn("rows for the action log wait", "rows", "%zu", o->count,
			"reason", "%.*s", STR_ARG(reply->message), NULL);
		o->sending = 0;
		pause(o);
		return;
	}
	if (hopeless && o->sending > 1) { /* one of them is to blame */
		o->most = o->sending / 2;
		o->sending = 0;
		o->sent_at = (struct mono){0};
		action_queue_send(o);
		return;
	}
	if (hopeless)
		log_error("the store refuses a row for the action log, dropped", "row",
			"%.*s", (int)shown(o->first->len), o->first->json, "reason",
			"%.*s", STR_ARG(reply->message), NULL);
	o->most = o->most * 2 < CALL_MAX_ROWS ? o->most * 2 : 0;
	sent(o);
	action_queue_send(o);
	o->on_sent(o->arg);
}

static void on_retry(EVENT_UNUSED, void *arg)
{
	action_queue_send(arg);
}

void action_queue_send(struct action_queue *o)
{
	AUTO_BUF body = {.data = NULL};
	char key[UUID_SIZE];
	size_t count = 0, most = o->most ? o->most : CALL_MAX_ROWS;

	if (o->sending > 0 || o->count == 0 || event_pending(o->retry, EV_TIMEOUT, NULL))
		return;
	if (o->count < most && mono_diff_ms(clock_mono(), o->sent_at) < ACTION_REST_MS) {
		event_add_ms(o->retry, ACTION_REST_MS);
		return;
	}
	o->sent_at = clock_mono();
	buf_add_str(&body, STR_LIT("{\"actions\":["));
	for (struct action_queue_row *row = o->first; row && count < most;
		row = row->next) {
		if (count > 0 && body.len + row->len > CALL_MAX_BYTES)
			break;
		if (count++ > 0)
			buf_add_char(&body, ',');
		buf_add(&body, row->json, row->len);
	}
	buf_add_str(&body, STR_LIT("]}"));
	uuid7(clock_wall(), key);
	o->sending = count;
	bus_call(o->bus, METHOD_ACTION_APPEND, str_of(key), buf_str(&body), 0, on_reply,
		o);
}

/* ---- across a crash ---- */

void action_queue_record(const struct action_queue *o)
{
	for (const struct action_queue_row *row = o->first; row; row = row->next)
		journal_add(o->journal, JOURNAL_ROW, (struct str){row->json, row->len},
			nothing);
}

void action_queue_restore(struct action_queue *o, enum journal_type type, struct str data)
{
	uint64_t count;

	if (type == JOURNAL_ROW)
		append(o, data);
	if (type == JOURNAL_SENT && data.len == sizeof(count)) {
		memcpy(&count, data.ptr, sizeof(count));
		drop(o, count);
	}
}

void action_queue_init(struct action_queue *o, struct event_base *base, struct bus *bus,
	struct journal *journal, void (*on_sent)(void *arg), void *arg)
{
	o->bus = bus;
	o->journal = journal;
	o->on_sent = on_sent;
	o->arg = arg;
	o->retry = alloc_checked(evtimer_new(base, on_retry, o));
}

void action_queue_fini(struct action_queue *o)
{
	event_free(o->retry);
	drop(o, o->count);
	arena_free(&o->arena);
	buf_free(&o->row);
}

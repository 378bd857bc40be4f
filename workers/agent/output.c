/*
 * output.c - what is said in a session, by its program and by us, and what else its record is told:
 * recorded, kept for later clients and sent to those that are there, in order; see agents.h.
 *
 * Short messages are dealt with at once. A long one, and one with which the record is written
 * anew, goes to a thread beside the loop, where a line is read and everything is recorded.
 * Until that is done and every client has been sent a long message, a piece in each turn of the
 * loop, the program is not read from, and what we say ourselves waits. Nothing here waits for
 * the thread. The program is not read from either while clients have much to read (clients.c).
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/metrics.h"
#include "workers/agent/agents.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer messages are not dealt with at once. */
#define AT_ONCE_BYTES CLIENT_PIECE_BYTES

enum said_kind {
	SAID_MESSAGE,
	SAID_CONTROL,
	SAID_NO_JSON,
	SAID_BEGIN,	  /* the session is resumed: what happened before is taken up */
	SAID_STARTED,	  /* the program was started */
	SAID_NOT_STARTED, /* it was not, although we had said so */
	SAID_ASIDE,	  /* the session has ended; a client may resume it */
	SAID_CLOSED,	  /* it has ended for good; a message, and the clients leave */
};

struct said {
	struct job job;
	STAILQ_ENTRY(said) link; /* waits */
	struct agent_session *session;
	bool of_program, beside, recorded;
	int error;	 /* SAID_BEGIN */
	struct buf text; /* a line of the program, until it is read */
	size_t text_bytes;
	enum said_kind kind;
	enum record_line line;
	struct buf message; /* SAID_MESSAGE, SAID_CLOSED: to clients */
	struct control *control;
	int64_t answer_ms;
	char uuid[UUID_SIZE]; /* of a prompt that the program has read, or "" */
};

bool output_is_busy(const struct agent_session *s)
{
	const struct session_output *o = &s->output;

	return o->under_way || o->sending || !STAILQ_EMPTY(&o->waiting);
}

static struct said *said_new(struct agent_session *s)
{
	struct said *said = xcalloc(1, sizeof(*said));

	said->session = s;
	said->answer_ms = s->agents->worker->settings->agent_answer_ms;
	return said;
}

static void said_free(struct said *said)
{
	buf_free(&said->text);
	buf_free(&said->message);
	control_free(said->control);
	free(said);
}

/* ---- on the thread, or at once ---- */

/* What the program says is handed on as it came. */
static void wrap(struct said *said, yyjson_val *root)
{
	const struct str before = STR_LIT("{\"source\":\"cc\",\"event\":");
	yyjson_val *type = yyjson_obj_get(root, "type"),
		   *uuid = yyjson_obj_get(root, "uuid");
	struct buf *out = &said->message;

	said->kind = SAID_MESSAGE;
	said->line = yyjson_equals_str(type, "result") ? RECORD_RESULT : RECORD_MESSAGE;
	if (yyjson_equals_str(type, "user") && yyjson_get_len(uuid) < UUID_SIZE)
		snprintf(said->uuid, sizeof(said->uuid), "%s",
			yyjson_is_str(uuid) ? yyjson_get_str(uuid) : "");
	buf_reserve(out, before.len + said->text.len + 1);
	buf_add_str(out, before);
	buf_add_str(out, buf_str(&said->text));
	buf_add_char(out, '}');
}

static void read_line(struct said *said)
{
	AUTO_DOC *doc = yyjson_read(said->text.data, said->text.len, 0);
	yyjson_val *root = yyjson_doc_get_root(doc);

	said->control = asks_read(root, said->answer_ms);
	if (said->control)
		said->kind = SAID_CONTROL;
	else if (yyjson_is_obj(root))
		wrap(said, root);
	else
		said->kind = SAID_NO_JSON;
	buf_free(&said->text);
}

static void run(struct job *job)
{
	struct said *said = (struct said *)job;
	struct agent_session *s = said->session;

	if (said->text.len > 0)
		read_line(said);
	if (said->kind == SAID_MESSAGE || said->kind == SAID_STARTED)
		session_write(s, said->line, buf_str(&said->message));
	else if (said->kind == SAID_BEGIN)
		said->error = session_take_up(s);
	else if (said->kind == SAID_NOT_STARTED)
		s->record.behind = session_record(s) < 0;
	else if (said->kind == SAID_ASIDE)
		session_put_aside(s);
	else if (said->kind == SAID_CLOSED)
		record_remove(&s->record, s->agents->records_fd, s->id);
}

/* ---- on the loop ---- */

/* A turn has ended, and with it one prompt or several. */
static void turn_ended(struct agent_session *s)
{
	size_t prompts = prompts_turn_ended(&s->prompts);

	do
		session_happened(s, IDLE_RESULT);
	while (prompts-- > 1);
	if (s->ending || prompts_aborting(&s->prompts))
		return;
	/* After a signal it may end all the same. */
	if (process_stage_of(s->process) < PROCESS_INTERRUPTED)
		s->aborted = false;
	process_go_on(s->process);
}

static void count(const struct said *said)
{
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "place", said->beside ? "thread" : "loop");
	metric_add(METRIC_AGENT_OUTPUT, &labels,
		(double)(said->of_program ? said->text_bytes : said->message.len));
}

static struct str newest(const struct agent_session *s)
{
	const struct history *h = &s->state.history;

	return history_at(h, h->count - 1);
}

static void owe(struct agent_session *s, struct agent_client *client)
{
	client_owe(client);
	s->output.sending = true;
}

/* A piece of what clients are owed of the newest message. */
static void send_piece(struct agent_session *s)
{
	struct agent_client *client;

	LIST_FOREACH(client, &s->agents->clients, link)
	if (client->session == s && client->owed) {
		client_send_piece(client, newest(s));
		return;
	}
	s->output.sending = false;
}

static void pause(struct agent_session *s)
{
	if (s->process)
		process_pause(s->process);
	event_add_ms(s->output.step, 0);
}

void output_send_newest(struct agent_session *s, struct agent_client *client)
{
	if (newest(s).len <= AT_ONCE_BYTES) {
		client_send(client, newest(s));
		return;
	}
	owe(s, client);
	pause(s);
}

/* How long the program is not to be read from, so that its clients can read; 0: it is. */
static int64_t held_ms(const struct agent_session *s)
{
	const struct agent_client *client;
	int64_t most = 0;

	/* How it ends is to be seen. */
	if (s->ending || s->agents->stopping || prompts_aborting(&s->prompts))
		return 0;
	LIST_FOREACH(client, &s->agents->clients, link)
	if (client->session == s && client_wait_ms(client) > most)
		most = client_wait_ms(client);
	return most;
}

/* It is recorded: clients may hear of it. */
static void show(struct said *said)
{
	struct agent_session *s = said->session;
	struct agent_client *client;

	LIST_FOREACH(client, &s->agents->clients, link)
	if (client->session != s)
		continue;
	else if (said->message.len > AT_ONCE_BYTES)
		owe(s, client);
	else
		client_send(client, buf_str(&said->message));
	record_apply_taking(&s->state, said->line, &said->message);
	if (held_ms(s) > 0)
		pause(s);
}

static void leave_all(struct agent_session *s)
{
	struct agent_client *client;

	LIST_FOREACH(client, &s->agents->clients, link)
	if (client->session == s)
		session_leave(client);
}

/* It is read and recorded. Takes it. */
static void finish(struct said *said)
{
	struct agent_session *s = said->session;

	count(said);
	if (said->uuid[0])
		prompts_read(&s->prompts, str_of(said->uuid));
	if (said->kind == SAID_NO_JSON) {
		log_info("a line of the agent is not JSON", "session", "%s", s->id,
			"bytes", "%zu", said->text_bytes, NULL);
	} else if (said->kind == SAID_CONTROL) {
		asks_take(s, said->control);
		said->control = NULL;
	} else if (said->kind == SAID_STARTED) {
		record_apply(&s->state, RECORD_START, (struct str){NULL, 0});
	} else if (said->kind == SAID_MESSAGE || said->kind == SAID_CLOSED) {
		show(said);
	}
	if (said->kind == SAID_BEGIN)
		session_begun(s, said->error);
	if (said->kind == SAID_CLOSED)
		leave_all(s);
	if (said->of_program && said->line == RECORD_RESULT)
		turn_ended(s);
	else if (said->of_program && said->kind != SAID_NO_JSON)
		session_happened(s, IDLE_OUTPUT);
	said_free(said);
}

static void on_step(evutil_socket_t fd, short what, void *arg);

static void done(struct job *job)
{
	struct said *said = (struct said *)job;

	said->recorded = true;
	/* What its clients have asked for meanwhile is done behind it, perhaps in this turn. */
	if (said->kind == SAID_BEGIN)
		on_step(-1, 0, said->session);
	else
		event_add_ms(said->session->output.step, 0);
}

/* Whether the record is written anew for it. */
static bool rewrites(const struct said *said)
{
	const struct agent_session *s = said->session;

	if (said->kind == SAID_MESSAGE || said->kind == SAID_STARTED)
		return session_rewrites(s, said->line);
	return said->kind == SAID_BEGIN || said->kind == SAID_NOT_STARTED ||
	       (said->kind == SAID_ASIDE && s->record.behind);
}

/* Takes it. */
static void begin(struct said *said)
{
	struct agent_session *s = said->session;

	if (said->kind == SAID_NOT_STARTED)
		s->state.running = false;
	if (said->text.len <= AT_ONCE_BYTES && said->text.len > 0)
		read_line(said);
	said->beside =
		said->text.len > 0 || said->message.len > AT_ONCE_BYTES || rewrites(said);
	said->job = (struct job){.run = run, .done = done};
	if (!said->beside) {
		run(&said->job);
		finish(said);
		return;
	}
	s->output.under_way = said;
	if (s->process)
		process_pause(s->process);
	jobs_add(s->agents->jobs, &said->job);
}

/* What waits is short in all: the program is not read from, so these are the outcomes of its
 * requests, of which there are AGENT_ASKS_MAX, one more request, and its end. */
static void tell(struct said *said)
{
	struct agent_session *s = said->session;

	if (output_is_busy(s))
		STAILQ_INSERT_TAIL(&s->output.waiting, said, link);
	else
		begin(said);
}

static void go_on(struct agent_session *s)
{
	struct session_output *o = &s->output;
	struct said *said = o->under_way;

	if (o->sending)
		send_piece(s);
	if (said && said->recorded && !o->sending) {
		o->under_way = NULL;
		finish(said);
	}
	while (!o->under_way && !o->sending && (said = STAILQ_FIRST(&o->waiting))) {
		STAILQ_REMOVE_HEAD(&o->waiting, link);
		begin(said);
	}
}

static void on_step(EVENT_UNUSED, void *arg)
{
	struct agent_session *s = arg;
	int64_t held;

	go_on(s);
	if (s->output.sending)
		event_add_ms(s->output.step, 0);
	if (output_is_busy(s))
		return; /* done comes */
	held = held_ms(s);
	if (held > 0)
		event_add_ms(s->output.step, held);
	session_settled(s);
	if (held == 0 && s->process)
		process_resume(s->process); /* the session may be gone behind it */
}

void output_go_on(struct agent_session *s)
{
	event_add_ms(s->output.step, 0);
}

void output_init(struct agent_session *s)
{
	STAILQ_INIT(&s->output.waiting);
	s->output.step =
		alloc_checked(event_new(s->agents->worker->base, -1, 0, on_step, s));
}

void output_fini(struct agent_session *s)
{
	assert(!output_is_busy(s));
	event_free(s->output.step);
}

/* ---- what is said ---- */

void session_tell_text(
	struct agent_session *s, enum record_line line, struct buf *message)
{
	struct said *said = said_new(s);

	said->line = line;
	said->message = *message;
	*message = (struct buf){0};
	tell(said);
}

void session_tell(struct agent_session *s, enum record_line line, const struct type *type,
	const void *message)
{
	struct buf text = {0};

	proto_encode(type, message, &text);
	session_tell_text(s, line, &text);
}

static void tell_record(struct agent_session *s, enum said_kind kind)
{
	struct said *said = said_new(s);

	said->kind = kind;
	said->line = RECORD_START;
	tell(said);
}

void output_begin(struct agent_session *s)
{
	tell_record(s, SAID_BEGIN);
}

void output_started(struct agent_session *s)
{
	tell_record(s, SAID_STARTED);
}

void output_not_started(struct agent_session *s)
{
	tell_record(s, SAID_NOT_STARTED);
}

void output_put_aside(struct agent_session *s)
{
	tell_record(s, SAID_ASIDE);
}

void output_close(struct agent_session *s, const struct agent_session_closed *closed)
{
	struct said *said = said_new(s);

	said->kind = SAID_CLOSED;
	said->line = RECORD_MESSAGE;
	proto_encode(agent_session_closed_type(), closed, &said->message);
	tell(said);
}

void session_tell_error(
	struct agent_session *s, enum record_line line, const char *format, ...)
{
	AUTO_ARENA arena = {0};
	struct agent_error error;
	va_list args;

	va_start(args, format);
	error = error_message(&arena, format, args);
	va_end(args);
	session_tell(s, line, agent_error_type(), &error);
}

void output_line(void *arg, struct buf *line)
{
	struct agent_session *s = arg;
	struct said *said;

	if (!line) {
		log_warn("a line of the agent was too long", "session", "%s", s->id,
			"limit_bytes", "%u", PROCESS_LINE_MAX, NULL);
		session_tell_error(s, RECORD_MESSAGE,
			"A line of the agent was longer than %u MiB and is lost",
			PROCESS_LINE_MAX / 1024 / 1024);
		return;
	}
	said = said_new(s);
	said->of_program = true;
	said->kind = SAID_NO_JSON; /* an empty line */
	said->text = *line;
	said->text_bytes = line->len;
	*line = (struct buf){0};
	begin(said);
}

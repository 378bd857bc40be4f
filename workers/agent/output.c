/*
 * output.c - what is said in a session, by its program and by us: recorded, kept for later clients
 * and sent to those that are there, in order; see agents.h.
 *
 * Short messages are dealt with at once. A long one, and one with which the record is written
 * anew, goes to a thread beside the loop, where a line is read and everything is recorded.
 * Until that is done and every client has been sent a long message, a piece in each turn of the
 * loop, the program is not read from, and what we say ourselves waits.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/metrics.h"
#include "workers/agent/agents.h"
#include <stdio.h>
#include <stdlib.h>

/* Longer messages are not dealt with at once. */
#define AT_ONCE_BYTES CLIENT_PIECE_BYTES
/* What we say ourselves may wait up to this; then the loop waits for the thread. */
#define WAITING_MAX_BYTES (1024u * 1024)

enum said_kind { SAID_MESSAGE, SAID_CONTROL, SAID_NO_JSON };

struct said {
	struct job job;
	STAILQ_ENTRY(said) link; /* waits */
	struct agent_session *session;
	bool of_program, beside;
	struct buf text; /* a line of the program, until it is read */
	size_t text_bytes;
	enum said_kind kind;
	enum record_line line;
	struct buf message;   /* SAID_MESSAGE: to clients */
	yyjson_doc *doc;      /* SAID_CONTROL */
	char uuid[UUID_SIZE]; /* of a prompt that the program has read, or "" */
};

static bool is_busy(const struct session_output *o)
{
	return o->under_way || o->sending || !STAILQ_EMPTY(&o->waiting);
}

static struct said *said_new(struct agent_session *s)
{
	struct said *said = xcalloc(1, sizeof(*said));

	said->session = s;
	return said;
}

static void said_free(struct said *said)
{
	buf_free(&said->text);
	buf_free(&said->message);
	yyjson_doc_free(said->doc);
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
	yyjson_doc *doc = yyjson_read(said->text.data, said->text.len, 0);
	yyjson_val *root = yyjson_doc_get_root(doc);

	if (!yyjson_is_obj(root)) {
		said->kind = SAID_NO_JSON;
	} else if (asks_concerned(root)) {
		said->kind = SAID_CONTROL;
		said->doc = doc;
		doc = NULL;
	} else {
		wrap(said, root);
	}
	yyjson_doc_free(doc);
	buf_free(&said->text);
}

static void run(struct job *job)
{
	struct said *said = (struct said *)job;

	if (said->text.len > 0)
		read_line(said);
	if (said->kind == SAID_MESSAGE)
		session_write(said->session, said->line, buf_str(&said->message));
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

/* All that clients are owed of the newest message, or a piece of it. */
static void send_owed(struct agent_session *s, bool all)
{
	struct agent_client *client;

	LIST_FOREACH(client, &s->agents->clients, link)
	while (client->session == s && client->owed) {
		client_send_piece(client, newest(s));
		if (!all)
			return;
	}
	s->output.sending = false;
}

void output_send_newest(struct agent_session *s, struct agent_client *client)
{
	if (newest(s).len <= AT_ONCE_BYTES) {
		client_send(client, newest(s));
		return;
	}
	owe(s, client);
	if (s->process)
		process_pause(s->process);
	event_add_ms(s->output.step, 0);
}

void output_leave(struct agent_client *client)
{
	while (client->owed && client->owed_at > 0)
		client_send_piece(client, newest(client->session));
	client->owed = false;
}

/* It is recorded: clients may hear of it. */
static void show(struct said *said)
{
	struct agent_session *s = said->session;
	struct agent_client *client;

	send_owed(s, true);
	LIST_FOREACH(client, &s->agents->clients, link)
	if (client->session != s)
		continue;
	else if (said->message.len > AT_ONCE_BYTES)
		owe(s, client);
	else
		client_send(client, buf_str(&said->message));
	record_apply_taking(&s->state, said->line, &said->message);
}

static void done(struct job *job)
{
	struct said *said = (struct said *)job;
	struct agent_session *s = said->session;

	if (said->beside)
		s->output.under_way = NULL;
	count(said);
	if (said->uuid[0])
		prompts_read(&s->prompts, str_of(said->uuid));
	if (said->kind == SAID_NO_JSON)
		log_info("a line of the agent is not JSON", "session", "%s", s->id,
			"bytes", "%zu", said->text_bytes, NULL);
	else if (said->kind == SAID_CONTROL)
		asks_take(s, yyjson_doc_get_root(said->doc));
	else
		show(said);
	if (said->of_program && said->line == RECORD_RESULT)
		turn_ended(s);
	else if (said->of_program && said->kind != SAID_NO_JSON)
		session_happened(s, IDLE_OUTPUT);
	if (said->beside)
		event_add_ms(s->output.step, 0);
	said_free(said);
}

/* Takes it. */
static void begin(struct said *said)
{
	struct agent_session *s = said->session;

	if (said->text.len <= AT_ONCE_BYTES && said->text.len > 0)
		read_line(said);
	said->beside = said->text.len > 0 || said->message.len > AT_ONCE_BYTES ||
		       (said->kind == SAID_MESSAGE && session_rewrites(s, said->line));
	said->job = (struct job){.run = run, .done = done};
	if (!said->beside) {
		run(&said->job);
		done(&said->job);
		return;
	}
	s->output.under_way = said;
	if (s->process)
		process_pause(s->process);
	jobs_add(s->agents->jobs, &said->job);
}

static void begin_first(struct session_output *o)
{
	struct said *said = STAILQ_FIRST(&o->waiting);

	STAILQ_REMOVE_HEAD(&o->waiting, link);
	o->waiting_bytes -= said->message.len;
	begin(said);
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
	struct agent_session *s = arg;
	struct session_output *o = &s->output;

	(void)fd;
	(void)what;
	if (o->sending)
		send_owed(s, false);
	if (o->sending) {
		event_add_ms(o->step, 0);
		return;
	}
	while (!o->under_way && !o->sending && !STAILQ_EMPTY(&o->waiting))
		begin_first(o);
	if (!is_busy(o) && s->process)
		process_resume(s->process);
}

void output_settle(struct agent_session *s)
{
	struct session_output *o = &s->output;

	while (is_busy(o)) {
		if (o->under_way)
			jobs_drain(s->agents->jobs);
		else if (o->sending)
			send_owed(s, true);
		else
			begin_first(o);
	}
}

void output_init(struct agent_session *s)
{
	STAILQ_INIT(&s->output.waiting);
	s->output.step =
		alloc_checked(event_new(s->agents->worker->base, -1, 0, on_step, s));
}

void output_fini(struct agent_session *s)
{
	output_settle(s);
	event_free(s->output.step);
}

/* ---- what is said ---- */

void session_tell(struct agent_session *s, enum record_line line, const struct type *type,
	const void *message)
{
	struct session_output *o = &s->output;
	struct said *said = said_new(s);

	said->line = line;
	proto_encode(type, message, &said->message);
	if (o->waiting_bytes + said->message.len > WAITING_MAX_BYTES)
		output_settle(s);
	if (!is_busy(o)) {
		begin(said);
		return;
	}
	STAILQ_INSERT_TAIL(&o->waiting, said, link);
	o->waiting_bytes += said->message.len;
}

void session_tell_error(
	struct agent_session *s, enum record_line line, const char *format, ...)
{
	struct arena arena = {0};
	struct agent_error error;
	va_list args;

	va_start(args, format);
	error = error_message(&arena, format, args);
	va_end(args);
	session_tell(s, line, agent_error_type(), &error);
	arena_free(&arena);
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

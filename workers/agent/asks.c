/*
 * asks.c - what a program asks of the people at a session: may I use this tool, which of
 * these do you want; see agents.h.
 *
 * The control protocol of stream-json: a control_request of the program with the subtype
 * can_use_tool is shown to all clients and waits for the first answer; without one in
 * AGENT_ANSWER_MS the answer is no. Control messages are not handed on to clients. What takes as long
 * as the message is long, is done by asks_read, beside the loop.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "workers/agent/agents.h"
#include <stdlib.h>

#define QUESTION_TOOL "AskUserQuestion"
/* How much of a question is quoted in an error. */
#define QUOTED_BYTES 200
/* An answer to a question is put together on the loop. */
#define QUESTION_MAX_BYTES (256u * 1024)

struct agent_ask {
	LIST_ENTRY(agent_ask) link;
	struct agent_session *session;
	char *id;
	struct buf input; /* JSON object */
	bool question;
	struct event *deadline;
};

struct control {
	enum { CONTROL_ANSWER, CONTROL_WITHDRAWN, CONTROL_UNKNOWN, CONTROL_ASK } kind;
	char *id; /* of the request; NULL: none, or one that cannot be */
	/* CONTROL_ASK: */
	bool question;
	struct buf input;
	struct buf shown; /* to clients */
};

static void ask_free(struct agent_ask *ask)
{
	LIST_REMOVE(ask, link);
	ask->session->ask_count--;
	event_free(ask->deadline);
	free(ask->id);
	buf_free(&ask->input);
	free(ask);
}

static struct agent_ask *ask_of(const struct agent_session *s, struct str id)
{
	struct agent_ask *ask;

	LIST_FOREACH(ask, &s->asks, link)
	if (str_is(id, ask->id))
		return ask;
	return NULL;
}

/* ---- answering the program ---- */

/* {"type":"control_response",…} with a member that is `before`, `value` and `after` in JSON. Takes
 * the memory of `value` unless it fails. 0 or -errno. */
static int respond(struct agent_session *s, const char *id, const char *subtype,
	const char *before, struct buf *value, const char *after)
{
	struct buf pieces[3] = {{0}};
	int r;

	buf_printf(&pieces[0],
		"{\"type\":\"control_response\",\"response\":{\"subtype\":\"%s\","
		"\"request_id\":",
		subtype);
	buf_add_json_string(&pieces[0], str_of(id));
	buf_printf(&pieces[0], ",%s", before);
	pieces[1] = *value;
	buf_printf(&pieces[2], "%s}}", after);
	r = s->process ? process_write(s->process, pieces, 3) : -EPIPE;
	*value = pieces[1];
	buf_free(&pieces[0]);
	buf_free(&pieces[2]);
	return r;
}

static void refuse(struct agent_session *s, const char *id, const char *why)
{
	AUTO_BUF value = {0};

	buf_add_json_string(&value, str_of(why));
	(void)respond(s, id, "error", "\"error\":", &value, "");
}

static int deny(struct agent_ask *ask, struct str why)
{
	AUTO_BUF value = {0};

	buf_add_json_string(&value, why);
	return respond(ask->session, ask->id, "success",
		"\"response\":{\"behavior\":\"deny\",\"message\":", &value, "}");
}

/* Takes the memory of `input` unless it fails. */
static int allow(struct agent_ask *ask, struct buf *input)
{
	return respond(ask->session, ask->id, "success",
		"\"response\":{\"behavior\":\"allow\",\"updatedInput\":", input, "}");
}

static bool was_asked(yyjson_val *questions, struct str text)
{
	yyjson_val *question;
	size_t i, max;

	yyjson_arr_foreach(questions, i, max,
		question) if (str_eq(proto_str(yyjson_obj_get(question, "question")),
				      text)) return true;
	return false;
}

/* What is wrong with the answers to `questions`, in the arena; or NULL. The program takes an
 * answer to what it has not asked for none at all. */
static const char *wrong_answers(
	yyjson_val *questions, yyjson_val *answers, struct arena *arena)
{
	const struct str example =
		proto_str(yyjson_obj_get(yyjson_arr_get_first(questions), "question"));
	yyjson_val *key, *value;
	size_t i, max;

	if (!example.ptr)
		return NULL; /* not the questions that we know */
	if (yyjson_obj_size(answers) == 0)
		return "answers is empty: it must have an answer for at least one "
		       "question";
	yyjson_obj_foreach(answers, i, max, key, value)
	{
		const struct str name = utf8_cut(proto_str(key), QUOTED_BYTES);
		const struct str asked = utf8_cut(example, QUOTED_BYTES);

		if (!was_asked(questions, proto_str(key)))
			return arena_printf(arena,
				"answers has \"%.*s\", which was not asked: a question "
				"is named by its text, such as \"%.*s\"",
				STR_ARG(name), STR_ARG(asked))
				.ptr;
		if (!yyjson_is_str(value) || yyjson_get_len(value) == 0)
			return arena_printf(arena,
				"answers[\"%.*s\"] must be a text that is not empty",
				STR_ARG(name))
				.ptr;
	}
	return NULL;
}

/* The input of a question with the answers in it. */
static int answer(struct agent_ask *ask, yyjson_val *answers)
{
	AUTO_DOC *input = yyjson_read(ask->input.data, ask->input.len, 0);
	yyjson_mut_doc *doc = yyjson_doc_mut_copy(input, NULL);
	yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
	AUTO_BUF text = {0};
	int r;

	yyjson_mut_obj_remove_key(root, "answers");
	yyjson_mut_obj_add_val(doc, root, "answers", yyjson_val_mut_copy(doc, answers));
	text.data = alloc_checked(yyjson_mut_write(doc, 0, &text.len));
	text.cap = text.len + 1;
	r = allow(ask, &text);
	yyjson_mut_doc_free(doc);
	return r;
}

/* Tells all clients, and forgets it. */
static void resolve(struct agent_ask *ask, enum agent_ask_outcome outcome)
{
	const struct agent_ask_resolved told = {.source = STR_LIT("bridge"),
		.type = STR_LIT("requestResolved"),
		.request_id = str_of(ask->id),
		.outcome = outcome,
		.has_outcome = true};

	log_info("a request of an agent is answered", "session", "%s", ask->session->id,
		"request", "%s", ask->id, "outcome", "%s",
		agent_ask_outcome_enumeration()->names[outcome], NULL);
	session_tell(ask->session, RECORD_MESSAGE, agent_ask_resolved_type(), &told);
	ask_free(ask);
}

static void on_deadline(EVENT_UNUSED, void *arg)
{
	struct agent_ask *ask = arg;

	(void)deny(ask, STR_LIT("Nobody answered in time, so it is not allowed."));
	resolve(ask, AGENT_ASK_EXPIRED);
}

/* ---- what the program asks: on any thread ---- */

static void render_ask(struct control *c, yyjson_val *request, int64_t answer_ms)
{
	yyjson_val *suggestions = yyjson_obj_get(request, "permission_suggestions");
	yyjson_val *tool = yyjson_obj_get(request, "tool_name");
	struct agent_ask_shown shown = {.source = STR_LIT("bridge"),
		.request_id = str_of(c->id),
		.tool = proto_str(tool),
		.suggestions.val = yyjson_is_arr(suggestions) ? suggestions : NULL,
		.answer_ms = answer_ms,
		.has_answer_ms = true};

	c->question = yyjson_equals_str(tool, QUESTION_TOOL);
	shown.type =
		c->question ? STR_LIT("questionRequest") : STR_LIT("permissionRequest");
	c->input.data = alloc_checked(
		yyjson_val_write(yyjson_obj_get(request, "input"), 0, &c->input.len));
	c->input.cap = c->input.len + 1;
	shown.input.raw = buf_str(&c->input);
	proto_encode(agent_ask_shown_type(), &shown, &c->shown);
}

static void read_request(struct control *c, yyjson_val *message, int64_t answer_ms)
{
	yyjson_val *request = yyjson_obj_get(message, "request");
	yyjson_val *tool = yyjson_obj_get(request, "tool_name");
	bool known =
		yyjson_equals_str(yyjson_obj_get(request, "subtype"), "can_use_tool");

	c->kind = CONTROL_UNKNOWN;
	if (!c->id || !known || !yyjson_is_str(tool) || yyjson_get_len(tool) == 0 ||
		!yyjson_is_obj(yyjson_obj_get(request, "input")))
		return;
	c->kind = CONTROL_ASK;
	render_ask(c, request, answer_ms);
}

struct control *asks_read(yyjson_val *message, int64_t answer_ms)
{
	yyjson_val *type = yyjson_obj_get(message, "type");
	const struct str id = proto_str(yyjson_obj_get(message, "request_id"));
	const bool asked = yyjson_equals_str(type, "control_request"),
		   withdrawn = yyjson_equals_str(type, "control_cancel_request");
	struct control *c;

	if (!asked && !withdrawn && !yyjson_equals_str(type, "control_response"))
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->kind = withdrawn ? CONTROL_WITHDRAWN : CONTROL_ANSWER;
	if (id.len > 0 && id.len <= AGENT_ASK_ID_MAX && !memchr(id.ptr, '\0', id.len))
		c->id = xstrndup(id.ptr, id.len);
	if (asked)
		read_request(c, message, answer_ms);
	return c;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	free(c->id);
	buf_free(&c->input);
	buf_free(&c->shown);
	free(c);
}

/* ---- and on the loop ---- */

/* Takes what it needs of the message. */
static void ask_begin(struct agent_session *s, struct control *c)
{
	const int64_t ms = s->agents->worker->settings->agent_answer_ms;
	struct agent_ask *ask = xcalloc(1, sizeof(*ask));

	ask->session = s;
	ask->question = c->question;
	ask->id = c->id;
	ask->input = c->input;
	c->id = NULL;
	c->input = (struct buf){0};
	ask->deadline =
		alloc_checked(evtimer_new(s->agents->worker->base, on_deadline, ask));
	event_add_ms(ask->deadline, ms);
	LIST_INSERT_HEAD(&s->asks, ask, link);
	s->ask_count++;
	session_tell_text(s, RECORD_MESSAGE, &c->shown);
}

static void take_request(struct agent_session *s, struct control *c)
{
	if (!c->id || ask_of(s, str_of(c->id)))
		log_warn("a request of an agent cannot be answered: its id is missing, "
			 "too long or in use",
			"session", "%s", s->id, NULL);
	else if (c->kind == CONTROL_UNKNOWN)
		refuse(s, c->id, "Paige does not know this request");
	else if (c->question && c->input.len > QUESTION_MAX_BYTES)
		refuse(s, c->id, "The question is too long: it may have 256 KiB");
	else if (s->ask_count >= AGENT_ASKS_MAX)
		refuse(s, c->id, "Too many requests are open already");
	else
		ask_begin(s, c);
}

void asks_take(struct agent_session *s, struct control *c)
{
	struct agent_ask *ask;

	if (c->kind == CONTROL_ASK || c->kind == CONTROL_UNKNOWN) {
		take_request(s, c);
	} else if (c->kind == CONTROL_WITHDRAWN && c->id) {
		ask = ask_of(s, str_of(c->id));
		if (ask)
			resolve(ask, AGENT_ASK_CANCELLED);
	}
	control_free(c);
}

void asks_cancel(struct agent_session *s)
{
	while (!LIST_EMPTY(&s->asks))
		resolve(LIST_FIRST(&s->asks), AGENT_ASK_CANCELLED);
}

void asks_forget(struct agent_session *s)
{
	while (!LIST_EMPTY(&s->asks))
		ask_free(LIST_FIRST(&s->asks));
}

/* ---- what clients answer ---- */

static const char *reply_to_question(struct agent_ask *ask, const struct agent_request *r,
	struct arena *arena, int *sent)
{
	AUTO_DOC *input = NULL;
	const char *problem;

	if (!ask->question)
		return "This request asks for a permission: answer it with "
		       "{\"type\":\"permission\"}";
	if (!r->answers.val)
		return "answer requires answers, an object of question and answer";
	input = yyjson_read(ask->input.data, ask->input.len, 0);
	problem = wrong_answers(yyjson_obj_get(yyjson_doc_get_root(input), "questions"),
		r->answers.val, arena);
	if (!problem)
		*sent = answer(ask, r->answers.val);
	return problem;
}

/* `input`: what the client gives instead of that of the request; or empty. */
static const char *permit(struct agent_ask *ask, const struct agent_request *r,
	struct buf *input, int *sent)
{
	if (!r->has_allow)
		return "permission requires allow, true or false";
	if (ask->question && r->allow)
		return "A question is answered with {\"type\":\"answer\"}, or refused "
		       "with "
		       "allow false";
	if (!r->allow)
		*sent = deny(ask, r->message.len
					  ? r->message
					  : STR_LIT("The user does not allow it."));
	else
		*sent = allow(ask, input->len > 0 ? input : &ask->input);
	return NULL;
}

const char *asks_answer(struct agent_session *s, const struct agent_request *r,
	struct buf *input, struct arena *arena)
{
	struct agent_ask *ask = ask_of(s, r->request_id);
	bool answers = str_is(r->type, "answer");
	const char *problem;
	int sent = 0;

	if (!r->request_id.len)
		return "requestId is missing: which request is answered?";
	if (!ask)
		return "No such request is open: it was answered already, or its time "
		       "is over";
	problem = answers ? reply_to_question(ask, r, arena, &sent)
			  : permit(ask, r, input, &sent);
	if (problem)
		return problem;
	if (sent < 0)
		return "The agent does not read: try again in a moment";
	resolve(ask, answers	? AGENT_ASK_ANSWERED
		     : r->allow ? AGENT_ASK_ALLOWED
				: AGENT_ASK_DENIED);
	return NULL;
}

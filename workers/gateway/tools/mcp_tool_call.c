/* mcp_tool_call.c - see mcp_tool_call.h. */
#include "workers/gateway/tools/mcp_tool_call.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/utf8.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/unseen.h"
#include "workers/gateway/tools/mcp_fit.h"
#include "workers/gateway/tools/mcp_places.h"
#include "workers/gateway/tools/mcp_tool_log.h"
#include "workers/gateway/ws/ws_server.h"
#include <stdlib.h>
#include <sys/queue.h>

/* A method that may take longer than this gets a stream at once. */
#define LONG_METHOD_MS 60000

struct tool_call {
	LIST_ENTRY(tool_call) link;
	struct gateway *g;
	struct mcp_call *call; /* NULL once it is answered */
	const struct mcp_tool_info *tool;
	void *input; /* in the call's arena, as places */
	struct mcp_places places;
	char id[UUID_SIZE];
	struct wall made;
	char *session_id; /* of MCP; NULL for none */
	bool asked;	  /* the owner was asked */
	struct buf text;  /* the answer */
	bool is_error;
};

static LIST_HEAD(, tool_call) under_way = LIST_HEAD_INITIALIZER(under_way);

/* ---- the answer ---- */

/* A text block; with `structured` the same as an object too. */
static void put_result(struct str text, bool structured, bool is_error, struct buf *out)
{
	buf_add_str(out, STR_LIT("{\"content\":[{\"type\":\"text\",\"text\":"));
	buf_add_json_string(out, text);
	buf_add_str(out, STR_LIT("}]"));
	if (structured) {
		buf_add_str(out, STR_LIT(",\"structuredContent\":"));
		buf_add_str(out, text);
	}
	if (is_error)
		buf_add_str(out, STR_LIT(",\"isError\":true"));
	buf_add_char(out, '}');
}

static void answer(struct tool_call *t, struct str text, bool is_error)
{
	static struct buf out;
	struct mcp_call *call = t->call;

	t->call = NULL;
	if (is_error)
		t->g->metrics.mcp_tool_errors++;
	put_result(text, !is_error && text.len && text.ptr[0] == '{', is_error, &out);
	mcp_call_result(call, buf_str(&out));
	buf_empty(&out, MCP_KEPT_BYTES);
}

/* The answer, no longer than the client shows its model. */
static void answer_fitting(struct tool_call *t)
{
	AUTO_BUF fitting = {0};
	struct str text = buf_str(&t->text);

	if (t->is_error) {
		answer(t, text.len > MCP_FIT_BYTES ? utf8_cut(text, MCP_FIT_BYTES) : text,
			true);
	} else if (mcp_fit(text, MCP_FIT_BYTES, t->tool->more, &fitting)) {
		answer(t, buf_str(&fitting), false);
	} else {
		buf_printf(&fitting,
			"The answer has %zu bytes, which is more than can be shown. %s",
			text.len, t->tool->more);
		answer(t, buf_str(&fitting), true);
	}
}

static void log_call(const struct tool_call *t)
{
	mcp_tool_log(t->g, t->id, t->made, t->tool->name, str_of(t->session_id));
}

/* The text of the answer is complete. */
static void finish(struct tool_call *t)
{
	/* Whether its owner has logged it is not known. */
	if (t->is_error && !(t->tool->flags & TOOL_READ))
		log_call(t);
	if (t->call)
		answer_fitting(t);
	LIST_REMOVE(t, link);
	buf_free(&t->text);
	free(t->session_id);
	free(t);
}

/* What a model can do about an error, beyond its text. */
static const char *advice(struct str code)
{
	static const struct {
		const char *code, *text;
	} table[] = {
		{"NO_SESSION",
			"The learner starts one in the editor, by choosing an issue or "
			"resuming a session. Ask the learner to do that, then call "
			"again."},
		{"UNAVAILABLE", "Call again in a few seconds."},
		{"BUSY", "Call again in a few seconds."},
		{"TIMEOUT", "Call again; if it lasts, ask the learner to run "
			    "`paigectl status`."},
		{"STORAGE_FAILED", "Ask the learner to run `paigectl doctor`."},
		{"INTERNAL_ERROR", "Ask the learner to run `paigectl logs`."},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (str_is(code, table[i].code))
			return table[i].text;
	return "";
}

static void take_error(struct tool_call *t, const struct bus_reply *reply)
{
	const char *more = advice(reply->code);
	bool ends = reply->message.len &&
		    strchr(".!?", reply->message.ptr[reply->message.len - 1]);

	t->is_error = true;
	buf_add_str(&t->text, reply->message);
	if (more[0])
		buf_printf(&t->text, "%s %s", ends ? "" : ".", more);
	if (reply->status == BUS_RESET && t->tool->flags & TOOL_PAID)
		buf_add_str(&t->text,
			STR_LIT(" Call the tool again with the same arguments: what "
				"Claude had answered by then is found and not paid for "
				"twice."));
}

static size_t windows_of(const struct gateway *g)
{
	const struct ws_client *client;
	size_t n = 0;

	TAILQ_FOREACH(client, &g->ws->clients, link)
	n += client->state == WS_CLIENT_OPEN;
	return n;
}

/* How many windows were told goes into the answer. */
static void add_windows(struct tool_call *t)
{
	size_t windows = windows_of(t->g);

	if (t->text.len < 2 || t->text.data[t->text.len - 1] != '}')
		return;
	t->text.len--;
	buf_printf(&t->text, ",\"windows\":%zu", windows);
	if (windows == 0)
		buf_printf(&t->text,
			",\"note\":\"No window of the editor is open, so the learner did "
			"not see it. %s\"",
			unseen_keeps() ? "It is kept, and the next window that opens "
					 "shows it."
				       : "Call again when the learner has opened one.");
	buf_add_char(&t->text, '}');
}

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct tool_call *t = arg;

	if (reply->status == BUS_OK) {
		buf_add_str(&t->text, reply->body);
		if (t->tool->flags & TOOL_SHOWS)
			add_windows(t);
	} else {
		take_error(t, reply);
	}
	finish(t);
}

/* ---- calls that are paid for ---- */

static void tell_llm(struct gateway *g, enum method method, const void *message)
{
	char key[UUID_SIZE];

	uuid7(clock_wall(), key);
	bus_call_message(g->bus, method, str_of(key), message, 0, NULL, NULL);
}

/* The client wants no answer any more. */
static void on_cancel(void *arg)
{
	struct tool_call *t = arg;

	if (t->asked)
		tell_llm(t->g, METHOD_FLOW_CANCEL,
			&(struct flow_ref){.call = str_of(t->id)});
}

/* The client cannot be reached, and may come back for the answer or ask again. */
static void on_detach(void *arg)
{
	struct tool_call *t = arg;

	if (t->asked)
		tell_llm(t->g, METHOD_FLOW_LOST,
			&(struct flow_lost){.call = str_of(t->id)});
}

static void on_progress(void *arg, const struct bus_event *event)
{
	struct flow_progress progress;
	struct proto_error error;
	AUTO_ARENA arena = {0};
	AUTO_DOC *doc = proto_parse(event->body, &error);
	struct tool_call *t;

	(void)arg;
	if (doc && proto_decode(flow_progress_type(), yyjson_doc_get_root(doc),
			   "progress", DECODE_LENIENT, &arena, &progress, &error) == 0)
		LIST_FOREACH(t, &under_way, link)
	if (t->call && str_is(progress.call, t->id))
		mcp_call_progress(t->call, (double)progress.step, (double)progress.total,
			progress.message);
}

void mcp_tool_calls_begin(struct gateway *g)
{
	bus_subscribe(g->bus, WORKER_LLM, "flow/", on_progress, g);
	tell_llm(g, METHOD_FLOW_LOST, &(struct flow_lost){.call = {NULL, 0}});
}

/* ---- asking ---- */

/* The arguments; of a tool that does something, within its tool_request. */
static void put_request(const struct tool_call *t, struct buf *body)
{
	AUTO_BUF input = {0};

	if (t->tool->flags & TOOL_READ) {
		proto_encode(t->tool->input(), t->input, body);
		return;
	}
	proto_encode(t->tool->input(), t->input, &input);
	proto_encode(tool_request_type(),
		&(struct tool_request){.call = str_of(t->id),
			.session_id = str_of(t->session_id),
			.input = {.raw = buf_str(&input)}},
		body);
}

static void call_owner(struct tool_call *t)
{
	const struct method_info *method = &method_infos[t->tool->method];
	AUTO_BUF body = {0};

	put_request(t, &body);
	t->asked = true;
	if (t->call && method->deadline_ms >= LONG_METHOD_MS)
		mcp_call_takes_long(t->call);
	bus_call(t->g->bus, t->tool->method,
		str_of(method->flags & METHOD_KEYED ? t->id : NULL), buf_str(&body), 0,
		on_reply, t);
}

static void on_places(void *arg, const struct bus_reply *reply)
{
	struct tool_call *t = arg;
	struct fs_places_found found;
	struct proto_error error;
	AUTO_ARENA arena = {0};

	if (!t->call) { /* answered meanwhile, and its arguments are gone */
		t->is_error = true;
		finish(t);
	} else if (reply->status != BUS_OK) {
		take_error(t, reply);
		finish(t);
	} else if (bus_reply_decode(METHOD_FS_PLACES, reply, &arena, &found, &error) <
		   0) {
		t->is_error = true;
		buf_add_str(&t->text, str_of(error.text));
		finish(t);
	} else {
		mcp_places_set(&t->places, &found);
		call_owner(t);
	}
}

static struct tool_call *begin(
	struct gateway *g, struct mcp_call *call, const struct mcp_tool_info *info)
{
	struct tool_call *t = xcalloc(1, sizeof(*t));
	struct str session_id = mcp_call_session_id(call);

	*t = (struct tool_call){.g = g, .call = call, .tool = info, .made = clock_wall()};
	t->input = arena_alloc(mcp_call_arena(call), info->input()->size);
	uuid7(t->made, t->id);
	if (session_id.ptr) {
		t->session_id = xstrndup(session_id.ptr, session_id.len);
	}
	LIST_INSERT_HEAD(&under_way, t, link);
	if (info->flags & TOOL_READ)
		log_call(t);
	return t;
}

void mcp_tool_call(struct gateway *g, struct mcp_call *call, enum mcp_tool tool,
	yyjson_val *arguments)
{
	const struct mcp_tool_info *info = &mcp_tool_infos[tool];
	struct arena *arena = mcp_call_arena(call);
	struct tool_call *t = begin(g, call, info);
	struct proto_error error;

	if (proto_decode(info->input(), arguments, "arguments", DECODE_STRICT, arena,
		    t->input, &error) < 0) {
		t->is_error = true;
		buf_add_str(&t->text, str_of(error.text));
		finish(t);
		return;
	}
	if (info->flags & TOOL_PAID) {
		mcp_call_on_cancel(call, on_cancel, t);
		mcp_call_on_detach(call, on_detach, t);
	}
	mcp_places_of(tool, t->input, arena, &t->places);
	if (t->places.query.places.count > 0)
		bus_call_message(g->bus, METHOD_FS_PLACES, (struct str){NULL, 0},
			&t->places.query, 0, on_places, t);
	else
		call_owner(t);
}

void mcp_tool_calls_end_all(struct gateway *g)
{
	struct tool_call *t;

	(void)g;
	LIST_FOREACH(t, &under_way, link)
	if (t->call) {
		/* Its owner may never be asked. */
		if (!(t->tool->flags & TOOL_READ))
			log_call(t);
		answer(t, STR_LIT(MCP_TOOL_LOST_TEXT), true);
	}
}

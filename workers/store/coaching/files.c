/* files.c - asks the file worker for what only it knows (files.h). */
#include "workers/store/coaching/files.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "workers/store/service/serve.h"
#include "workers/store/service/store.h"
#include <stdlib.h>

/* One question under way. */
struct question {
	struct store *store;
	struct call *call;
	files_open_fn *on_open;
	files_state_fn *on_state;
};

static struct question *question_new(struct store *store, struct call *call)
{
	struct question *q = arena_alloc(call->arena, sizeof(*q));

	*q = (struct question){.store = store, .call = call};
	return q;
}

static void log_unanswered(const struct call *call, const struct bus_reply *reply)
{
	log_warn("the file worker did not answer", "for", "%s",
		method_infos[call->method].name, "code", "%.*s", STR_ARG(reply->code),
		"message", "%.*s", STR_ARG(reply->message), NULL);
}

static void on_open_reply(void *arg, const struct bus_reply *reply)
{
	struct question *q = arg;
	struct tool_get_open_files_output out = {0};
	struct proto_error error;

	if (reply->status != BUS_OK || bus_reply_decode(METHOD_FS_OPEN_FILES, reply,
					       q->call->arena, &out, &error) < 0)
		log_unanswered(q->call, reply);
	q->on_open(q->store, q->call, out.files);
	serve_answer(q->store, q->call);
}

void files_ask_open(struct store *store, struct call *call, files_open_fn *fn)
{
	struct question *q = question_new(store, call);

	q->on_open = fn;
	bus_call_message(store->bus, METHOD_FS_OPEN_FILES, (struct str){0},
		&(struct empty){0}, FILES_WAIT_MS, on_open_reply, q);
}

/* What is between the braces of a JSON object, without blanks at its ends; absent for
 * anything else. */
static struct str inside_object(struct str json)
{
	struct str in = json;

	if (in.len < 2 || in.ptr[0] != '{' || in.ptr[in.len - 1] != '}')
		return (struct str){0};
	return (struct str){in.ptr + 1, in.len - 2};
}

static void on_state_reply(void *arg, const struct bus_reply *reply)
{
	struct question *q = arg;
	struct str members = {0};

	if (reply->status == BUS_OK)
		members = arena_str(q->call->arena, inside_object(reply->body));
	else
		log_unanswered(q->call, reply);
	q->on_state(
		q->store, q->call, members, arena_str(q->call->arena, reply->message));
	serve_answer(q->store, q->call);
}

void files_ask_state(
	struct store *store, struct call *call, struct strs include, files_state_fn *fn)
{
	struct question *q = question_new(store, call);

	q->on_state = fn;
	bus_call_message(store->bus, METHOD_FS_STATE, (struct str){0},
		&(struct fs_state_query){
			.include = include, .brief = true, .has_brief = true},
		FILES_WAIT_MS, on_state_reply, q);
}

/* requests.c - what clients of /agent ask for; see agents.h. */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/worker/metrics.h"
#include "proto/codec/messages.h"
#include "workers/agent/agents.h"
#include "workers/agent/session_record.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHOWN_TYPE_BYTES 100
/* Longer requests are read beside the loop. */
#define AT_ONCE_BYTES (256u * 1024)
#define ENDING "The agent session here is just ending: try again in a moment"

/* A request that is being read or served. */
struct taken {
	struct job job;
	struct agents *agents;
	char client_id[UUID_SIZE];
	struct bus_request *bus_request;
	struct str text; /* of that request */
	bool beside, right;
	yyjson_doc *doc; /* NULL: no JSON */
	struct proto_error error;
	struct arena arena;
	struct agent_request request;
	struct buf
		json; /* what the program gets of a prompt, or of the input of a permission */
};

/* ---- the lobby ---- */

static void describe_folder(
	struct agents *a, const char *name, struct arena *arena, struct agent_folder *out)
{
	struct str path =
		arena_printf(arena, "%s/%s", a->root.path[1] ? a->root.path : "", name);
	const struct agent_session *session = session_in(a, path.ptr);
	struct kept_session kept = folder_kept_session(a->claude_dir, path.ptr);
	char at[WALL_ISO_SIZE];

	*out = (struct agent_folder){.name = str_of(name),
		.path = path,
		.state = session      ? AGENT_FOLDER_ACTIVE
			 : kept.id[0] ? AGENT_FOLDER_PAUSED
				      : AGENT_FOLDER_FRESH,
		.has_state = true};
	if (session)
		out->session_id = str_of(session->id);
	else if (kept.id[0])
		out->session_id = arena_str(arena, str_of(kept.id));
	if (kept.id[0]) {
		wall_iso((struct wall){kept.changed_ms * 1000}, at);
		out->last_active = arena_str(arena, str_of(at));
	}
}

static void list_folders(struct agent_client *client)
{
	struct agents *a = client->agents;
	AUTO_ARENA arena = {0};
	struct strs_of_folders names = folder_names(&a->root, &arena);
	struct agent_folder_list list = {.source = STR_LIT("bridge"),
		.type = STR_LIT("folderList"),
		.folders = {.items = arena_array(
				    &arena, names.count + 1, sizeof(struct agent_folder)),
			.count = names.count}};

	for (size_t i = 0; i < names.count; i++)
		describe_folder(a, names.names[i], &arena, &list.folders.items[i]);
	client_say(client, agent_folder_list_type(), &list);
}

static void join_folder(struct agent_client *client, struct folder folder)
{
	struct agents *a = client->agents;
	struct agent_session *session = session_in(a, folder.path);
	struct kept_session kept;
	const char *problem;
	char id[UUID_SIZE];

	if (session) {
		close(folder.fd);
		if (session->ending)
			client_say_error(client, ENDING);
		else
			session_join(session, client, true);
		return;
	}
	kept = folder_kept_session(a->claude_dir, folder.path);
	if (kept.id[0] && !session_of(a, str_of(kept.id)))
		snprintf(id, sizeof(id), "%s", kept.id);
	else
		uuid4(id);
	problem = session_begin(a, id, folder, strcmp(id, kept.id) == 0, &session);
	if (problem)
		client_say_error(client, "%s", problem);
	else
		session_join(session, client, strcmp(id, kept.id) == 0);
}

static void connect_folder(
	struct agent_client *client, const struct agent_request *request)
{
	struct folder folder;
	int r;

	if (client->session) {
		client_say_error(client, "Cannot connectFolder on an active session");
		return;
	}
	if (!request->path.len) {
		client_say_error(client, "connectFolder requires a path");
		return;
	}
	r = folder_open(&client->agents->root, request->path, &folder);
	if (r == 0) {
		join_folder(client, folder);
		return;
	}
	log_info("folder refused", "connection", "%s", client->id, "path", "%.*s",
		STR_ARG(request->path), "error", "%s", strerror(-r), NULL);
	if (r == -EXDEV)
		client_say_error(client, "Folder path must be within scan root");
	else
		client_say_error(client, "Folder cannot be opened: %s", strerror(-r));
}

/* The folder that our record names: the program may keep its sessions where we cannot look. */
static int open_recorded_folder(
	const struct agents *a, const char *id, struct folder *out)
{
	char path[PATH_MAX];
	int r = record_folder_aside(a->records_fd, id, path);

	return r < 0 ? r : folder_reopen(&a->root, path, out);
}

/* A session that is over, or that Paige did not begin. */
static void resume_unknown(struct agent_client *client, struct str id)
{
	struct agents *a = client->agents;
	struct agent_session *session;
	struct folder folder = {.fd = -1};
	const char *problem;
	char text[UUID_SIZE];
	int r;

	snprintf(text, sizeof(text), "%.*s", STR_ARG(id));
	r = folder_of_kept_session(a->claude_dir, &a->root, text, &folder);
	if (r < 0)
		r = open_recorded_folder(a, text, &folder);
	if (r < 0)
		r = folder_reopen(&a->root, a->root.path, &folder);
	if (r < 0) {
		client_say_error(client, "Folder cannot be opened: %s", strerror(-r));
		return;
	}
	problem = session_begin(a, text, folder, true, &session);
	if (problem)
		client_say_error(client, "%s", problem);
	else
		session_join(session, client, true);
}

void request_session(struct agent_client *client, struct str id)
{
	struct agent_session *session = session_of(client->agents, id);

	if (session && session->ending)
		client_say_error(client, ENDING);
	else if (session)
		session_join(session, client, true);
	else if (!uuid_valid(id))
		client_say_error(client, "session must be the id of an agent session");
	else
		resume_unknown(client, id);
}

/* ---- in a session ---- */

static bool is_goodbye(struct str text)
{
	while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]))
		text.len--;
	return str_is(text, "/exit") || str_is(text, "/quit");
}

static void prompt(struct agent_client *client, struct taken *taken)
{
	const struct agent_request *request = &taken->request;
	struct agent_session *session = client->session;
	const char *problem;

	if (!session) {
		client_say_error(
			client, "Cannot prompt in lobby — send connectFolder first");
		return;
	}
	if (!request->content.val && is_goodbye(request->text)) {
		if (session->ending)
			client_say_error(client, ENDING);
		else
			session_close(session);
		return;
	}
	if (taken->json.len == 0) {
		client_say_error(client, "prompt requires a text");
		return;
	}
	problem = session_prompt(session, client, &taken->json);
	if (problem)
		client_say_error(client, "%s", problem);
	else
		client_say_notice(client, "promptReceived");
}

static void abort_turn(struct agent_client *client)
{
	if (!client->session)
		client_say_error(
			client, "Cannot abort in lobby — send connectFolder first");
	else if (!session_abort(client->session))
		client_say_error(client, "Nothing to abort: no turn is in progress");
}

static void answer(struct agent_client *client, struct taken *taken)
{
	const char *problem;

	if (!client->session) {
		client_say_error(
			client, "Cannot answer in lobby — send connectFolder first");
		return;
	}
	problem = asks_answer(
		client->session, &taken->request, &taken->json, &taken->arena);
	if (problem)
		client_say_error(client, "%s", problem);
}

static void take_typed(struct agent_client *client, struct taken *taken)
{
	struct str type = taken->request.type;

	if (str_is(type, "listFolders")) {
		list_folders(client);
	} else if (str_is(type, "connectFolder")) {
		connect_folder(client, &taken->request);
	} else if (str_is(type, "prompt")) {
		prompt(client, taken);
	} else if (str_is(type, "abort")) {
		abort_turn(client);
	} else if (str_is(type, "permission") || str_is(type, "answer")) {
		answer(client, taken);
	} else {
		if (type.len > SHOWN_TYPE_BYTES)
			type.len = SHOWN_TYPE_BYTES;
		client_say_error(client, "Unknown message type: %.*s", STR_ARG(type));
	}
}

/* ---- how requests are taken ---- */

static void put_json(struct buf *out, yyjson_val *value)
{
	out->data = alloc_checked(yyjson_val_write(value, 0, &out->len));
	out->cap = out->len + 1;
}

/* What the program gets of it. */
static void render(struct taken *taken)
{
	const struct agent_request *r = &taken->request;
	const bool is_prompt = str_is(r->type, "prompt");

	if (is_prompt && r->content.val)
		put_json(&taken->json, r->content.val);
	else if (is_prompt && r->text.len > 0)
		buf_add_json_string(&taken->json, r->text);
	else if (!is_prompt && r->input.val)
		put_json(&taken->json, r->input.val);
}

/* On any thread. */
static void run(struct job *job)
{
	struct taken *taken = (struct taken *)job;

	taken->doc = proto_parse(taken->text, &taken->error);
	if (!taken->doc)
		return;
	taken->right = proto_decode(agent_request_type(), yyjson_doc_get_root(taken->doc),
			       "message", DECODE_LENIENT, &taken->arena, &taken->request,
			       &taken->error) == 0;
	if (taken->right)
		render(taken);
}

static void count(const struct taken *taken)
{
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "place", taken->beside ? "thread" : "loop");
	metric_add(METRIC_AGENT_INPUT, &labels, (double)taken->text.len);
}

static void free_taken(void *arg)
{
	struct taken *taken = arg;

	buf_free(&taken->json);
	arena_free(&taken->arena);
	yyjson_doc_free(taken->doc);
	free(taken);
}

static void done(struct job *job)
{
	struct taken *taken = (struct taken *)job;
	struct agent_client *client = client_of(taken->agents, str_of(taken->client_id));

	count(taken);
	if (client && taken->beside)
		client->requests_beside--;
	if (client && !taken->doc)
		client_say_error(client, "Invalid JSON from client");
	else if (client && !taken->right)
		client_say_error(client, "%s", taken->error.text);
	else if (client)
		take_typed(client, taken);
	bus_answer(taken->bus_request, STR_LIT("{}"));
	/* What was read beside the loop is freed there: a million values take their time. */
	jobs_release(taken->beside ? taken->agents->jobs : NULL, free_taken, taken);
}

void requests_serve(void *arg, struct bus_request *request, const void *message)
{
	const struct agent_message *m = message;
	struct agents *a = arg;
	struct agent_client *client = client_of(a, m->connection_id);
	struct taken *taken;

	if (!client) {
		bus_answer_error(request, "NOT_FOUND", (struct str){NULL, 0},
			"The client is not known: connect again");
		return;
	}
	taken = xcalloc(1, sizeof(*taken));
	taken->job = (struct job){.run = run, .done = done};
	taken->agents = a;
	taken->bus_request = request;
	taken->text = m->text;
	snprintf(taken->client_id, sizeof(taken->client_id), "%s", client->id);
	taken->beside = m->text.len > AT_ONCE_BYTES || client->requests_beside > 0 ||
			(client->session && client->session->beginning);
	if (taken->beside) {
		client->requests_beside++;
		jobs_add(a->jobs, &taken->job);
	} else {
		run(&taken->job);
		done(&taken->job);
	}
}

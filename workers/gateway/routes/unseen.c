/* unseen.c - see unseen.h. */
#include "workers/gateway/routes/unseen.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/ws/ws_server.h"

#define OPEN_FILE "editor:open_file"

static const char *const kept_types[] = {
	OPEN_FILE,
	"editor:highlight_lines",
	"editor:clear_highlights",
	"explorer:hint_files",
	"explorer:clear_hints",
	"coaching:message",
	"coaching:issue_context",
};

static struct {
	struct {
		struct str type;
		struct payload *payload;
	} items[UNSEEN_MAX];
	size_t count, bytes;
	bool session;
} unseen;

static bool is_kept(struct str type)
{
	for (size_t i = 0; i < sizeof(kept_types) / sizeof(kept_types[0]); i++)
		if (str_is(type, kept_types[i]))
			return true;
	return false;
}

static void drop_oldest(void)
{
	unseen.bytes -= unseen.items[0].payload->len;
	payload_unref(unseen.items[0].payload);
	unseen.count--;
	memmove(&unseen.items[0], &unseen.items[1],
		unseen.count * sizeof(unseen.items[0]));
}

void unseen_set_session(bool active)
{
	unseen.session = active;
}

bool unseen_keeps(void)
{
	return unseen.session;
}

void unseen_forget(void)
{
	while (unseen.count > 0)
		drop_oldest();
}

/* A file is shown as it is when a window is there: only its path is kept. */
static struct payload *path_of(const struct payload *payload)
{
	struct str path = json_slice_member(payload_str(payload), "path");
	struct payload *kept;
	AUTO_BUF json = {0};

	buf_printf(&json, "{\"path\":%.*s}", STR_ARG(path));
	kept = payload_new(buf_str(&json));
	return kept;
}

void unseen_keep(struct str type, struct payload *payload)
{
	if (!unseen.session || !is_kept(type))
		return;
	payload = str_is(type, OPEN_FILE) ? path_of(payload) : payload_ref(payload);
	while (unseen.count == UNSEEN_MAX ||
		(unseen.count > 0 && unseen.bytes + payload->len > UNSEEN_MAX_BYTES))
		drop_oldest();
	unseen.items[unseen.count].type = type;
	unseen.items[unseen.count++].payload = payload;
	unseen.bytes += payload->len;
}

static void on_shown(void *arg, const struct bus_reply *reply)
{
	(void)arg;
	if (reply->status != BUS_OK)
		log_info("a file that a tool opened is not shown", "why", "%.*s",
			STR_ARG(reply->message), NULL);
}

void unseen_give(struct ws_client *client)
{
	struct gateway *g = client->server->gateway;

	for (size_t i = 0; i < unseen.count; i++) {
		struct str type = unseen.items[i].type;

		if (str_is(type, OPEN_FILE))
			bus_call(g->bus, METHOD_FS_SHOW_AGAIN, (struct str){NULL, 0},
				payload_str(unseen.items[i].payload), 0, on_shown, NULL);
		else
			ws_answer(client, type, unseen.items[i].payload,
				(struct str){NULL, 0});
	}
	unseen_forget();
}

/*
 * main.c - paige-demo: runs a program with a scripted Claude beside it, for looking at
 * Paige without an API key. `paige-demo PROGRAM [ARGUMENT...]`
 *
 * Listens on 127.0.0.1, gives PROGRAM an ANTHROPIC_BASE_URL that leads here, a
 * placeholder for a key and CLAUDE_SCRIPTED, hands on signals, and ends with the program's own exit code.
 * Never used when there is a key.
 */
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/codec.h"
#include "workers/llm/demo/api_rules.h"
#include "workers/llm/demo/script.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BODY_MAX_BYTES (32 * 1024 * 1024)
#define EXIT_NOT_STARTED 127

struct demo {
	struct event_base *base;
	struct evhttp *http;
	pid_t child;
	int status; /* of the child, as waitpid gives it */
	unsigned answers;
};

/* ---- answers ---- */

static void send_json(struct evhttp_request *request, int status, const struct buf *body)
{
	struct evbuffer *out = evbuffer_new();

	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
		"application/json");
	evbuffer_add(out, body->data, body->len);
	evhttp_send_reply(request, status, NULL, out);
	evbuffer_free(out);
}

static void send_refusal(struct evhttp_request *request, const struct api_refusal *r)
{
	AUTO_BUF body = {0};

	buf_printf(&body,
		"{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":", r->type);
	buf_add_json_string(&body, str_of(r->message));
	buf_add_str(&body, STR_LIT("}}"));
	log_warn("request refused", "status", "%d", r->status, "why", "%s", r->message,
		NULL);
	send_json(request, r->status, &body);
}

static void add_event(struct evbuffer *out, const char *name, const struct buf *data)
{
	evbuffer_add_printf(out, "event: %s\ndata: ", name);
	evbuffer_add(out, data->data, data->len);
	evbuffer_add(out, "\n\n", 2);
}

static void add_plain_event(struct evbuffer *out, const char *name, const char *data)
{
	evbuffer_add_printf(out, "event: %s\ndata: %s\n\n", name, data);
}

/* The whole stream at once: a script does not think. */
static void send_stream(struct evhttp_request *request, struct str model, struct str text,
	unsigned number)
{
	struct evbuffer *out = evbuffer_new();
	AUTO_BUF data = {0};

	buf_printf(&data,
		"{\"type\":\"message_start\",\"message\":{\"id\":\"msg_demo_%u\","
		"\"type\":\"message\",\"role\":"
		"\"assistant\",\"model\":",
		number);
	buf_add_json_string(&data, model);
	buf_add_str(&data, STR_LIT(",\"content\":[],\"stop_reason\":null,\"usage\":{"
				   "\"input_tokens\":0,"
				   "\"output_tokens\":0}}}"));
	add_event(out, "message_start", &data);
	add_plain_event(out, "content_block_start",
		"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{"
		"\"type\":\"text\",\"text\":\"\"}}");
	buf_clear(&data);
	buf_add_str(&data, STR_LIT("{\"type\":\"content_block_delta\",\"index\":0,"
				   "\"delta\":{\"type\":"
				   "\"text_delta\",\"text\":"));
	buf_add_json_string(&data, text);
	buf_add_str(&data, STR_LIT("}}"));
	add_event(out, "content_block_delta", &data);
	add_plain_event(out, "content_block_stop",
		"{\"type\":\"content_block_stop\",\"index\":0}");
	add_plain_event(out, "message_delta",
		"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\","
		"\"stop_sequence\":null},"
		"\"usage\":{\"output_tokens\":0}}");
	add_plain_event(out, "message_stop", "{\"type\":\"message_stop\"}");
	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
		"text/event-stream");
	evhttp_send_reply(request, 200, NULL, out);
	evbuffer_free(out);
}

static void send_message(struct evhttp_request *request, struct str model,
	struct str text, unsigned number)
{
	AUTO_BUF body = {0};

	buf_printf(&body,
		"{\"id\":\"msg_demo_%u\",\"type\":\"message\",\"role\":\"assistant\","
		"\"model\":",
		number);
	buf_add_json_string(&body, model);
	buf_add_str(&body, STR_LIT(",\"content\":[{\"type\":\"text\",\"text\":"));
	buf_add_json_string(&body, text);
	buf_add_str(&body, STR_LIT("}],\"stop_reason\":\"end_turn\",\"stop_sequence\":"
				   "null,\"usage\":{"
				   "\"input_tokens\":0,\"output_tokens\":0}}"));
	send_json(request, 200, &body);
}

static void answer(struct demo *demo, struct evhttp_request *request, yyjson_val *body)
{
	yyjson_val *model = yyjson_obj_get(body, "model");
	struct str name = {yyjson_get_str(model), yyjson_get_len(model)};
	AUTO_BUF text = {0};

	script_answer(body, &text);
	demo->answers++;
	if (yyjson_is_true(yyjson_obj_get(body, "stream")))
		send_stream(request, name, buf_str(&text), demo->answers);
	else
		send_message(request, name, buf_str(&text), demo->answers);
}

static void on_messages(struct evhttp_request *request, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
	struct evbuffer *in = evhttp_request_get_input_buffer(request);
	size_t len = evbuffer_get_length(in);
	AUTO_DOC *doc = yyjson_read((char *)evbuffer_pullup(in, -1), len, 0);
	const struct api_headers found = {.key = evhttp_find_header(headers, "x-api-key"),
		.version = evhttp_find_header(headers, "anthropic-version"),
		.content_type = evhttp_find_header(headers, "content-type")};
	struct api_refusal refusal = api_check(&found, yyjson_doc_get_root(doc));

	if (evhttp_request_get_command(request) != EVHTTP_REQ_POST)
		evhttp_send_error(request, HTTP_BADMETHOD, NULL);
	else if (refusal.status)
		send_refusal(request, &refusal);
	else
		answer(arg, request, yyjson_doc_get_root(doc));
}

/* ---- the program beside it ---- */

static void on_signal(evutil_socket_t signal_number, short events, void *arg)
{
	const struct demo *demo = arg;

	(void)events;
	if (demo->child > 0)
		kill(demo->child, (int)signal_number);
}

static void on_child(EVENT_UNUSED, void *arg)
{
	struct demo *demo = arg;

	if (waitpid(demo->child, &demo->status, WNOHANG) == demo->child)
		event_base_loopbreak(demo->base);
}

static int listen_on_loopback(struct demo *demo, char url[64])
{
	struct evhttp_bound_socket *bound =
		evhttp_bind_socket_with_handle(demo->http, "127.0.0.1", 0);
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	if (!bound || getsockname(evhttp_bound_socket_get_fd(bound),
			      (struct sockaddr *)&address, &size) < 0)
		return -1;
	snprintf(url, 64, "http://127.0.0.1:%d", ntohs(address.sin_port));
	return 0;
}

static pid_t start(char **argv, const char *url)
{
	pid_t parent = getpid(), child = fork();

	if (child != 0)
		return child;
	setpgid(0, 0); /* so that Ctrl-C reaches it once, handed on */
	setenv("ANTHROPIC_BASE_URL", url, 1);
	setenv("ANTHROPIC_API_KEY", "demo", 1);
	setenv("CLAUDE_SCRIPTED", "yes", 1);
	if (getppid() == parent)
		execvp(argv[0], argv);
	fprintf(stderr, "paige-demo: %s: %s\n", argv[0], strerror(errno));
	_exit(EXIT_NOT_STARTED);
}

static int run(struct demo *demo, char **argv)
{
	static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP};
	char url[64];

	demo->base = event_base_new();
	demo->http = evhttp_new(demo->base);
	if (listen_on_loopback(demo, url) < 0) {
		perror("paige-demo: listening on 127.0.0.1");
		return 1;
	}
	evhttp_set_max_body_size(demo->http, BODY_MAX_BYTES);
	evhttp_set_cb(demo->http, "/v1/messages", on_messages, demo);
	event_add(evsignal_new(demo->base, SIGCHLD, on_child, demo), NULL);
	for (size_t i = 0; i < sizeof(handed_on) / sizeof(handed_on[0]); i++)
		event_add(evsignal_new(demo->base, handed_on[i], on_signal, demo), NULL);
	log_info("a script answers in Claude's place; every answer says so", "url", "%s",
		url, NULL);
	demo->child = start(argv, url);
	if (demo->child < 0) {
		perror("paige-demo: fork");
		return 1;
	}
	event_base_dispatch(demo->base);
	return WIFEXITED(demo->status) ? WEXITSTATUS(demo->status)
				       : 128 + WTERMSIG(demo->status);
}

int main(int argc, char **argv)
{
	struct demo demo = {0};

	if (argc < 2 || strcmp(argv[1], "--help") == 0) {
		printf("usage: paige-demo PROGRAM [ARGUMENT...]\n\n"
		       "Runs PROGRAM with a scripted fake of the Claude API, so that you "
		       "can\n"
		       "try Paige without an API key. Every answer says that it comes "
		       "from a\n"
		       "script.\n");
		return argc < 2 ? 2 : 0;
	}
	log_init("demo", LOG_LEVEL_INFO);
	return run(&demo, argv + 1);
}

/* supervisor_ask.c - see supervisor_ask.h. */
#include "workers/gateway/daemon/supervisor_ask.h"
#include "common/base/alloc.h"
#include "proto/tables/errors.h"
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Questions in flight; the supervisor takes as many. */
#define ASKINGS_MAX 8
/* Of an answer. */
#define ANSWER_MAX_BYTES (1024 * 1024)
/* For an answer; a restart waits for the worker, and the supervisor knows for how long. */
#define ANSWER_MS 10000
#define RESTART_MS 300000
#define DOCTOR_MS 60000

struct asking {
	supervisor_answer_fn *fn;
	void *arg;
	struct bufferevent *io;
};

static int asking_count;

/* Ends the question with its answer. */
static void finish(struct asking *a, const struct supervisor_answer *result)
{
	asking_count--;
	a->fn(a->arg, result);
	if (a->io)
		bufferevent_free(a->io);
	free(a);
}

static void fail(struct asking *a, enum error_code code, const char *text)
{
	finish(a, &(struct supervisor_answer){
			  .code = error_code_infos[code].name, .text = str_of(text)});
}

/* Of an error of the supervisor. */
static const char *code_of(yyjson_val *root)
{
	const int code =
		error_code_by_name(str_of(yyjson_get_str(yyjson_obj_get(root, "code"))));

	return error_code_infos[code < 0 ? ERROR_INTERNAL_ERROR : code].name;
}

static void take_answer(struct asking *a, struct str line)
{
	struct proto_error error;
	AUTO_DOC *doc = proto_parse(line, &error);
	yyjson_val *root = yyjson_doc_get_root(doc),
		   *problem = yyjson_obj_get(root, "error");

	if (!doc)
		fail(a, ERROR_INTERNAL_ERROR, error.text);
	else if (yyjson_is_str(problem))
		finish(a, &(struct supervisor_answer){.code = code_of(root),
				  .text = {yyjson_get_str(problem),
					  yyjson_get_len(problem)}});
	else
		finish(a, &(struct supervisor_answer){.line = line, .root = root});
}

static void on_read(struct bufferevent *io, void *arg)
{
	struct asking *a = arg;
	struct evbuffer *in = bufferevent_get_input(io);
	size_t len;
	AUTO_FREE char *line = evbuffer_readln(in, &len, EVBUFFER_EOL_LF);

	if (line)
		take_answer(a, (struct str){line, len});
	else if (evbuffer_get_length(in) > ANSWER_MAX_BYTES)
		fail(a, ERROR_INTERNAL_ERROR, "The supervisor's answer is too long");
}

static void on_event(struct bufferevent *io, short what, void *arg)
{
	struct asking *a = arg;

	(void)io;
	if (what & BEV_EVENT_TIMEOUT)
		fail(a, ERROR_TIMEOUT, "The supervisor did not answer in time");
	else
		fail(a, ERROR_UNAVAILABLE,
			"The supervisor has too much to answer; try again in a moment");
}

/* False when the connection cannot be made. */
static bool connect_asking(struct asking *a, struct worker *worker, int deadline_ms)
{
	const struct timeval limit = {
		.tv_sec = deadline_ms / 1000, .tv_usec = deadline_ms % 1000 * 1000};
	int ends[2];
	bool sent;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
		return false;
	sent = worker_ask_supervisor(worker, ends[1]);
	close(ends[1]);
	if (sent)
		a->io = bufferevent_socket_new(
			worker->base, ends[0], BEV_OPT_CLOSE_ON_FREE);
	if (!a->io) {
		close(ends[0]);
		return false;
	}
	bufferevent_setcb(a->io, on_read, NULL, on_event, a);
	bufferevent_set_timeouts(a->io, &limit, &limit);
	bufferevent_setwatermark(a->io, EV_READ, 0, ANSWER_MAX_BYTES + 1);
	bufferevent_enable(a->io, EV_READ | EV_WRITE);
	return true;
}

static int usual_deadline_ms(enum ctl_command command)
{
	return command == CTL_RESTART  ? RESTART_MS
	       : command == CTL_DOCTOR ? DOCTOR_MS
				       : ANSWER_MS;
}

void supervisor_ask(struct worker *worker, const struct ctl_request *request,
	int deadline_ms, supervisor_answer_fn *fn, void *arg)
{
	struct asking *a = xcalloc(1, sizeof(*a));
	AUTO_BUF line = {0};

	if (deadline_ms == 0)
		deadline_ms = usual_deadline_ms((enum ctl_command)request->command);
	*a = (struct asking){.fn = fn, .arg = arg};
	if (asking_count++ >= ASKINGS_MAX || !connect_asking(a, worker, deadline_ms)) {
		fail(a, ERROR_BUSY,
			"The supervisor has too much to answer; try again in a moment");
		return;
	}
	proto_encode(ctl_request_type(), request, &line);
	buf_add_char(&line, '\n');
	bufferevent_write(a->io, line.data, line.len);
}

/* ctl.c - see ctl.h. Called by daemon.c. */
#include "supervisor/paiged/ctl.h"
#include "common/base/alloc.h"
#include "common/loop/timer.h"

#include "common/base/log.h"
#include "common/base/pass_fd.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "supervisor/paiged/doctor.h"
#include "supervisor/paiged/reload.h"
#include "supervisor/paiged/status.h"
#include "supervisor/paiged/tap.h"
#include "supervisor/shared/places.h"
#include "supervisor/shared/settings_report.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 32
#define LINE_MAX_BYTES 4096
/* All problems of the settings. */
#define ERROR_MAX_BYTES 8000
/* For sending a request, and for taking the answer. */
#define TALK_SECONDS 10
/* Of the clients, connections of the gateway: others find a place whatever it does. */
#define GATEWAY_CLIENTS_MAX 8
#define LOG_LINES_DEFAULT 100
/* Who asks again and again, such as `paigectl top`, sees the load of the last seconds. */
#define STATUS_SAMPLE_MS 5000
#define ANCESTORS_MAX 64
/* Longer than the doctor may take. */
#define DOCTOR_SECONDS 60

struct ctl_client {
	struct ctl *ctl;
	LIST_ENTRY(ctl_client) link;
	struct bufferevent *io;
	struct event *deadline; /* of a restart or an examination */
	struct mono asked_at;
	bool waiting[WORKER_COUNT]; /* for these to be READY, or DOWN: */
	bool stopping;
	unsigned starts[WORKER_COUNT]; /* with more starts than this */
	bool closing;		       /* as soon as the answer is sent */
	bool tapping;		       /* until it leaves */
	bool of_gateway;	       /* asks for windows; may not ask for all */
	bool doctoring;		       /* waits for the doctor */
	bool reloading;		       /* the answer tells what became of the settings: */
	enum reload_change changes[SETTING_COUNT];
};

struct ctl {
	struct daemon *daemon;
	int fd;
	char path[108];
	struct event *accept;
	LIST_HEAD(, ctl_client) clients;
	int count;
	struct tap tap;
	struct doctor_run doctor;
};

/* ---- clients ---- */

static void drop(struct ctl_client *c)
{
	LIST_REMOVE(c, link);
	c->ctl->count--;
	if (c->tapping)
		tap_close(&c->ctl->tap);
	bufferevent_free(c->io);
	event_free(c->deadline);
	free(c);
}

static void answer(struct ctl_client *c, struct buf *json)
{
	buf_add_char(json, '\n');
	bufferevent_write(c->io, json->data, json->len);
	buf_free(json);
	evtimer_del(c->deadline);
	c->closing = true;
}

__attribute__((format(printf, 3, 4))) static void answer_error(
	struct ctl_client *c, enum error_code code, const char *format, ...)
{
	struct buf json = {0};
	char text[ERROR_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	proto_encode(ctl_error_type(),
		&(struct ctl_error){.error = str_of(text),
			.code = str_of(error_code_infos[code].name)},
		&json);
	answer(c, &json);
}

static void answer_done(struct ctl_client *c)
{
	struct ctl_done done = {
		.took_ms = mono_diff_ms(clock_mono(), c->asked_at), .has_took_ms = true};
	struct buf json = {0};

	proto_encode(ctl_done_type(), &done, &json);
	answer(c, &json);
}

static void answer_reloaded(struct ctl_client *c)
{
	struct str changed[SETTING_COUNT], later[SETTING_COUNT], restarted[WORKER_COUNT];
	struct ctl_reloaded reloaded = {
		.took_ms = mono_diff_ms(clock_mono(), c->asked_at),
		.has_took_ms = true,
		.changed = {.items = changed},
		.later = {.items = later},
		.restarted = {.items = restarted}};
	struct buf json = {0};

	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct str name = str_of(setting_info((enum setting_id)i)->name);

		if (c->changes[i] == RELOAD_CHANGED)
			changed[reloaded.changed.count++] = name;
		else if (c->changes[i] == RELOAD_LATER)
			later[reloaded.later.count++] = name;
	}
	for (int i = 0; i < WORKER_COUNT; i++)
		if (c->waiting[i])
			restarted[reloaded.restarted.count++] =
				str_of(worker_infos[i].name);
	proto_encode(ctl_reloaded_type(), &reloaded, &json);
	answer(c, &json);
}

/* ---- restart ---- */

/* Answers when all that it waits for have come back, or one will not. */
static void check_restart(struct ctl_client *c)
{
	const struct process_table *ps = &c->ctl->daemon->processes;
	bool waiting = false;

	if (c->closing)
		return;
	for (int i = 0; i < WORKER_COUNT; i++) {
		const struct process *p = &ps->workers[i];
		AUTO_BUF how = {0};

		if (!c->waiting[i])
			continue;
		if (c->stopping) {
			waiting |= p->policy.state != POLICY_DOWN;
			continue;
		}
		if (p->policy.state == POLICY_PARKED) {
			exit_reason_print(&p->last, &how);
			answer_error(c, ERROR_UNAVAILABLE, "%s is parked: %.*s",
				worker_infos[i].name, STR_ARG(buf_str(&how)));
			return;
		}
		waiting |= p->policy.state != POLICY_READY ||
			   p->policy.starts <= c->starts[i];
	}
	if (ps->shared.stopping)
		answer_error(c, ERROR_UNAVAILABLE, "the daemon is stopping");
	else if (!waiting && c->reloading)
		answer_reloaded(c);
	else if (!waiting)
		answer_done(c);
}

static void on_deadline(EVENT_UNUSED, void *arg)
{
	struct ctl_client *c = arg;
	const struct process_table *ps = &c->ctl->daemon->processes;

	for (int i = 0; i < WORKER_COUNT; i++) {
		if (c->waiting[i] &&
			(c->stopping || ps->workers[i].policy.state != POLICY_READY)) {
			answer_error(c, ERROR_TIMEOUT,
				"%s did not %s in time; it is %s. See "
				"`paigectl logs %s`.",
				worker_infos[i].name,
				c->stopping ? "stop" : "become ready",
				process_state_name(&ps->workers[i]),
				worker_infos[i].name);
			return;
		}
	}
	answer_error(c, ERROR_TIMEOUT, "%s took too long",
		c->doctoring ? "`paigectl doctor`" : "the restart");
}

/* As long as the slowest of them may take to stop and start. */
static void wait_for_workers(struct ctl_client *c)
{
	struct timeval limit = {0};

	for (int i = 0; i < WORKER_COUNT; i++) {
		int64_t seconds = (worker_infos[i].start_deadline_ms +
					  worker_infos[i].stop_grace_ms) /
					  1000 +
				  5;

		if (c->waiting[i] && seconds > limit.tv_sec)
			limit.tv_sec = seconds;
	}
	evtimer_add(c->deadline, &limit);
}

/* The worker of a request, or -1 after having answered why not. */
static int find_worker(struct ctl_client *c, struct str worker)
{
	struct process_table *ps = &c->ctl->daemon->processes;
	int id = worker.ptr ? worker_by_name(worker) : -1;

	if (ps->shared.stopping)
		answer_error(c, ERROR_UNAVAILABLE, "the daemon is stopping");
	else if (!worker.ptr)
		answer_error(c, ERROR_INVALID_MESSAGE, "worker: is missing");
	else if (id < 0)
		answer_error(c, ERROR_NOT_FOUND, "there is no worker \"%.*s\"",
			STR_ARG(worker));
	else if (!process_enabled(&ps->workers[id]))
		answer_error(c, ERROR_NOT_ALLOWED, "%s is not running: %s is not set",
			worker_infos[id].name, worker_infos[id].needs_setting);
	else
		return id;
	return -1;
}

static void log_asked(const struct ctl_client *c, enum worker_id id, const char *what)
{
	log_info(what, "name", "%s", worker_infos[id].name, "by", "%s",
		c->of_gateway ? "a window" : "paigectl", NULL);
}

static void restart_one(struct ctl_client *c, enum worker_id id)
{
	struct process *p = &c->ctl->daemon->processes.workers[id];

	c->waiting[id] = true;
	c->starts[id] = p->policy.starts;
	log_asked(c, id, "restart asked for");
	process_step(p, POLICY_RESTART);
}

static void restart(struct ctl_client *c, struct str worker)
{
	struct process_table *ps = &c->ctl->daemon->processes;
	int only;

	if (worker.ptr) {
		only = find_worker(c, worker);
		if (only < 0)
			return;
		ps->workers[only].held = false;
		restart_one(c, (enum worker_id)only);
	} else if (ps->shared.stopping) {
		answer_error(c, ERROR_UNAVAILABLE, "the daemon is stopping");
		return;
	}
	for (int i = 0; i < WORKER_COUNT && !worker.ptr; i++)
		if (process_wanted(&ps->workers[i]))
			restart_one(c, (enum worker_id)i);
	wait_for_workers(c);
	check_restart(c); /* there may be none */
}

static void start(struct ctl_client *c, struct str worker)
{
	int id = find_worker(c, worker);
	struct process *p;

	if (id < 0)
		return;
	p = &c->ctl->daemon->processes.workers[id];
	p->held = false;
	c->waiting[id] = true;
	/* The start that is under way, or was before, is the one to wait for. */
	c->starts[id] = p->policy.starts - (p->policy.state == POLICY_STARTING ||
						   p->policy.state == POLICY_READY);
	log_asked(c, (enum worker_id)id, "start asked for");
	process_step(p, POLICY_WANT_UP);
	wait_for_workers(c);
	check_restart(c);
}

/* It stays down: others are told, and nothing but a start that names it ends that. */
static void stop_worker(struct ctl_client *c, struct str worker)
{
	int id = find_worker(c, worker);
	struct process *p;

	if (id < 0)
		return;
	p = &c->ctl->daemon->processes.workers[id];
	p->held = true;
	c->waiting[id] = c->stopping = true;
	log_asked(c, (enum worker_id)id, "stop asked for");
	process_step(p, POLICY_WANT_DOWN);
	wait_for_workers(c);
	check_restart(c);
}

/* The gateway is started anew, which also ends what was let in with the old token. */
static void rotate_token(struct ctl_client *c)
{
	struct daemon *d = c->ctl->daemon;
	int error = d->processes.shared.stopping ? 0 : daemon_rotate_token(d);

	if (error)
		answer_error(c, ERROR_FILE_ERROR, "cannot write the token to %s: %s",
			d->settings.data_dir, strerror(-error));
	else if (process_wanted(&d->processes.workers[WORKER_GATEWAY]))
		restart(c, str_of(worker_infos[WORKER_GATEWAY].name));
	else
		answer_done(c);
}

/* ---- reload ---- */

/* Answers when what the reload has started anew is ready. */
static void reload(struct ctl_client *c)
{
	struct process_table *ps = &c->ctl->daemon->processes;
	AUTO_BUF problems = {0};
	int error = reload_settings(c->ctl->daemon, c->changes, &problems);

	if (error == -ESHUTDOWN)
		answer_error(c, ERROR_UNAVAILABLE, "the daemon is stopping");
	else if (error)
		answer_error(c, ERROR_NOT_ALLOWED,
			"the settings are wrong, so the old ones stay:\n%.*s",
			STR_ARG(buf_str(&problems)));
	if (error)
		return;
	log_info("reload asked for", "by", "%s", "paigectl", NULL);
	c->reloading = true;
	for (int i = 0; i < WORKER_COUNT; i++) {
		const struct policy *p = &ps->workers[i].policy;

		if (!process_wanted(&ps->workers[i]) || p->state == POLICY_READY)
			continue;
		c->waiting[i] = true;
		/* The start that is under way is the one to wait for. */
		c->starts[i] = p->starts - (p->state == POLICY_STARTING);
	}
	wait_for_workers(c);
	check_restart(c);
}

/* ---- tap ---- */

/* The answer to tap, with the reading end of the pipe. */
static bool send_reader(int client, int reader)
{
	AUTO_BUF json = {0};

	proto_encode(ctl_done_type(), &(struct ctl_done){.has_took_ms = true}, &json);
	buf_add_char(&json, '\n');
	return pass_fd(client, (struct iovec){json.data, json.len}, reader);
}

/* The connection stays open for as long as the client looks. */
static void start_tap(struct ctl_client *c)
{
	struct ctl *ctl = c->ctl;
	int reader, error;
	bool sent;

	if (ctl->tap.open) {
		answer_error(c, ERROR_BUSY,
			"somebody else is looking; end that paigectl tap first");
		return;
	}
	error = tap_open(&ctl->tap, &reader);
	if (error) {
		answer_error(c, ERROR_INTERNAL_ERROR, "cannot make a pipe: %s",
			strerror(-error));
		return;
	}
	c->tapping = true;
	sent = send_reader(bufferevent_getfd(c->io), reader);
	close(reader);
	if (!sent) {
		drop(c);
		return;
	}
	bufferevent_set_timeouts(c->io, NULL, NULL);
	bufferevent_enable(c->io, EV_READ);
	tap_offer(&ctl->tap, &ctl->daemon->processes);
}

/* ---- doctor ---- */

static void on_examined(void *arg, struct str report, const char *problem)
{
	struct ctl *ctl = arg;
	struct buf json = {0};
	struct ctl_client *c;

	if (!report.ptr)
		log_warn("paigectl doctor failed", "reason", "%s", problem, NULL);
	LIST_FOREACH(c, &ctl->clients, link)
	{
		if (!c->doctoring || c->closing)
			continue;
		if (report.ptr) {
			buf_add_str(&json, report);
			answer(c, &json);
		} else {
			answer_error(c, ERROR_INTERNAL_ERROR,
				"`paigectl doctor` failed: %s", problem);
		}
	}
}

static void examine(struct ctl_client *c)
{
	const struct timeval limit = {.tv_sec = DOCTOR_SECONDS};
	int error = doctor_start(&c->ctl->doctor, c->ctl->daemon, on_examined, c->ctl);

	if (error) {
		answer_error(c, ERROR_INTERNAL_ERROR, "cannot run paigectl: %s",
			strerror(-error));
		return;
	}
	c->doctoring = true;
	evtimer_add(c->deadline, &limit);
}

/* ---- requests ---- */

static void answer_logs(struct ctl_client *c, const struct ctl_request *request)
{
	AUTO_ARENA arena = {0};
	struct recent_page page;
	struct ctl_logs logs;
	struct buf json = {0};

	if (!logs_recent(c->ctl->daemon->logs, request->worker,
		    &(struct recent_query){
			    .level = request->has_level ? (enum log_level)request->level
							: LOG_LEVEL_DEBUG,
			    .lines = request->has_lines ? (size_t)request->lines
							: LOG_LINES_DEFAULT,
			    .after = request->has_after ? request->after : -1,
			    .before = request->has_before ? request->before : -1},
		    &page, &arena)) {
		answer_error(c, ERROR_NOT_FOUND, "there is no log of \"%.*s\"",
			STR_ARG(request->worker));
		return;
	}
	logs = (struct ctl_logs){.lines = page.lines,
		.first = page.first,
		.has_first = page.first >= 0,
		.next = page.next,
		.has_next = true,
		.missed = page.missed,
		.has_missed = true};
	proto_encode(ctl_logs_type(), &logs, &json);
	answer(c, &json);
}

static bool may_serve(const struct ctl_client *c, const struct ctl_request *request)
{
	switch ((enum ctl_command)request->command) {
	case CTL_STATUS:
	case CTL_CONFIG:
	case CTL_LOGS:
	case CTL_DOCTOR:
		return true;
	case CTL_RESTART:
		return !c->of_gateway || request->worker.ptr;
	case CTL_START:
	case CTL_STOP:
	case CTL_TAP:
	case CTL_ROTATE_TOKEN:
	case CTL_RELOAD:
		return !c->of_gateway;
	}
	return false;
}

static void serve(struct ctl_client *c, const struct ctl_request *request)
{
	struct daemon *d = c->ctl->daemon;
	struct buf json = {0};

	switch ((enum ctl_command)request->command) {
	case CTL_STATUS:
		status_describe(d, &json);
		process_table_sample(&d->processes, STATUS_SAMPLE_MS);
		answer(c, &json);
		return;
	case CTL_CONFIG:
		settings_report(&d->settings, &json);
		answer(c, &json);
		return;
	case CTL_RESTART:
		restart(c, request->worker);
		return;
	case CTL_START:
		start(c, request->worker);
		return;
	case CTL_STOP:
		if (request->worker.ptr) {
			stop_worker(c, request->worker);
			return;
		}
		answer_done(c);
		daemon_stop(d, "paigectl stop", EXIT_SUCCESS);
		return;
	case CTL_TAP:
		start_tap(c);
		return;
	case CTL_ROTATE_TOKEN:
		rotate_token(c);
		return;
	case CTL_LOGS:
		answer_logs(c, request);
		return;
	case CTL_DOCTOR:
		examine(c);
		return;
	case CTL_RELOAD:
		reload(c);
		return;
	}
}

static void on_line(struct ctl_client *c, const char *line, size_t len)
{
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct ctl_request request;
	AUTO_DOC *doc = proto_parse((struct str){line, len}, &error);

	c->asked_at = clock_mono();
	if (!doc || proto_decode(ctl_request_type(), yyjson_doc_get_root(doc), "request",
			    DECODE_LENIENT, &arena, &request, &error) != 0)
		answer_error(c, ERROR_INVALID_MESSAGE, "%s", error.text);
	else if (!may_serve(c, &request))
		answer_error(c, ERROR_NOT_ALLOWED, "windows may not ask for this");
	else
		serve(c, &request);
}

static void on_read(struct bufferevent *io, void *arg)
{
	struct ctl_client *c = arg;
	struct evbuffer *in = bufferevent_get_input(io);
	size_t len;
	char *line;

	if (c->tapping) {
		/* Whatever it says: only its leaving counts. */
		evbuffer_drain(in, evbuffer_get_length(in));
		return;
	}
	line = evbuffer_readln(in, &len, EVBUFFER_EOL_LF);

	if (line) {
		/* One request for each connection. */
		bufferevent_disable(io, EV_READ);
		on_line(c, line, len);
		free(line);
	} else if (evbuffer_get_length(in) > LINE_MAX_BYTES) {
		drop(c);
	}
}

static void on_written(struct bufferevent *io, void *arg)
{
	struct ctl_client *c = arg;

	if (c->closing && evbuffer_get_length(bufferevent_get_output(io)) == 0)
		drop(c);
}

static void on_event(struct bufferevent *io, short what, void *arg)
{
	(void)io;
	(void)what; /* closed, failed or too slow: all the same */
	drop(arg);
}

/* ---- the socket ---- */

/* The parent of a process, 0 when it is not known. */
static pid_t parent_of(pid_t pid)
{
	char path[32], text[512];
	const char *end;
	int parent = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	/* "pid (name) state parent ...", where the name may hold anything. */
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end, ") %*c %d", &parent) != 1)
		return 0;
	return parent;
}

/* Every worker leads a session of its own. What it starts stays in it, or, in a session
 * of its own, among its descendants. */
static bool belongs_to_worker(const struct ctl *ctl, pid_t pid)
{
	pid_t session = getsid(pid);

	for (int step = 0; step < ANCESTORS_MAX && pid > 1; step++) {
		for (int i = 0; i < WORKER_COUNT; i++) {
			pid_t worker = ctl->daemon->processes.workers[i].pid;

			if (worker > 0 && (worker == pid || worker == session))
				return true;
		}
		pid = parent_of(pid);
	}
	return false;
}

/* Whether the process at the other end may ask. */
static bool may_ask(const struct ctl *ctl, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	if (peer.uid != geteuid() && peer.uid != 0)
		return false;
	return !belongs_to_worker(ctl, peer.pid);
}

static struct ctl_client *client_new(struct ctl *ctl, int fd)
{
	struct ctl_client *c = xcalloc(1, sizeof(*c));
	const struct timeval talk = {.tv_sec = TALK_SECONDS};

	c->ctl = ctl;
	c->io = alloc_checked(
		bufferevent_socket_new(ctl->daemon->base, fd, BEV_OPT_CLOSE_ON_FREE));
	c->deadline = alloc_checked(evtimer_new(ctl->daemon->base, on_deadline, c));
	bufferevent_setcb(c->io, on_read, on_written, on_event, c);
	bufferevent_set_timeouts(c->io, &talk, &talk);
	bufferevent_setwatermark(c->io, EV_READ, 0, LINE_MAX_BYTES + 1);
	bufferevent_enable(c->io, EV_READ | EV_WRITE);
	return c;
}

/* NULL when there is no room; `fd` is closed then. */
static struct ctl_client *add_client(struct ctl *ctl, int fd)
{
	struct ctl_client *c;

	if (ctl->count >= CLIENTS_MAX) {
		close(fd);
		return NULL;
	}
	c = client_new(ctl, fd);
	LIST_INSERT_HEAD(&ctl->clients, c, link);
	ctl->count++;
	return c;
}

static void on_accept(evutil_socket_t listening, short what, void *arg)
{
	struct ctl *ctl = arg;
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)what;
	if (fd < 0)
		return;
	if (!may_ask(ctl, fd)) {
		log_warn("refused a stranger on the control socket", NULL);
		close(fd);
		return;
	}
	add_client(ctl, fd);
}

void ctl_take(struct ctl *ctl, int fd)
{
	struct ctl_client *c;
	int count = 0;

	LIST_FOREACH(c, &ctl->clients, link)
	count += c->of_gateway;
	if (count >= GATEWAY_CLIENTS_MAX || evutil_make_socket_nonblocking(fd) != 0) {
		close(fd);
		return;
	}
	c = add_client(ctl, fd);
	if (c)
		c->of_gateway = true;
}

void ctl_on_change(struct ctl *ctl)
{
	struct ctl_client *c, *next;

	tap_offer(&ctl->tap, &ctl->daemon->processes);
	for (c = LIST_FIRST(&ctl->clients); c; c = next) {
		next = LIST_NEXT(c, link);
		for (int i = 0; i < WORKER_COUNT; i++) {
			if (c->waiting[i]) {
				check_restart(c);
				break;
			}
		}
	}
}

struct ctl *ctl_new(struct daemon *d)
{
	struct ctl *ctl = xcalloc(1, sizeof(*ctl));
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int error;

	ctl->daemon = d;
	snprintf(ctl->path, sizeof(ctl->path), "%.80s/" CTL_SOCKET, d->runtime_dir);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", ctl->path);
	ctl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(ctl->path); /* of a run that was killed; we hold the lock */
	if (ctl->fd >= 0 &&
		bind(ctl->fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
		listen(ctl->fd, CLIENTS_MAX) == 0)
		ctl->accept =
			event_new(d->base, ctl->fd, EV_READ | EV_PERSIST, on_accept, ctl);
	if (ctl->accept && event_add(ctl->accept, NULL) == 0)
		return ctl;
	error = errno;
	ctl_free(ctl);
	errno = error;
	return NULL;
}

pid_t ctl_child(const struct ctl *ctl)
{
	return ctl->doctor.pid;
}

bool ctl_in_place(const struct ctl *ctl)
{
	return access(ctl->path, F_OK) == 0 || errno != ENOENT;
}

void ctl_free(struct ctl *ctl)
{
	if (!ctl)
		return;
	while (!LIST_EMPTY(&ctl->clients))
		drop(LIST_FIRST(&ctl->clients));
	tap_close(&ctl->tap);
	doctor_stop(&ctl->doctor);
	if (ctl->accept)
		event_free(ctl->accept);
	if (ctl->fd >= 0)
		close(ctl->fd);
	unlink(ctl->path);
	free(ctl);
}

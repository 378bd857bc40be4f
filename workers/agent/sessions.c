/* sessions.c - agent sessions and their programs; see agents.h. */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "workers/agent/agents.h"
#include "workers/agent/paige_tools.h"
#include "workers/agent/process/command.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EARLY_ERROR_BYTES 4096
#define TOO_MANY "Too many agent sessions are there; end one with /exit"
#define NOT_RECORDED                                                                     \
	"The agent session could not be recorded; the log of the agent worker says why"

static int64_t now_ms(void)
{
	return clock_mono().us / 1000;
}

/* ---- who is there ---- */

struct agent_session *session_of(struct agents *a, struct str id)
{
	struct agent_session *s;

	LIST_FOREACH(s, &a->sessions, link)
	if (str_is(id, s->id))
		return s;
	return NULL;
}

struct agent_session *session_in(struct agents *a, const char *folder)
{
	struct agent_session *s;

	LIST_FOREACH(s, &a->sessions, link)
	if (strcmp(s->folder.path, folder) == 0)
		return s;
	return NULL;
}

/* After each change of them. */
static void show_counts(struct agents *a)
{
	AUTO_BUF out = {0};

	buf_printf(&out, "{\"sessions\":%zu,\"processes\":%zu}", a->session_count,
		a->process_count);
	worker_set_detail(a->worker, buf_str(&out));
	session_states_changed(a);
}

static void session_free(struct agent_session *s)
{
	struct agents *a = s->agents;
	struct agent_client *client;

	output_fini(s);
	talk_fini(s);
	LIST_FOREACH(client, &a->clients, link)
	if (client->session == s)
		client->session = NULL;
	log_info("agent session ended", "session", "%s", s->id, "folder", "%s",
		s->folder.path, NULL);
	LIST_REMOVE(s, link);
	a->session_count--;
	event_free(s->timer);
	close(s->folder.fd);
	record_close(&s->record);
	history_fini(&s->state.history);
	asks_forget(s);
	prompts_clear(&s->prompts);
	free(s);
	show_counts(a);
}

/* ---- what the idle machine says ---- */

static void end_session(struct agent_session *s)
{
	s->ending = true;
	session_states_changed(s->agents);
	if (s->process)
		process_stop(s->process, PROCESS_INTERRUPTED);
	/* Without a program there is nothing to wait for, but callers may still look at
	 * the session. */
	else
		event_active(s->timer, EV_TIMEOUT, 0);
}

static void heed(struct agent_session *s, const struct idle_driver_outcome *outcome)
{
	if (outcome->verdict == IDLE_DRIVER_RECHECK)
		log_info("agent session without clients is kept", "session", "%s", s->id,
			"why", "%s", outcome->reason, "look_again_ms", "%lld",
			(long long)outcome->delay_ms, NULL);
	if (outcome->verdict == IDLE_DRIVER_KILL && !s->ending) {
		log_info("agent session without clients is ended", "session", "%s", s->id,
			"why", "%s", outcome->reason, NULL);
		output_put_aside(s);
		end_session(s);
	}
}

static void arm(struct agent_session *s)
{
	int64_t deadline = idle_driver_deadline(&s->driver), left = deadline - now_ms();

	session_states_changed(s->agents);
	if (s->ending)
		return;
	if (deadline == MACHINE_NEVER) {
		event_del(s->timer);
		return;
	}
	event_add_ms(s->timer, left);
}

void session_happened(struct agent_session *s, int event)
{
	struct idle_driver_outcome outcome =
		idle_driver_event(&s->driver, event, now_ms());

	heed(s, &outcome);
	arm(s);
}

static void on_timer(EVENT_UNUSED, void *arg)
{
	struct agent_session *s = arg;
	struct idle_driver_outcome outcome;

	if (s->ending && !s->process) {
		if (!output_is_busy(s))
			session_free(s);
		return;
	}
	outcome = idle_driver_tick(&s->driver, now_ms());
	heed(s, &outcome);
	arm(s);
}

/* Takes folder.fd. NULL: too many sessions; the descriptor is closed then. */
static struct agent_session *session_new(
	struct agents *a, const char *id, struct folder folder)
{
	const struct settings *settings = a->worker->settings;
	const struct machine_defaults limits = {
		.idle_timeout_ms = settings->idle_timeout_ms,
		.max_idle_ms = settings->max_idle_ms,
		.stale_output_ms = settings->stale_output_ms};
	struct agent_session *s;

	if (a->session_count >= AGENTS_MAX_SESSIONS) {
		close(folder.fd);
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	if (idle_driver_init(&s->driver, &limits) < 0)
		abort(); /* the settings were checked */
	s->agents = a;
	s->folder = folder;
	s->record.fd = -1;
	prompts_init(&s->prompts);
	LIST_INIT(&s->asks);
	output_init(s);
	talk_init(s);
	snprintf(s->id, sizeof(s->id), "%s", id);
	s->timer = alloc_checked(event_new(a->worker->base, -1, 0, on_timer, s));
	LIST_INSERT_HEAD(&a->sessions, s, link);
	a->session_count++;
	show_counts(a);
	return s;
}

/* ---- what happens in a session ---- */

static void greet(struct agent_session *s, struct agent_client *client, bool resumed)
{
	const struct agent_connected connected = {.source = STR_LIT("bridge"),
		.type = STR_LIT("connected"),
		.session_id = str_of(s->id),
		.resumed = resumed,
		.has_resumed = true};
	const struct agent_history_start start = {.source = STR_LIT("bridge"),
		.type = STR_LIT("historyStart"),
		.events = (int64_t)s->state.history.count,
		.has_events = true,
		.dropped = (int64_t)s->state.history.dropped,
		.has_dropped = true};

	client_say(client, agent_connected_type(), &connected);
	if (s->state.history.count > 0) {
		client_say(client, agent_history_start_type(), &start);
		for (size_t i = 0; i + 1 < s->state.history.count; i++)
			client_send(client, history_at(&s->state.history, i));
		output_send_newest(s, client);
		client_say_notice(client, "historyEnd");
	}
}

void session_join(struct agent_session *s, struct agent_client *client, bool resumed)
{
	client->session = s;
	if (!s->beginning)
		greet(s, client, resumed);
	log_info("client joined", "session", "%s", s->id, "connection", "%s", client->id,
		NULL);
	session_happened(s, IDLE_CLIENT_CONNECTED);
}

void session_leave(struct agent_client *client)
{
	struct agent_session *s = client->session;

	if (!s)
		return;
	client->owed = false;
	client->session = NULL;
	log_info("client left", "session", "%s", s->id, "connection", "%s", client->id,
		NULL);
	session_happened(s, IDLE_CLIENT_DISCONNECTED);
}

/* ---- the beginning ---- */

static void log_not_recorded(const struct agent_session *s, int error)
{
	log_error("agent session not recorded", "session", "%s", s->id, "error", "%s",
		strerror(-error), NULL);
}

const char *session_begin(struct agents *a, const char *id, struct folder folder,
	bool known, struct agent_session **out)
{
	struct agent_session *s = session_new(a, id, folder);
	int r;

	*out = s;
	if (!s)
		return TOO_MANY;
	log_info("agent session begins", "session", "%s", s->id, "folder", "%s",
		s->folder.path, NULL);
	s->state.known = known;
	if (known) {
		s->beginning = true;
		output_begin(s);
		return NULL;
	}
	r = session_record(s);
	if (r < 0) {
		log_not_recorded(s, r);
		session_free(s);
		return NOT_RECORDED;
	}
	return NULL;
}

void session_begun(struct agent_session *s, int error)
{
	struct agent_client *client;

	s->beginning = false;
	if (error)
		log_not_recorded(s, error);
	LIST_FOREACH(client, &s->agents->clients, link)
	{
		if (client->session != s)
			continue;
		if (!error) {
			greet(s, client, true);
			continue;
		}
		session_leave(client);
		client_say_error(client, NOT_RECORDED);
	}
	if (error)
		end_session(s);
}

/* At once, while nobody is there to wait for it: who comes finds it in the history. */
static void record_lost_program(struct agent_session *s)
{
	/* How it ended is not known. */
	const struct agent_process_exit exit = {
		.source = STR_LIT("bridge"), .type = STR_LIT("processExit")};
	struct buf text = {0};

	proto_encode(agent_process_exit_type(), &exit, &text);
	session_write(s, RECORD_END, buf_str(&text));
	record_apply_taking(&s->state, RECORD_END, &text);
}

void session_restore(struct agents *a, const char *id, struct folder folder,
	struct record *record, struct record_state *state)
{
	struct agent_session *s = session_new(a, id, folder);

	assert(s); /* the caller has looked whether there is room */
	s->record = *record;
	s->state = *state;
	log_info("agent session restored", "session", "%s", s->id, "folder", "%s",
		s->folder.path, "events", "%zu", s->state.history.count, NULL);
	if (s->state.running)
		record_lost_program(s);
	/* Its clients went with the worker. */
	session_happened(s, IDLE_CLIENT_CONNECTED);
	session_happened(s, IDLE_CLIENT_DISCONNECTED);
}

/* ---- the program ---- */

/* `waited_for`: prompts that could not be written get no other answer. */
static void tell_end(struct agent_session *s, const struct process_end *end,
	bool waited_for, size_t kept_prompts)
{
	const bool early =
		end->uptime_ms < AGENTS_EARLY_MS || (waited_for && kept_prompts == 0);
	const struct reaper_report *r = &end->report;
	struct agent_process_exit message = {
		.source = STR_LIT("bridge"), .type = STR_LIT("processExit")};
	struct str errors = end->errors;
	char name[32];

	if (r->start_error) {
		session_tell_error(s, RECORD_END,
			"%s could not be started: %s. Check AGENT_COMMAND",
			s->agents->command[0], strerror(r->start_error));
		return;
	}
	if (errors.len > EARLY_ERROR_BYTES)
		errors.len = EARLY_ERROR_BYTES;
	if (r->code > 0 && early && !s->ending)
		session_tell_error(s, RECORD_MESSAGE,
			"CC process exited early (code %d, after %lld ms)%s%.*s", r->code,
			(long long)end->uptime_ms, errors.len ? ": " : "",
			STR_ARG(errors));
	if (r->code >= 0) {
		message.code = r->code;
		message.has_code = true;
	} else {
		snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(r->signal));
		message.signal = str_of(name);
	}
	message.has_kept_prompts = kept_prompts > 0;
	message.kept_prompts = (int64_t)kept_prompts;
	session_tell(s, RECORD_END, agent_process_exit_type(), &message);
}

static void stopped_when_last(struct agents *a)
{
	struct agent_session *s;

	if (!a->stopping || a->process_count > 0)
		return;
	LIST_FOREACH(s, &a->sessions, link)
	if (output_is_busy(s))
		return;
	worker_stopped(a->worker);
}

void session_settled(struct agent_session *s)
{
	if (s->ending && !s->process)
		event_active(s->timer, EV_TIMEOUT, 0);
	stopped_when_last(s->agents);
}

static void on_sweep_needed(struct agents *a)
{
	event_active(a->sweep, EV_TIMEOUT, 0);
}

static void on_end(void *arg, const struct process_end *end)
{
	struct agent_session *s = arg;
	struct agents *a = s->agents;
	bool waited_for;
	size_t kept;

	s->process = NULL;
	a->process_count--;
	log_info("agent ended", "session", "%s", s->id, "code", "%d", end->report.code,
		"signal", "%d", end->report.signal, "start_error", "%d",
		end->report.start_error, "uptime_ms", "%lld", (long long)end->uptime_ms,
		NULL);
	asks_cancel(s);
	waited_for = session_input_over(s);
	kept = session_keep_prompts(s, end);
	tell_end(s, end, waited_for, kept);
	show_counts(a);
	on_sweep_needed(a);
	if (s->ending) {
		event_active(s->timer, EV_TIMEOUT, 0);
	} else {
		session_happened(s,
			end->report.start_error ? IDLE_SPAWN_FAILED : IDLE_PROCESS_EXIT);
		if (kept > 0)
			session_send_kept(s);
	}
	stopped_when_last(a);
}

/* The file with Paige's MCP server, or NULL: an agent without it is better than none. */
static const char *give_tools(const struct agents *a, char path[PATH_MAX])
{
	const struct settings *settings = a->worker->settings;
	int r;

	if (settings->agent_mcp == AGENT_MCP_NONE)
		return NULL;
	r = paige_tools_write(settings->data_dir, a->worker->runtime_dir, path);
	if (r == 0)
		return path;
	log_warn("the agent is started without Paige's tools: their address and token "
		 "could not be written",
		"path", "%s", path, "error", "%s", strerror(-r), NULL);
	return NULL;
}

const char *session_start(struct agent_session *s)
{
	struct agents *a = s->agents;
	const struct process_events events = {
		.on_line = output_line, .on_end = on_end, .arg = s};
	/* What it keeps itself says more than what it was seen to do: it may have been
	 * killed at any moment. */
	const bool resume = s->state.known ||
			    folder_keeps_session(a->claude_dir, s->folder.path, s->id);
	AUTO_ARENA arena = {0};
	char mcp[PATH_MAX];
	const struct command_session session = {
		.id = s->id, .resume = resume, .mcp = give_tools(a, mcp)};

	output_started(s);
	s->aborted = false;
	s->process = process_new(a->worker->base,
		command_for_session(a->command, &session, &arena), a->environment,
		s->folder.fd, a->lock_fd, events);
	if (!s->process) {
		log_error("agent not started", "session", "%s", s->id, "error", "%s",
			strerror(errno), NULL);
		output_not_started(s);
		session_happened(s, IDLE_SPAWN_FAILED);
		return "The agent could not be started; the log of the agent worker says "
		       "why";
	}
	if (output_is_busy(s))
		process_pause(s->process);
	a->process_count++;
	log_info("agent started", "session", "%s", s->id, "reaper", "%d",
		(int)process_reaper(s->process), "resume", "%s", resume ? "yes" : "no",
		NULL);
	show_counts(a);
	return NULL;
}

void session_close(struct agent_session *s)
{
	const struct agent_session_closed closed = {.source = STR_LIT("bridge"),
		.type = STR_LIT("sessionClosed"),
		.deliberate = true,
		.has_deliberate = true};

	end_session(s);
	output_close(s, &closed);
}

void sessions_stop(struct agents *a)
{
	struct agent_session *s;

	a->stopping = true;
	LIST_FOREACH(s, &a->sessions, link)
	{
		output_go_on(s); /* its clients are not waited for any more */
		if (s->process)
			process_stop(s->process, PROCESS_TERMINATED);
	}
	stopped_when_last(a);
}

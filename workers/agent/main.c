/*
 * main.c - paige-agent, the worker that runs Claude Code (AGENT_COMMAND) under
 * supervision; and, with REAPER_ARGUMENT, the reaper of one agent (reaper.h).
 *
 * Not confined: an agent may do whatever its user may, and what holds for this process
 * would hold for it too. Strangers never talk to this process: the gateway checks who
 * connects.
 */
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "workers/agent/agents.h"
#include "workers/agent/process/command.h"
#include "workers/agent/process/descendants.h"
#include "workers/agent/process/environment.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define SWEEP_PAUSE_MS 50

static struct agents agents;

/* ---- what the gateway tells ---- */

static void serve_gateway(void *arg, struct bus_request *request, const void *message)
{
	const struct agent_gateway *gateway = message;
	struct agents *a = arg;

	if (!str_is(gateway->generation, a->gateway)) {
		snprintf(a->gateway, sizeof(a->gateway), "%.*s",
			STR_ARG(gateway->generation));
		while (!LIST_EMPTY(&a->clients))
			client_free(LIST_FIRST(&a->clients));
	}
	bus_answer(request, STR_LIT("{}"));
}

static void serve_connect(void *arg, struct bus_request *request, const void *message)
{
	const struct agent_connect *connect = message;
	struct agents *a = arg;
	struct agent_client *client = client_of(a, connect->connection_id);

	if (!client)
		client = client_new(a, connect->connection_id);
	if (!client) {
		bus_answer_error(request, "BUSY", (struct str){NULL, 0},
			"Too many clients are connected to agents");
		return;
	}
	if (connect->session.ptr)
		request_session(client, connect->session);
	if (!client->session)
		client_say_notice(client, "lobbyConnected");
	bus_answer(request, STR_LIT("{}"));
}

static void serve_read(void *arg, struct bus_request *request, const void *message)
{
	const struct agent_read *m = message;
	struct agent_client *client = client_of(arg, m->connection_id);

	if (client)
		client_has_read(client, (size_t)m->bytes);
	bus_answer(request, STR_LIT("{}"));
}

static void serve_disconnect(void *arg, struct bus_request *request, const void *message)
{
	const struct agent_disconnect *m = message;
	struct agent_client *client = client_of(arg, m->connection_id);

	if (client)
		client_free(client);
	bus_answer(request, STR_LIT("{}"));
}

/* ---- events ---- */

static void on_flush(EVENT_UNUSED, void *arg)
{
	clients_flush(arg);
}

/* What a killed reaper was to look after has become ours. */
static void on_sweep(EVENT_UNUSED, void *arg)
{
	struct agents *a = arg;
	const struct agent_session *s;
	pid_t reapers[AGENTS_MAX_SESSIONS];
	size_t count = 0;

	LIST_FOREACH(s, &a->sessions, link)
	if (s->process)
		reapers[count++] = process_reaper(s->process);
	if (descendants_end(reapers, count) > 0)
		event_add_ms(a->sweep, SWEEP_PAUSE_MS);
}

/* ---- life ---- */

static int read_configuration(struct agents *a)
{
	const struct settings *settings = a->worker->settings;
	const char *root =
		settings->agent_root[0] ? settings->agent_root : settings->project_dir;
	int r;

	if (command_split(settings->agent_command, &a->arena, &a->command) < 0) {
		log_error("AGENT_COMMAND must be a program and its arguments, with every "
			  "quote closed",
			"value", "%s", settings->agent_command, NULL);
		return -EINVAL;
	}
	r = folder_open_root(root, &a->root);
	if (r < 0) {
		log_error("the directory of the agents cannot be opened: check "
			  "AGENT_ROOT",
			"path", "%s", root, "error", "%s", strerror(-r), NULL);
		return r;
	}
	a->environment = environment_for_agent(
		environ, settings->agent_api_key == AGENT_KEY_PAIGE, &a->arena);
	return 0;
}

#define ENV_FILE_MAX (256 * 1024)

/* What AGENT_ENV_FILE adds to the environment of agents. */
static int read_env_file(struct agents *a)
{
	const char *path = a->worker->settings->agent_env_file;
	AUTO_BUF text = {0};
	int r, line = 0;

	if (!path[0])
		return 0;
	r = file_read_named(AT_FDCWD, path, ENV_FILE_MAX, &text);
	if (r < 0) {
		log_error("AGENT_ENV_FILE cannot be read", "path", "%s", path, "error",
			"%s", strerror(-r), NULL);
	} else {
		a->environment = environment_with(
			a->environment, buf_str(&text), &a->arena, &line);
		r = a->environment ? 0 : -EINVAL;
		if (r < 0)
			log_error("AGENT_ENV_FILE: expected lines of NAME=value, with "
				  "every quote closed",
				"path", "%s", path, "line", "%d", line, NULL);
	}
	return r;
}

/* Where Claude Code keeps its sessions, by the environment that it gets: AGENT_ENV_FILE may give it another home than ours. */
static void find_claude_dir(struct agents *a)
{
	const char *config = environment_value(a->environment, "CLAUDE_CONFIG_DIR");
	const char *home = environment_value(a->environment, "HOME");

	a->claude_dir = arena_cstr(&a->arena,
		config && *config
			? str_of(config)
			: arena_printf(&a->arena, "%s/.claude", home ? home : ""));
}

static int init(struct worker *w)
{
	struct agents *a = &agents;
	int r;

	w->state = a;
	a->worker = w;
	LIST_INIT(&a->sessions);
	LIST_INIT(&a->clients);
	if (read_configuration(a) < 0 || read_env_file(a) < 0)
		return WORKER_EXIT_CONFIG;
	find_claude_dir(a);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		log_warn("not a subreaper", "error", "%s", strerror(errno), NULL);
	a->records_fd = a->lock_fd = -1;
	a->flush = alloc_checked(event_new(w->base, -1, 0, on_flush, a));
	a->sweep = alloc_checked(event_new(w->base, -1, 0, on_sweep, a));
	a->jobs = alloc_checked(jobs_new(w->base));
	session_states_init(a);
	r = sessions_open(a);
	if (r < 0) {
		log_error("agent sessions cannot be recorded: check DATA_DIR/agents",
			"data_dir", "%s", w->settings->data_dir, "error", "%s",
			strerror(-r), NULL);
		return WORKER_EXIT_CONFIG;
	}
	bus_serve(w->bus, METHOD_AGENT_GATEWAY, serve_gateway, a);
	bus_serve(w->bus, METHOD_AGENT_CONNECT, serve_connect, a);
	bus_serve(w->bus, METHOD_AGENT_MESSAGE, requests_serve, a);
	bus_serve(w->bus, METHOD_AGENT_READ, serve_read, a);
	bus_serve(w->bus, METHOD_AGENT_SESSIONS, session_states_serve, a);
	bus_serve(w->bus, METHOD_AGENT_DISCONNECT, serve_disconnect, a);
	return WORKER_EXIT_OK;
}

static void stop(struct worker *w)
{
	sessions_stop(w->state);
}

static const struct worker_spec spec = {
	.id = WORKER_AGENT,
	.init = init,
	.stop = stop,
};

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], REAPER_ARGUMENT) == 0)
		return reaper_main(argv + 2);
	return worker_main(&spec, argc, argv);
}

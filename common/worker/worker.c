/*
 * worker.c - the life of a worker: set up, init, confined, ready, told to stop, gone
 * (worker.h, proto/worker.h). It ends with _exit: nng_close can deadlock, and what a
 * worker acknowledged is on disk before it is told to stop.
 */
#include "common/base/log.h"
#include "common/bus/rules/bus_folder.h"
#include "common/loop/timer.h"
#include "common/worker/bus_metrics.h"
#include "common/worker/metrics.h"
#include "common/worker/turns.h"
#include "common/worker/worker_private.h"
#include "paige-config.h"
#include "proto/codec/messages.h"
#include "proto/tables/methods.h"
#include "proto/tables/topics.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A worker that an earlier run of the daemon left behind holds the sockets for so long.
 */
#define LISTEN_PATIENCE_MS (WORKER_ORPHAN_MS + 2000)
#define LISTEN_PAUSE_MS 100
/* For so long those that it listens to may keep a worker from being ready. */
#define HEARD_MS 1000

/* ---- ready ---- */

/* 0 or the exit code. */
static int confine(struct worker *w)
{
	static char folders[WORKER_COUNT][108];
	struct confine_sockets sockets = {.own = folders[w->spec->id]};
	struct confinement c = {0};
	int connects = -1, others = 0;
	bool told;

	w->private_->confinement = "none";
	if (!w->spec->confine)
		return 0;
	for (int i = 0; i < WORKER_COUNT; i++) {
		const enum worker_id other = (enum worker_id)i;

		bus_folder(w->runtime_dir, other, folders[i]);
		if (method_called_by(w->spec->id, other) ||
			topic_heard_by(w->spec->id, other, ""))
			sockets.others[others++] = folders[i];
	}
	w->spec->confine(w, &c);
	w->private_->confinement =
		confine_apply(&c, &sockets, getenv("PAIGE_BROKER") ? &connects : NULL);
	if (connects < 0)
		return 0;
	told = worker_control_send_connects(w, connects, c.uses_network);
	/* Whoever has it can answer for the supervisor. */
	close(connects);
	if (told)
		return 0;
	log_error("the supervisor cannot make the connections of this worker", "error",
		"%s", strerror(errno), NULL);
	return WORKER_EXIT_INTERNAL;
}

/* With all signals blocked, because nng makes its threads here. */
static int start_bus(struct worker *w)
{
	const struct timespec pause = {0, LISTEN_PAUSE_MS * 1000000L};
	struct mono end = mono_add_ms(clock_mono(), LISTEN_PATIENCE_MS);
	int r;

	while ((r = bus_start(w->bus)) == -EADDRINUSE && clock_mono().us < end.us)
		nanosleep(&pause, NULL);
	if (r == 0)
		return 0;
	log_error("cannot open the sockets of the bus", "directory", "%s", w->runtime_dir,
		"error", "%s", strerror(-r), NULL);
	return WORKER_EXIT_DEPENDENCY;
}

void worker_ready(struct worker *w)
{
	struct worker_private *p = w->private_;

	p->ready_asked = true;
	if (!p->may_serve || p->phase != WORKER_STARTING)
		return;
	p->phase = WORKER_READY;
	bus_start_serving(w->bus);
	worker_control_send(w, WORKER_PACKET_READY, (struct str){NULL, 0});
	worker_control_send_status(w);
	log_info("ready", "confinement", "%s", p->confinement, NULL);
}

/* ---- status ---- */

void worker_set_condition(
	struct worker *w, enum worker_condition condition, const char *reason)
{
	struct worker_private *p = w->private_;
	struct str text = str_of(reason);

	if (p->condition == condition && str_eq(buf_str(&p->reason), text))
		return;
	p->condition = condition;
	buf_clear(&p->reason);
	buf_add_str(&p->reason, text);
	worker_control_send_status(w);
}

void worker_set_detail(struct worker *w, struct str json_object)
{
	struct worker_private *p = w->private_;

	if (str_eq(buf_str(&p->detail), json_object))
		return;
	buf_clear(&p->detail);
	buf_add_str(&p->detail, json_object);
	worker_control_send_status(w);
}

/* ---- the end ---- */

static _Noreturn void leave(enum worker_exit code)
{
	fflush(NULL);
	_exit(code);
}

static void on_drained(void *arg)
{
	(void)arg;
	log_info("stopped", NULL);
	leave(WORKER_EXIT_OK);
}

void worker_stopped(struct worker *w)
{
	if (w->private_->phase == WORKER_STOPPED)
		return;
	w->private_->phase = WORKER_STOPPED;
	bus_drain(w->bus, on_drained, w);
}

void worker_begin_stop(struct worker *w, const char *why)
{
	if (w->private_->phase >= WORKER_STOPPING)
		return;
	w->private_->phase = WORKER_STOPPING;
	log_info("stopping", "why", "%s", why, NULL);
	if (w->spec->stop)
		w->spec->stop(w);
	else
		worker_stopped(w);
}

_Noreturn void worker_die(struct worker *w, enum worker_exit code)
{
	(void)w;
	log_error("ending", "exit_code", "%d", (int)code, NULL);
	leave(code);
}

static void on_term(EVENT_UNUSED, void *arg)
{
	worker_begin_stop(arg, "signal TERM");
}

/* ---- set up ---- */

static int usage(const char *name, int code)
{
	fprintf(code == WORKER_EXIT_OK ? stdout : stderr,
		"paige-%s is started by paiged, which gives it its settings and a "
		"control "
		"socket.\nRun paiged instead; see paiged(8).\n\n"
		"  --help     show this\n  --version  show the version\n",
		name);
	return code;
}

static int read_environment(struct worker *w)
{
	static const char *const names[] = {"PAIGE_GENERATION", "PAIGE_EPOCH"};
	uint64_t *const values[] = {&w->generation, &w->epoch};
	const char *directory = getenv("PAIGE_RUNTIME_DIR");

	for (int i = 0; i < 2; i++) {
		const char *text = getenv(names[i]);
		char *end = NULL;

		errno = 0;
		*values[i] = text ? strtoull(text, &end, 16) : 0;
		if (!text || !*text || *end || errno) {
			log_error("the environment of the worker is not complete",
				"variable", "%s", names[i], NULL);
			return WORKER_EXIT_USAGE;
		}
	}
	if (!directory || strlen(directory) >= sizeof(w->runtime_dir)) {
		log_error("the environment of the worker is not complete", "variable",
			"PAIGE_RUNTIME_DIR", NULL);
		return WORKER_EXIT_USAGE;
	}
	strcpy(w->runtime_dir, directory);
	return 0;
}

/* What this process starts must not find them. */
static int read_bus_keys(struct worker *w)
{
	const char *text = getenv("PAIGE_BUS_KEYS");
	struct bus_keys keys;

	if (!text)
		return 0;
	if (bus_keys_parse(text, &keys) < 0) {
		log_error("the environment of the worker is not complete", "variable",
			"PAIGE_BUS_KEYS", NULL);
		return WORKER_EXIT_USAGE;
	}
	bus_set_keys(w->bus, &keys);
	unsetenv("PAIGE_BUS_KEYS");
	return 0;
}

static int read_settings(struct worker *w)
{
	AUTO_BUF problems = {0};
	struct settings settings;
	int r = settings_load_environment(&settings, &problems);

	if (r < 0)
		log_error("the settings cannot be used", "problems", "%.*s",
			STR_ARG(buf_str(&problems)), NULL);
	else
		log_set_level((enum log_level)settings.log_level);
	/* For ever: see worker.h. */
	w->settings = settings_ref(settings_snapshot(&settings));
	return r < 0 ? WORKER_EXIT_CONFIG : 0;
}

static struct event_base *base_new(bool changelist)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config && (!changelist || event_config_set_flag(config,
					      EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST) == 0))
		base = event_base_new_with_config(config);
	if (config)
		event_config_free(config);
	return base;
}

static int set_up(struct worker *w)
{
	int code = read_environment(w);

	if (code == 0)
		code = read_settings(w);
	if (code != 0)
		return code;
	umask(077);
	timer_set_phase(w->epoch);
	w->base = base_new(w->spec->changelist);
	if (!w->base)
		return WORKER_EXIT_INTERNAL;
	worker_control_init(w);
	w->private_->term = evsignal_new(w->base, SIGTERM, on_term, w);
	if (!w->private_->term || event_add(w->private_->term, NULL) < 0)
		return WORKER_EXIT_INTERNAL;
	w->bus = bus_open(w->base, w->spec->id, w->runtime_dir, w->epoch);
	return w->bus ? read_bus_keys(w) : WORKER_EXIT_CONFIG;
}

static void on_heard(void *arg)
{
	worker_ready(arg);
}

static void serve_metrics(void *arg, struct bus_request *request, const void *message)
{
	const struct worker *w = arg;
	struct worker_metrics metrics = {.has_turns = true};
	struct bus_metrics calls;
	AUTO_BUF text = {0};

	(void)message;
	turns_get(&metrics.turns);
	bus_metrics_get(w->bus, w->spec->id, &calls);
	metrics.bus.items = calls.items;
	metrics.bus.count = calls.count;
	metrics_print(w->spec->id, &text);
	metrics.text = text.len ? buf_str(&text) : STR_LIT("");
	bus_answer_message(request, &metrics);
}

/* False for a method in the catalogue for which init registered no handler. */
static bool serves_all(const struct worker *w)
{
	bool all = true;

	for (int m = 0; m < METHOD_COUNT; m++) {
		if (method_infos[m].owner != w->spec->id ||
			bus_serves(w->bus, (enum method)m))
			continue;
		log_error("a method of this worker has no handler", "method", "%s",
			method_infos[m].name, NULL);
		all = false;
	}
	return all;
}

static int start(struct worker *w)
{
	sigset_t all, before;
	int code = w->spec->init ? w->spec->init(w) : 0;
	int metrics = metrics_method(w->spec->id);

	if (code != 0)
		return code;
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* as it was: the guard is next */
	if (metrics >= 0)
		bus_serve(w->bus, (enum method)metrics, serve_metrics, w);
	if (!serves_all(w))
		return WORKER_EXIT_INTERNAL;
	code = confine(w);
	if (code != 0)
		return code;
	if (w->spec->begin)
		w->spec->begin(w);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	worker_control_guard();
	code = start_bus(w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code != 0)
		return code;
	w->private_->may_serve = true;
	if (w->private_->ready_asked)
		worker_ready(w);
	else if (!w->spec->ready_later)
		bus_when_heard(w->bus, HEARD_MS, on_heard, w);
	return 0;
}

int worker_main(const struct worker_spec *spec, int argc, char **argv)
{
	static struct worker_private private_;
	static struct worker w;
	const char *name = worker_infos[spec->id].name;
	int code;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("paige-%s %s\n", name, PAIGE_VERSION);
		return WORKER_EXIT_OK;
	}
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return usage(name, WORKER_EXIT_OK);
	if (argc != 1 || worker_control_check() < 0)
		return usage(name, WORKER_EXIT_USAGE);
	/* Until there is a guard (worker_control_guard) an init that hangs in a system call
	 * would outlive the supervisor. Nothing is acknowledged so far. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	worker_signals_init();
	log_init(name, LOG_LEVEL_INFO);
	w = (struct worker){.spec = spec, .private_ = &private_};
	private_.confinement = "none";
	code = set_up(&w);
	worker_signals_unblock();
	if (code == 0)
		code = start(&w);
	if (code != 0)
		leave((enum worker_exit)code);
	turns_start();
	event_base_dispatch(w.base);
	log_error("the loop ended", NULL);
	leave(WORKER_EXIT_INTERNAL);
}

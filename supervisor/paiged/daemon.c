/* daemon.c - see daemon.h. */
#include "supervisor/paiged/daemon.h"
#include "common/base/alloc.h"
#include "common/loop/timer.h"

#include "common/base/ids.h"
#include "common/base/log.h"
#include "paige-config.h"
#include "supervisor/paiged/ctl.h"
#include "supervisor/paiged/directories.h"
#include "supervisor/paiged/discovery.h"
#include "supervisor/paiged/logs/journal.h"
#include "supervisor/paiged/notify.h"
#include "supervisor/paiged/process/orphans.h"
#include "supervisor/paiged/reload.h"
#include "supervisor/paiged/runtime.h"
#include "supervisor/shared/replacement.h"
#include "supervisor/shared/settings_report.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* In step with the heartbeats: a daemon at rest wakes once for all of it. */
#define TICK_MS (WORKER_HEARTBEAT_MS / POLICY_HASTE)
#define SAMPLE_MS (30000 / POLICY_HASTE)

/* ---- stopping ---- */

const char *daemon_state_name(const struct daemon *d)
{
	if (d->processes.shared.stopping)
		return "stopping";
	return d->processes.shared.booted ? "running" : "starting";
}

void daemon_stop(struct daemon *d, const char *why, int exit_code)
{
	if (d->processes.shared.stopping) {
		log_info("stopping in a hurry", "why", "%s", why, NULL);
	} else {
		log_info("shutting down", "why", "%s", why, NULL);
		notify_stopping();
		d->exit_code = exit_code;
		/* The gateway closes its own; from then on new clients are refused. */
		listener_close(&d->listener);
		log_info("listening sockets closed", NULL);
	}
	process_table_stop(&d->processes);
}

static void on_stopped(void *arg)
{
	struct daemon *d = arg;

	log_info("all workers have ended", NULL);
	event_base_loopexit(d->base, NULL);
}

/* ---- changes ---- */

static void say_ready(struct daemon *d)
{
	d->announced = true;
	notify_ready();
	log_info("ready", "url", "%.*s", STR_ARG(buf_str(&d->url)), "ms", "%lld",
		(long long)mono_diff_ms(clock_mono(), d->started), NULL);
	printf("Paige is ready: %.*s (port %d), project %s, after %lld ms\n",
		STR_ARG(buf_str(&d->url)), d->port, d->settings.project_dir,
		(long long)mono_diff_ms(clock_mono(), d->started));
	fflush(stdout);
}

/* A worker that cannot work with this configuration or data (EC-06): no daemon. */
static void fail_start(struct daemon *d, const struct process *p)
{
	AUTO_BUF how = {0};

	exit_reason_print(&p->last, &how);
	fprintf(stderr, "%spaiged: the %s cannot work: %.*s\n",
		journal_prefix(LOG_LEVEL_ERROR), worker_infos[p->id].name,
		STR_ARG(buf_str(&how)));
	if (p->last.tail.len > 0 && !journal_listens()) /* it has them already */
		fprintf(stderr, "Its last lines:\n%.*s", STR_ARG(buf_str(&p->last.tail)));
	daemon_stop(d, "a worker cannot work with this configuration or data",
		p->last.kind == EXIT_REASON_EXIT ? notify_final_exit_code()
						 : EXIT_FAILURE);
	process_table_abandon(&d->processes);
}

static void on_change(void *arg)
{
	struct daemon *d = arg;
	const struct process *failed = process_table_failed_start(&d->processes);
	int ready = 0, count = process_table_count(&d->processes);

	if (failed && !d->processes.shared.stopping)
		fail_start(d, failed);
	for (int i = 0; i < WORKER_COUNT; i++)
		ready += d->processes.workers[i].policy.state == POLICY_READY;
	if (!d->announced && ready == count && !d->processes.shared.stopping)
		say_ready(d);
	if (!d->processes.shared.stopping)
		notify_status("%d of %d workers are ready", ready, count);
	if (d->ctl)
		ctl_on_change(d->ctl);
}

static void on_ask(void *arg, int fd)
{
	struct daemon *d = arg;

	if (d->ctl)
		ctl_take(d->ctl, fd);
	else
		close(fd);
}

/* ---- events ---- */

static void reload(struct daemon *d)
{
	AUTO_BUF problems = {0};

	(void)reload_settings(d, NULL, &problems); /* it has logged why it failed */
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	struct signalfd_siginfo info;

	(void)what;
	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		char why[64];

		if (info.ssi_signo == SIGHUP) {
			reload(d);
			continue;
		}
		snprintf(why, sizeof(why), "signal %s from process %u",
			sigabbrev_np((int)info.ssi_signo), info.ssi_pid);
		daemon_stop(d, why, EXIT_SUCCESS);
	}
}

/* As the first process of a container we inherit everybody's orphans. */
static void reap_strangers(const struct daemon *d)
{
	siginfo_t info = {0};

	if (getpid() != 1)
		return;
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid > 0) {
		for (int i = 0; i < WORKER_COUNT; i++)
			if (d->processes.workers[i].pid == info.si_pid)
				return; /* its own event sees to it */
		if (d->ctl && ctl_child(d->ctl) == info.si_pid)
			return;
		(void)waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
		info.si_pid = 0;
	}
}

static void on_tick(EVENT_UNUSED, void *arg)
{
	struct daemon *d = arg;
	struct mono now = clock_mono();

	event_add_in_step_ms(d->tick, d->tick_ms);
	/* The first of these waits is up to an eighth longer (timer.h). */
	if (mono_diff_ms(now, d->last_tick) > d->tick_ms * 9 / 8 + POLICY_LATE_MS) {
		log_warn("the supervisor did not run for a while", "ms", "%lld",
			(long long)mono_diff_ms(now, d->last_tick), NULL);
		process_table_late(&d->processes);
	}
	d->last_tick = now;
	notify_alive();
	logs_check(d->logs);
	process_table_sample(&d->processes, SAMPLE_MS);
	reap_strangers(d);
	runtime_check(d);
}

static int add_events(struct daemon *d)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->signal_fd < 0)
		return -errno;
	d->signals = event_new(d->base, d->signal_fd, EV_READ | EV_PERSIST, on_signal, d);
	d->tick = evtimer_new(d->base, on_tick, d);
	d->tick_ms = MIN(TICK_MS, notify_alive_every_ms());
	if (!d->signals || !d->tick || event_add(d->signals, NULL) != 0 ||
		event_add_in_step_ms(d->tick, d->tick_ms) != 0)
		return -ENOMEM;
	d->last_tick = clock_mono();
	return 0;
}

/* ---- starting ---- */

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%spaiged: ", journal_prefix(LOG_LEVEL_ERROR));
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return -ECANCELED;
}

static int take_lock(struct daemon *d)
{
	pid_t holder = 0;
	int error = lock_take(&d->lock, d->settings.data_dir, &holder);

	if (error == -EAGAIN && holder == 0) /* nobody has signed the lock */
		return refuse(
			"DATA_DIR=%s is in use: another paiged is just starting, or "
			"`paigectl restore` or `import` is at work. "
			"Try again when it is done.",
			d->settings.data_dir);
	if (error == -EAGAIN)
		return refuse("another paiged (process %d) already uses DATA_DIR=%s. "
			      "Stop it with "
			      "`paigectl stop`, or give this one another DATA_DIR.",
			(int)holder, d->settings.data_dir);
	if (error)
		return refuse("cannot lock DATA_DIR=%s: %s", d->settings.data_dir,
			strerror(-error));
	return 0;
}

/* What a restore or an import that was cut off has begun. */
static int finish_replacement(const struct daemon *d)
{
	int done = replacement_finish(d->settings.data_dir);

	if (done < 0)
		return refuse("cannot put the files in place that a restore or an import "
			      "left in %s/replacement: %s",
			d->settings.data_dir, strerror(-done));
	if (done > 0)
		log_warn("a restore or an import that was cut off has been completed",
			NULL);
	return 0;
}

/* Everything that may be refused, and nothing that costs time. */
static int prepare(struct daemon *d)
{
	AUTO_BUF problem = {0};
	int error = directories_make_data(d->settings.data_dir, &problem);

	if (!error)
		error = take_lock(d);
	if (!error)
		error = finish_replacement(d);
	if (!error)
		error = runtime_take(d, &problem);
	if (!error)
		error = listener_open(
			&d->listener, d->settings.host, (int)d->settings.port, &problem);
	if (problem.len > 0)
		refuse("%.*s", STR_ARG(buf_str(&problem)));
	if (error)
		return error;
	if (d->lock.unclean) {
		size_t n = orphans_end(d->runtime_dir);

		if (n > 0)
			log_warn("workers of a daemon that was killed have been ended",
				"count", "%zu", n, NULL);
	}
	error = lock_sign(&d->lock, d->runtime_dir);
	if (error)
		return refuse("cannot write to DATA_DIR=%s: %s", d->settings.data_dir,
			strerror(-error));
	d->port = d->listener.port;
	listener_url(&d->listener, d->settings.host, &d->url);
	return 0;
}

static void check_project(const struct daemon *d)
{
	AUTO_BUF warning = {0};

	directories_check_project(d->settings.project_dir, &warning);
	if (warning.len > 0)
		log_warn("no file can be saved", "why", "%.*s",
			STR_ARG(buf_str(&warning)), NULL);
}

/* That of the last run, unless there is none that is secret. */
static int take_token(struct daemon *d)
{
	int error = token_read(d->settings.data_dir, d->token);

	if (error == 0)
		return 0;
	if (error != -ENOENT)
		log_warn("the token of the last run is not used; clients that were given "
			 "it need the new one",
			"file", "%s/token", d->settings.data_dir, "reason", "%s",
			error == -EPERM	   ? "others may read it, or it is theirs"
			: error == -EINVAL ? "it is no token"
					   : strerror(-error),
			NULL);
	error = token_make(d->settings.data_dir, d->token);
	if (error)
		return refuse("cannot write %s/token: %s", d->settings.data_dir,
			strerror(-error));
	return 0;
}

static int start_workers(struct daemon *d)
{
	AUTO_FREE char *logs_dir = xasprintf("%s/logs", d->settings.data_dir);
	int error = take_token(d);

	if (error)
		return error;
	d->program_dir = directories_find_programs();
	d->base = event_base_new();
	if (!d->base)
		return refuse("cannot prepare the event loop: %s", strerror(errno));
	d->logs = logs_new(d->base, logs_dir);
	if (!d->logs)
		return refuse("cannot make %s: %s", logs_dir, strerror(errno));
	check_project(d);
	d->broker = broker_new(d->base);
	if (!d->broker)
		log_info("workers connect by themselves: this kernel or container does "
			 "not let us do it for them",
			NULL);
	d->processes = (struct process_table){
		.shared = {.base = d->base,
			.settings = &d->settings,
			.listener = &d->listener,
			.logs = d->logs,
			.program_dir = d->program_dir,
			.runtime_dir = d->runtime_dir,
			.token = d->token,
			.broker = d->broker,
			.on_ask = on_ask,
			.arg = d},
		.started = d->started,
		.on_change = on_change,
		.on_stopped = on_stopped,
		.arg = d,
	};
	random_bytes(&d->processes.shared.epoch, sizeof(d->processes.shared.epoch));
	timer_set_phase(d->processes.shared.epoch);
	random_bytes(d->processes.shared.bus_keys, sizeof(d->processes.shared.bus_keys));
	process_table_init(&d->processes);
	if (add_events(d) != 0)
		return refuse("cannot prepare the event loop: %s", strerror(errno));
	process_table_start(&d->processes);
	return 0;
}

static int write_discovery(const struct daemon *d)
{
	return discovery_write(
		d->settings.data_dir, &(struct discovery){.port = d->port,
					      .host = d->settings.host,
					      .url = d->url.data,
					      .project_dir = d->settings.project_dir,
					      .token = d->token,
					      .started_at = d->started_wall});
}

int daemon_rotate_token(struct daemon *d)
{
	int error = token_make(d->settings.data_dir, d->token);

	if (!error)
		error = write_discovery(d);
	if (!error)
		log_info("a new token was made", NULL);
	return error;
}

/* While the workers start. */
static int tell_the_world(struct daemon *d)
{
	int error;

	settings_log(&d->settings, NULL);
	settings_log_network(environ);
	printf("Paige %s is starting: %.*s (port %d), project %s, data %s, process %d\n",
		PAIGE_VERSION, STR_ARG(buf_str(&d->url)), d->listener.port,
		d->settings.project_dir, d->settings.data_dir, (int)getpid());
	fflush(stdout);
	buf_add_char(&d->url, '\0');
	d->url.len--;
	error = write_discovery(d);
	if (error) {
		refuse("cannot write %s/paiged.json: %s", d->settings.data_dir,
			strerror(-error));
		return error;
	}
	d->ctl = ctl_new(d);
	if (!d->ctl)
		log_error("paigectl will not reach the daemon: no control socket",
			"directory", "%s", d->runtime_dir, "error", "%s", strerror(errno),
			NULL);
	return 0;
}

/* Undoes what was done, whatever that is. */
static void finish(struct daemon *d)
{
	ctl_free(d->ctl);
	if (d->base && d->processes.shared.changed)
		process_table_fini(&d->processes);
	broker_free(d->broker);
	discovery_remove(d->settings.data_dir);
	directories_clear_runtime(d->runtime_dir);
	lock_release(&d->lock);
	log_info("stopped", "exit_code", "%d", d->exit_code, NULL);
	logs_free(d->logs);
	if (d->signals)
		event_free(d->signals);
	if (d->tick)
		event_free(d->tick);
	if (d->signal_fd >= 0)
		close(d->signal_fd);
	if (d->base)
		event_base_free(d->base);
	buf_free(&d->url);
	free(d->program_dir);
}

int daemon_run(struct settings *settings, const char *config_file)
{
	struct daemon d = {.config_file = config_file,
		.settings = *settings,
		.lock = {.fd = -1, .runtime_fd = -1},
		.signal_fd = -1};

	d.started = clock_mono();
	d.started_wall = clock_wall();
	if (prepare(&d) != 0) {
		/* The directory is ours alone while we hold its lock. */
		if (d.lock.runtime_fd >= 0)
			directories_clear_runtime(d.runtime_dir);
		listener_close(&d.listener);
		settings_fini(&d.settings);
		return EXIT_FAILURE;
	}
	if (start_workers(&d) != 0) {
		d.exit_code = EXIT_FAILURE;
	} else {
		if (tell_the_world(&d) != 0)
			daemon_stop(&d, "the start failed", EXIT_FAILURE);
		event_base_dispatch(d.base);
	}
	finish(&d);
	settings_fini(&d.settings);
	return d.exit_code;
}

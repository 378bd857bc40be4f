/* process.c - see process.h. */
#include "supervisor/paiged/process/process.h"
#include "common/base/alloc.h"
#include "common/loop/timer.h"

#include "common/base/ids.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "supervisor/paiged/logs/tail.h"
#include "supervisor/paiged/process/environment.h"
#include "supervisor/paiged/process/launch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void step(struct process *p, struct policy_event event);

static const char *name_of(const struct process *p)
{
	return worker_infos[p->id].name;
}

/* ---- doing what the policy says ---- */

static void signal_one(const struct process *p, int signal)
{
	if (p->pid > 0)
		(void)pidfd_send_signal(p->pidfd, signal, NULL, 0);
}

/* The group cannot be another's: its leader is not reaped. */
static void signal_group(const struct process *p, int signal)
{
	if (p->pid > 0)
		(void)kill(-p->pid, signal);
}

/* Closes what belongs to the process. */
static void release(struct process *p)
{
	if (p->exited)
		event_free(p->exited);
	p->exited = NULL;
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
	p->pid = 0;
	channel_close(&p->channel);
}

static char *program_of(const struct process *p)
{
	const char *dir = p->shared->program_dir;
	/* The build tree has a directory for each worker. */
	char *path = xasprintf("%s/%s/paige-%s", dir, name_of(p), name_of(p));

	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return xasprintf("%s/paige-%s", dir, name_of(p));
}

static void on_process_exited(evutil_socket_t fd, short what, void *arg);
static void on_packet(void *arg, int type, struct str body, int fd);

/* Takes over a process that was started. 0 or -errno. */
static int watch(struct process *p, const struct launched *s, uint64_t generation)
{
	p->exited = event_new(p->shared->base, s->pidfd, EV_READ, on_process_exited, p);
	if (!p->exited || event_add(p->exited, NULL) != 0)
		return -ENOMEM;
	return channel_open(
		&p->channel, p->shared->base, s->control_fd, generation, on_packet, p);
}

static int spawn(struct process *p)
{
	const struct process_shared *shared = p->shared;
	bool listens = p->id == WORKER_GATEWAY;
	struct launch_request request = {.log_fd = logs_write_fd(shared->logs, p->id),
		.directory = shared->settings->data_dir};
	struct environment_given given = {.settings = shared->settings,
		.runtime_dir = p->runtime_dir,
		.broker = shared->broker != NULL,
		.token = shared->token,
		.epoch = shared->epoch,
		.listen_count = shared->listener->count,
		.port = shared->listener->port};
	struct launched spawned;
	char **environment;
	AUTO_FREE char *program = program_of(p);
	siginfo_t info;
	int error;

	snprintf(p->runtime_dir, sizeof(p->runtime_dir), "%s", shared->runtime_dir);
	p->brokered = p->cut_off = false;
	for (int i = 0; i < WORKER_COUNT; i++) {
		given.bus_keys.to[i] = shared->bus_keys[p->id][i];
		given.bus_keys.from[i] = shared->bus_keys[i][p->id];
	}
	random_bytes(&request.generation, sizeof(request.generation));
	given.generation = request.generation;
	environment = environment_for(p->id, &given, environ);
	request.environment = environment;
	request.program = program;
	for (size_t i = 0; listens && i < shared->listener->count; i++)
		request.listen_fds[request.listen_count++] = shared->listener->fds[i];
	error = launch_worker(&request, &spawned);
	environment_free(environment);
	if (error)
		return error;
	p->pid = spawned.pid;
	p->pidfd = spawned.pidfd;
	error = watch(p, &spawned, request.generation);
	if (error) {
		/* Out of memory: it is not seen by anybody yet. */
		signal_one(p, SIGKILL);
		(void)waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED);
		release(p);
	}
	return error;
}

static void start_process(struct process *p)
{
	int error;

	p->spawn_error = 0;
	p->started_at = clock_mono();
	p->usage = (struct usage_sample){.at = p->started_at};
	buf_clear(&p->condition);
	buf_clear(&p->reason);
	buf_clear(&p->detail);
	error = spawn(p);
	if (!error) {
		log_info("worker started", "name", "%s", name_of(p), "pid", "%d",
			(int)p->pid, NULL);
		return;
	}
	log_error("worker not started", "name", "%s", name_of(p), "error", "%s",
		strerror(-error), "hint", "%s",
		"limits of processes and open files: ulimit -u, ulimit -n", NULL);
	p->last.kind = EXIT_REASON_SPAWN;
	p->last.code = -error;
	p->last.at = clock_wall();
	step(p, (struct policy_event){.kind = POLICY_EXITED});
}

static void forget(struct process *p);

static void act(struct process *p, unsigned actions)
{
	if (actions & POLICY_DO_SPAWN)
		start_process(p);
	if (actions & POLICY_DO_SEND_STOP)
		channel_send_stop(&p->channel);
	if (actions & POLICY_DO_BACKTRACE) {
		log_warn("worker gives no sign of life: asking for a backtrace", "name",
			"%s", name_of(p), "pid", "%d", (int)p->pid, NULL);
		signal_one(p, SIGUSR2);
	}
	if (actions & POLICY_DO_TERM) {
		signal_one(p, SIGTERM);
		signal_group(p, SIGCONT);
	}
	if (actions & POLICY_DO_ABORT) {
		log_error("worker hangs: aborting it", "name", "%s", name_of(p), "pid",
			"%d", (int)p->pid, NULL);
		signal_one(p, SIGABRT);
		signal_group(p, SIGCONT);
	}
	if (actions & POLICY_DO_KILL) {
		log_warn("worker did not end in time: killing it", "name", "%s",
			name_of(p), "pid", "%d", (int)p->pid, NULL);
		signal_group(p, SIGKILL);
		signal_one(p, SIGKILL);
	}
	if (actions & POLICY_DO_ABANDON) {
		log_error("worker cannot be killed: leaving it behind", "name", "%s",
			name_of(p), "pid", "%d", (int)p->pid, NULL);
		forget(p);
	}
}

static void arm_timer(struct process *p)
{
	int64_t us = p->policy.deadline.us - clock_mono().us;

	if (p->policy.deadline.us == 0) {
		evtimer_del(p->timer);
		return;
	}
	event_add_ms(p->timer, (us + 999) / 1000);
}

static void step(struct process *p, struct policy_event event)
{
	enum policy_state before = p->policy.state;
	bool was_slow = p->policy.slow;
	unsigned actions = policy_step(&p->policy, event, clock_mono());

	act(p, actions);
	arm_timer(p);
	if (p->policy.state != before || p->policy.slow != was_slow ||
		actions & POLICY_DO_SPAWN)
		event_active(p->shared->changed, EV_TIMEOUT, 0);
}

static void on_timer(EVENT_UNUSED, void *arg)
{
	step(arg, (struct policy_event){.kind = POLICY_TIME});
}

/* ---- the end of a process ---- */

static void log_exit(const struct process *p, pid_t pid)
{
	bool expected = p->policy.state == POLICY_STOPPING &&
			p->last.kind == EXIT_REASON_EXIT && p->last.code == 0;
	AUTO_BUF how = {0};

	exit_reason_print(&p->last, &how);
	if (expected)
		log_info("worker stopped", "name", "%s", name_of(p), "pid", "%d",
			(int)pid, NULL);
	else
		log_warn("worker ended", "name", "%s", name_of(p), "pid", "%d", (int)pid,
			"how", "%.*s", STR_ARG(buf_str(&how)), NULL);
}

/* Forgets the process and tells the policy. */
static void forget(struct process *p)
{
	bool parks = exit_reason_parks(&p->last);
	int32_t jitter;

	/* A program that is missing when the daemon is started will not appear by itself;
	 * later it is being replaced. */
	if (p->last.kind == EXIT_REASON_SPAWN && !p->shared->booted)
		parks = true;
	release(p);
	if (p->shared->stopping)
		p->policy.want_up = false;
	random_bytes(&jitter, sizeof(jitter));
	step(p, (struct policy_event){.kind = POLICY_EXITED,
			.parks = parks,
			.jitter = jitter / 2147483648.0});
	if (p->policy.state == POLICY_PARKED)
		log_error("worker parked: it is not started again before `paigectl "
			  "restart` or a reload",
			"name", "%s", name_of(p), NULL);
	if (p->policy.state == POLICY_BACKOFF)
		log_info("worker is started again after a pause", "name", "%s",
			name_of(p), "pause_ms", "%lld",
			(long long)mono_diff_ms(p->policy.deadline, clock_mono()), NULL);
}

static void on_process_exited(evutil_socket_t fd, short what, void *arg)
{
	struct process *p = arg;
	siginfo_t info = {0};
	pid_t pid = p->pid;

	(void)what;
	/* Before it is reaped, its number and group are surely its own: take along what
	 * it started. */
	if (waitid(P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		info.si_pid == 0) {
		(void)event_add(p->exited, NULL);
		return;
	}
	signal_group(p, SIGKILL);
	(void)waitid(P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG);
	channel_drain(&p->channel);
	logs_ended(p->shared->logs, p->id);
	exit_reason_set(&p->last, &info, p->spawn_error, clock_wall());
	buf_clear(&p->last.tail);
	logs_tail(p->shared->logs, p->id, TAIL_LINES, &p->last.tail);
	log_exit(p, pid);
	forget(p);
}

/* ---- packets ---- */

static void set_text(struct buf *b, struct str text)
{
	buf_clear(b);
	buf_add_str(b, text);
}

static void on_status(struct process *p, struct str body)
{
	struct proto_error error;
	AUTO_ARENA arena = {0};
	struct worker_status status;
	AUTO_DOC *doc = proto_parse(body, &error);

	if (!doc || proto_decode(worker_status_type(), yyjson_doc_get_root(doc), "status",
			    DECODE_LENIENT, &arena, &status, &error) != 0) {
		log_warn("worker sent a wrong status", "name", "%s", name_of(p), "error",
			"%s", error.text, NULL);
	} else {
		set_text(&p->condition, status.condition);
		set_text(&p->reason, status.reason);
		set_text(&p->confinement, status.confinement);
		buf_clear(&p->detail);
		if (status.detail.val) {
			AUTO_FREE char *text =
				yyjson_val_write(status.detail.val, 0, NULL);

			buf_add_str(&p->detail, str_of(text ? text : ""));
		}
		event_active(p->shared->changed, EV_TIMEOUT, 0);
	}
}

/* Takes `fd`. Only what the worker says first counts: then it is still what we started. */
static void on_connects(struct process *p, struct str body, int fd)
{
	struct broker_client client = {.worker = p->id,
		.listener = fd,
		.pidfd = -1,
		.runtime_dir = p->runtime_dir};
	struct worker_connects said;
	int error = -EPROTO;

	if (p->shared->broker && !p->brokered && body.len == sizeof(said)) {
		memcpy(&said, body.ptr, sizeof(said));
		client.uses_network = said.uses_network == 1;
		p->brokered = true;
		client.pidfd = fcntl(p->pidfd, F_DUPFD_CLOEXEC, 0);
		error = client.pidfd < 0 ? -errno
					 : broker_take(p->shared->broker, &client);
	}
	if (error == 0) {
		process_look(p);
		return;
	}
	log_error("the connections of a worker cannot be made", "name", "%s", name_of(p),
		"error", "%s", strerror(-error), NULL);
	if (client.pidfd < 0)
		close(fd);
}

static void on_packet(void *arg, int type, struct str body, int fd)
{
	struct process *p = arg;

	if (type == WORKER_PACKET_CONNECTS && fd >= 0) {
		on_connects(p, body, fd);
		return;
	}
	if (type == WORKER_PACKET_ASK && fd >= 0 && p->id == WORKER_GATEWAY) {
		p->shared->on_ask(p->shared->arg, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	switch (type) {
	case LAUNCH_FAILED:
		if (body.len == sizeof(int32_t))
			memcpy(&p->spawn_error, body.ptr, sizeof(int32_t));
		return;
	case WORKER_PACKET_READY:
		step(p, (struct policy_event){.kind = POLICY_GOT_READY});
		log_info("worker ready", "name", "%s", name_of(p), "ms", "%lld",
			(long long)mono_diff_ms(clock_mono(), p->started_at), NULL);
		return;
	case WORKER_PACKET_STATUS:
		on_status(p, body);
		break;
	case WORKER_PACKET_HEARTBEAT:
		break;
	default: /* closed: either it ends now, or the watchdog will see to it */
		return;
	}
	step(p, (struct policy_event){.kind = POLICY_GOT_SIGN});
}

/* ---- the object ---- */

void process_init(struct process *p, enum worker_id id, struct process_shared *shared)
{
	*p = (struct process){
		.shared = shared,
		.id = id,
		.pidfd = -1,
		.channel = {.fd = -1},
		.policy = {.start_deadline_ms =
				   worker_infos[id].start_deadline_ms / POLICY_HASTE,
			.stop_grace_ms = worker_infos[id].stop_grace_ms / POLICY_HASTE,
			.backoff_cap_ms = id == WORKER_GATEWAY
						  ? POLICY_BACKOFF_CAP_GATEWAY_MS
						  : POLICY_BACKOFF_CAP_MS},
	};
	p->timer = alloc_checked(evtimer_new(shared->base, on_timer, p));
}

bool process_enabled(const struct process *p)
{
	const char *setting = worker_infos[p->id].needs_setting;
	AUTO_BUF value = {0};

	if (!setting)
		return true;
	settings_print(p->shared->settings,
		(enum setting_id)setting_by_name(str_of(setting)), true, &value);
	return value.len > 0;
}

bool process_wanted(const struct process *p)
{
	return !p->held && process_enabled(p);
}

const char *process_state_name(const struct process *p)
{
	return p->held && p->policy.state == POLICY_DOWN
		       ? "stopped"
		       : policy_state_name(p->policy.state);
}

bool process_absent(const struct process *p)
{
	return p->policy.state == POLICY_DOWN && !process_enabled(p);
}

/* It runs, and does not say so any more: it hangs, or somebody has stopped it. */
static bool is_silent(const struct process *p)
{
	return p->policy.state == POLICY_READY && p->policy.slow;
}

void process_look(struct process *p)
{
	bool cut_off;

	if (p->pid <= 0 || !p->brokered)
		return;
	cut_off = !broker_may_look_into(p->pidfd);
	if (cut_off == p->cut_off)
		return;
	p->cut_off = cut_off;
	if (cut_off)
		log_error("a worker can connect to nobody any more: the kernel forbids "
			  "the supervisor to look into it",
			"name", "%s", name_of(p), "hint",
			"is kernel.yama.ptrace_scope above 1?", NULL);
	else
		log_info("a worker can connect again", "name", "%s", name_of(p), NULL);
	event_active(p->shared->changed, EV_TIMEOUT, 0);
}

struct str process_condition(const struct process *p)
{
	if (is_silent(p))
		return STR_LIT("failing");
	if (p->cut_off && !str_is(buf_str(&p->condition), "failing"))
		return STR_LIT("degraded");
	return p->condition.len ? buf_str(&p->condition) : STR_LIT("fine");
}

struct str process_reason(const struct process *p)
{
	if (p->held && p->policy.state == POLICY_DOWN)
		return STR_LIT("somebody has stopped it");
	if (is_silent(p))
		return STR_LIT("it gives no sign of life");
	if (p->cut_off && !str_is(buf_str(&p->condition), "failing"))
		return STR_LIT("it can connect to nobody: the kernel forbids the "
			       "supervisor to look into it (kernel.yama.ptrace_scope)");
	return p->reason.len ? buf_str(&p->reason) : (struct str){0};
}

void process_step(struct process *p, enum policy_event_kind event)
{
	step(p, (struct policy_event){.kind = event});
}

void process_fini(struct process *p)
{
	siginfo_t info;

	if (p->pid > 0) {
		signal_group(p, SIGKILL);
		signal_one(p, SIGKILL);
		(void)waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED);
	}
	release(p);
	if (p->timer)
		event_free(p->timer);
	buf_free(&p->condition);
	buf_free(&p->reason);
	buf_free(&p->confinement);
	buf_free(&p->detail);
	buf_free(&p->last.tail);
}

/* status.c - see status.h. Called by ctl.c. Changes nothing. */
#include "supervisor/paiged/status.h"

#include "common/base/log.h"
#include "common/confine/confine.h"
#include "paige-config.h"
#include "proto/codec/messages.h"
#include "supervisor/paiged/logs/tail.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Splits lines; the result is of the arena, the text is borrowed. */
static struct strs lines_of(struct arena *a, struct str text)
{
	struct strs lines = {.items = arena_array(a, TAIL_LINES, sizeof(struct str))};
	struct str line;

	while (lines.count < TAIL_LINES && str_take_line(&text, &line))
		lines.items[lines.count++] = line;
	return lines;
}

static struct ctl_exit describe_exit(const struct exit_reason *e, struct arena *a)
{
	char at[WALL_ISO_SIZE];
	AUTO_BUF meaning = {0};
	struct ctl_exit out = {.kind = str_of(exit_reason_kind_name(e->kind))};

	exit_reason_print(e, &meaning);
	wall_iso(e->at, at);
	out.meaning = arena_str(a, meaning.len ? buf_str(&meaning) : STR_LIT(""));
	out.at = arena_str(a, str_of(at));
	out.log_tail = lines_of(a, buf_str(&e->tail));
	if (e->kind == EXIT_REASON_SIGNAL) {
		out.signal = str_of(sigabbrev_np(e->code));
		out.core = e->core;
		out.has_core = true;
	}
	out.code = e->code;
	out.has_code = true;
	return out;
}

static struct ctl_worker describe_worker(
	const struct process *p, struct mono now, struct arena *a)
{
	struct usage usage = {0};
	struct ctl_worker out = {
		.name = str_of(worker_infos[p->id].name),
		.state = str_of(process_state_name(p)),
		.want = p->policy.want_up ? STR_LIT("up") : STR_LIT("down"),
		.restarts = {.total = policy_restarts(&p->policy),
			.has_total = true,
			.window_60s = policy_restarts_in_window(&p->policy, now),
			.has_window_60s = true},
		.has_restarts = true,
		.condition = process_condition(p),
		.reason = process_reason(p),
		.has_uptime_ms = true,
		.has_heartbeat_age_ms = true,
		.has_rss_bytes = true,
		.has_cpu_percent = true,
		.has_cpu_ms = true,
	};

	if (p->confinement.len)
		out.confinement = buf_str(&p->confinement);
	if (p->detail.len)
		out.detail.raw = buf_str(&p->detail);
	if (p->last.kind != EXIT_REASON_NONE) {
		out.last_exit = describe_exit(&p->last, a);
		out.has_last_exit = true;
	}
	if (p->policy.state == POLICY_BACKOFF) {
		/* The timer may be a few milliseconds late. */
		out.next_start_ms = p->policy.deadline.us > now.us
					    ? mono_diff_ms(p->policy.deadline, now)
					    : 0;
		out.has_next_start_ms = true;
	}
	if (p->pid > 0 && usage_read(p->pid, &usage) == 0) {
		out.pid = p->pid;
		out.has_pid = true;
		out.uptime_ms = mono_diff_ms(now, p->started_at);
		out.heartbeat_age_ms = mono_diff_ms(now, p->policy.sign_at);
		out.rss_bytes = usage.rss_bytes;
		out.cpu_ms = usage.cpu_ms;
		out.cpu_percent = usage_percent(p->usage, now, usage.cpu_ms);
	}
	return out;
}

/* The store says {"session": "<id>" or null} of itself. */
static struct str active_session(const struct process *store, struct arena *a)
{
	struct proto_error error;
	AUTO_DOC *doc =
		store->detail.len ? proto_parse(buf_str(&store->detail), &error) : NULL;
	const char *id =
		yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "session"));

	return arena_str(a, str_of(id));
}

static void add_gaps(const struct daemon *d, struct ctl_status *status, struct arena *a)
{
	const int abi = confine_landlock_abi();
	const bool broker = d->broker != NULL;
	size_t count = 0;

	while (confine_gap(abi, broker, count))
		count++;
	status->landlock_abi = abi;
	status->has_landlock_abi = true;
	status->confinement_gaps.items =
		arena_array(a, count + 1, sizeof(status->confinement_gaps.items[0]));
	status->confinement_gaps.count = count;
	for (size_t i = 0; i < count; i++)
		status->confinement_gaps.items[i] = str_of(confine_gap(abi, broker, i));
}

static void add_disk(struct ctl_status *status, const char *data_dir)
{
	struct statvfs disk;

	if (statvfs(data_dir, &disk) != 0)
		return;
	status->disk_bytes = (int64_t)(disk.f_blocks * disk.f_frsize);
	status->disk_free_bytes = (int64_t)(disk.f_bavail * disk.f_frsize);
	status->has_disk_bytes = status->has_disk_free_bytes = true;
}

void status_describe(const struct daemon *d, struct buf *out)
{
	AUTO_ARENA arena = {0};
	struct mono now = clock_mono();
	struct ctl_worker items[WORKER_COUNT];
	struct usage usage = {0};
	struct ctl_status status = {
		.version = STR_LIT(PAIGE_VERSION),
		.state = str_of(daemon_state_name(d)),
		.pid = getpid(),
		.has_pid = true,
		.uptime_ms = mono_diff_ms(now, d->started),
		.has_uptime_ms = true,
		.port = d->port,
		.has_port = true,
		.url = buf_str(&d->url),
		.project_dir = str_of(d->settings.project_dir),
		.data_dir = str_of(d->settings.data_dir),
		.runtime_dir = str_of(d->runtime_dir),
		.session = active_session(&d->processes.workers[WORKER_STORE], &arena),
		.log_lines_dropped = (int64_t)logs_dropped(d->logs),
		.has_log_lines_dropped = true,
		.workers = {.items = items},
	};

	if (d->config_file) {
		char *path = realpath(d->config_file, NULL);

		status.config_file =
			arena_str(&arena, str_of(path ? path : d->config_file));
		free(path);
	}
	if (usage_read(getpid(), &usage) == 0) {
		status.rss_bytes = usage.rss_bytes;
		status.cpu_ms = usage.cpu_ms;
	}
	status.has_rss_bytes = status.has_cpu_ms = true;
	add_disk(&status, d->settings.data_dir);
	for (int i = 0; i < WORKER_COUNT; i++)
		if (!process_absent(&d->processes.workers[i]))
			items[status.workers.count++] =
				describe_worker(&d->processes.workers[i], now, &arena);
	add_gaps(d, &status, &arena);
	proto_encode(ctl_status_type(), &status, out);
}

/* bus_rig.c - what the bus tests stand on (bus_rig.h). */
#include "tests/bus/bus_rig.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "tests/unit/scratch.h"
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void rig_init(struct rig *rig)
{
	*rig = (struct rig){0};
	log_init("gateway", LOG_LEVEL_ERROR);
	strcpy(rig->directory, "/tmp/paige-bus-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->directory));
	rig->base = event_base_new();
	rig->bus = bus_open(rig->base, WORKER_GATEWAY, rig->directory, 1);
	ck_assert_ptr_nonnull(rig->bus);
	rig->calls = calloc(RIG_CALLS_MAX, sizeof(*rig->calls));
	ck_assert_ptr_nonnull(rig->calls);
}

void rig_start(struct rig *rig)
{
	ck_assert_int_eq(bus_start(rig->bus), 0);
}

void rig_fini(struct rig *rig)
{
	scratch_remove(rig->directory);
	for (unsigned i = 0; i < rig->count; i++) {
		buf_free(&rig->calls[i].body);
		buf_free(&rig->calls[i].code);
		buf_free(&rig->calls[i].message);
	}
	free(rig->calls);
}

/* ---- peers ---- */

pid_t rig_peer(const struct rig *rig, const char *worker, const char *subscribe_to)
{
	union {
		const char *constant[6];
		char *argv[6];
	} args = {.constant = {BUS_RIG_WORKER, rig->directory, worker}};
	posix_spawn_file_actions_t actions;
	int ready[2];
	char byte;
	pid_t pid;

	if (subscribe_to) {
		args.constant[3] = "subscribe";
		args.constant[4] = subscribe_to;
	}
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ready[1], STDOUT_FILENO);
	ck_assert_int_eq(
		posix_spawn(&pid, BUS_RIG_WORKER, &actions, NULL, args.argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(ready[1]);
	ck_assert_msg(read(ready[0], &byte, 1) == 1, "the %s peer did not start", worker);
	close(ready[0]);
	return pid;
}

void rig_kill(pid_t *peer)
{
	if (*peer <= 0)
		return;
	kill(*peer, SIGKILL);
	waitpid(*peer, NULL, 0);
	*peer = 0;
}

int rig_stop(pid_t *peer)
{
	int status = 0;

	kill(*peer, SIGTERM);
	for (int i = 0; i < 200; i++) {
		if (waitpid(*peer, &status, WNOHANG) == *peer) {
			*peer = 0;
			return status;
		}
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	}
	rig_kill(peer);
	return -1;
}

/* ---- calls ---- */

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct rig_call *call = arg;

	ck_assert_msg(!call->done, "answered twice");
	call->done = true;
	call->status = reply->status;
	buf_add_str(&call->body, reply->body);
	buf_add_str(&call->code, reply->code);
	buf_add_str(&call->message, reply->message);
	call->ms = mono_diff_ms(clock_mono(), call->begun);
	call->order = ++call->rig->answered;
	if (call->rig->waiting && call->rig->answered == call->rig->count)
		event_base_loopbreak(call->rig->base);
}

struct rig_call *rig_call(
	struct rig *rig, enum method method, int64_t deadline_ms, const char *body, ...)
{
	struct rig_call *call = &rig->calls[rig->count++];
	struct arena arena = {0};
	char uuid[UUID_SIZE];
	struct str key = {NULL, 0};
	va_list args;

	ck_assert_uint_le(rig->count, RIG_CALLS_MAX);
	call->rig = rig;
	call->begun = clock_mono();
	if (method_infos[method].flags & METHOD_KEYED) {
		uuid7(clock_wall(), uuid);
		key = str_of(uuid);
	}
	va_start(args, body);
	bus_call(rig->bus, method, key, arena_vprintf(&arena, body, args), deadline_ms,
		on_reply, call);
	va_end(args);
	ck_assert_msg(!call->done, "the callback ran inside bus_call");
	arena_free(&arena);
	return call;
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopbreak(arg);
}

bool rig_wait(struct rig *rig, int64_t ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);

	rig->waiting = true;
	while (rig->answered < rig->count && clock_mono().us < end.us)
		rig_turn(rig, 100);
	rig->waiting = false;
	return rig->answered == rig->count;
}

void rig_turn(struct rig *rig, int64_t ms)
{
	struct timeval wait = {ms / 1000, ms % 1000 * 1000};
	struct event *timer = evtimer_new(rig->base, on_time, rig->base);

	event_add(timer, &wait);
	event_base_dispatch(rig->base);
	event_free(timer);
}

int64_t rig_number(const struct rig_call *call, const char *name)
{
	yyjson_doc *d = yyjson_read(call->body.data, call->body.len, 0);
	yyjson_val *v = yyjson_obj_get(yyjson_doc_get_root(d), name);
	int64_t number = yyjson_is_int(v) ? yyjson_get_sint(v) : -1;

	yyjson_doc_free(d);
	return number;
}

/* ---- looking ---- */

int64_t *rig_ledger(const struct rig *rig, size_t *count)
{
	int64_t *numbers = calloc(RIG_CALLS_MAX, sizeof(*numbers));
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/ledger", rig->directory);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	*count = 0;
	while (fgets(line, sizeof(line), f)) {
		const char *n = strchr(line, ' ');

		ck_assert_ptr_nonnull(n);
		numbers[(*count)++] = atoll(n);
	}
	fclose(f);
	return numbers;
}

bool rig_received(struct rig *rig, size_t count, int64_t ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);
	size_t received = 0;

	while (received < count && clock_mono().us < end.us) {
		rig_turn(rig, 5);
		free(rig_ledger(rig, &received));
	}
	return received == count;
}

bool rig_has_socket(const struct rig *rig, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", rig->directory, name);
	return access(path, F_OK) == 0;
}

int rig_open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(d))
		count++;
	closedir(d);
	return count - 3; /* ".", ".." and the directory itself */
}

void rig_check_all_ok(const struct rig *rig)
{
	for (unsigned i = 0; i < rig->count; i++)
		ck_assert_msg(rig->calls[i].done && rig->calls[i].status == BUS_OK,
			"call %u of %u: done %d status %d after %lld ms: %.*s", i,
			rig->count, rig->calls[i].done, rig->calls[i].status,
			(long long)rig->calls[i].ms,
			STR_ARG(buf_str(&rig->calls[i].message)));
}

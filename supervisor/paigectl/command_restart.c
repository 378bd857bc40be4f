/* command_restart.c - paigectl restart, start and stop. */
#include "common/base/file_io.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

/* Longer than the supervisor itself waits (start deadline and stop grace of a worker). */
#define RESTART_MS 200000
/* Longer than all stages of a stop together. */
#define STOP_MS 60000
#define ASK_MS 10000

static int64_t took_ms(yyjson_doc *doc)
{
	return yyjson_get_sint(yyjson_obj_get(yyjson_doc_get_root(doc), "took_ms"));
}

/* Has the daemon restart, start or stop `worker`, "all" for each. `how` is for people. */
static int steer(const struct options *o, enum ctl_command command, const char *worker,
	const char *how)
{
	struct ctl_request request = {.command = command, .has_command = true};
	AUTO_PLACE place = {0};
	AUTO_BUF json = {0};
	AUTO_DOC *doc = NULL;
	int code;

	if (paigectl_check_worker(worker, command == CTL_RESTART ? "all" : NULL) != 0)
		return PAIGECTL_USAGE;
	if (strcmp(worker, "all") != 0)
		request.worker = str_of(worker);
	code = place_find(o, &place);
	proto_encode(ctl_request_type(), &request, &json);
	if (code == 0)
		code = client_ask(&place, buf_str(&json), RESTART_MS, &doc);
	if (code == 0 && options_get(o, "json"))
		code = paigectl_print_json(yyjson_doc_get_root(doc));
	else if (code == 0)
		printf("%s %s after %" PRId64 " ms\n",
			request.worker.ptr ? worker : "all workers", how, took_ms(doc));
	return code;
}

int paigectl_restart(const struct options *o)
{
	return steer(o, CTL_RESTART, o->operand_count > 0 ? o->operands[0] : "all",
		"restarted, ready");
}

int paigectl_start(const struct options *o)
{
	if (o->operand_count < 1)
		return paigectl_fail(PAIGECTL_USAGE,
			"start needs the name of a WORKER. The daemon itself is started "
			"by its unit (`systemctl start`) or by paiged.");
	return steer(o, CTL_START, o->operands[0], "started, ready");
}

/* 0 when the process has ended. */
static int wait_for_end(int pidfd, pid_t pid)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	if (poll(&p, 1, STOP_MS) == 1)
		return PAIGECTL_DONE;
	return paigectl_fail(PAIGECTL_FAILED,
		"the daemon (process %d) has not ended after %d s", (int)pid,
		STOP_MS / 1000);
}

static int stop_daemon(const struct options *o)
{
	AUTO_PLACE place = {0};
	AUTO_DOC *doc = NULL;
	int code = place_find(o, &place);
	AUTO_FD pidfd = -1;

	if (code == 0 && place.pid) {
		/* Before it is asked, so that the number cannot have become another's. */
		pidfd = pidfd_open(place.pid, 0);
		if (pidfd < 0)
			code = paigectl_fail(
				errno == ESRCH ? PAIGECTL_NOT_RUNNING : PAIGECTL_FAILED,
				"cannot watch the daemon (process %d): %s",
				(int)place.pid, strerror(errno));
	}
	if (code == 0)
		code = client_ask(
			&place, STR_LIT("{\"command\":\"stop\"}"), ASK_MS, &doc);
	if (code == 0)
		code = wait_for_end(pidfd, place.pid);
	if (code == 0 && options_get(o, "json"))
		code = paigectl_print_message(paigectl_stopped_type(),
			&(struct paigectl_stopped){.pid = place.pid, .has_pid = true});
	else if (code == 0)
		printf("stopped (process %d)\n", (int)place.pid);
	return code;
}

int paigectl_stop(const struct options *o)
{
	if (o->operand_count > 0)
		return steer(o, CTL_STOP, o->operands[0], "stopped");
	return stop_daemon(o);
}

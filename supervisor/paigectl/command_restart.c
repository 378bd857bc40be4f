/* command_restart.c - paigectl restart and stop. */
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

int paigectl_restart(const struct options *o)
{
	const char *worker = o->operand_count > 0 ? o->operands[0] : "all";
	struct ctl_request request = {.command = CTL_RESTART, .has_command = true};
	struct daemon_place place;
	struct buf json = {0};
	yyjson_doc *doc = NULL;
	int code;

	if (paigectl_check_worker(worker, "all") != 0)
		return PAIGECTL_USAGE;
	if (strcmp(worker, "all") != 0)
		request.worker = str_of(worker);
	code = place_find(o, &place);
	proto_encode(ctl_request_type(), &request, &json);
	if (code == 0)
		code = client_ask(&place, buf_str(&json), RESTART_MS, &doc);
	if (code == 0)
		printf("%s restarted, ready after %" PRId64 " ms\n",
			request.worker.ptr ? worker : "all workers", took_ms(doc));
	yyjson_doc_free(doc);
	buf_free(&json);
	place_free(&place);
	return code;
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

int paigectl_stop(const struct options *o)
{
	struct daemon_place place;
	yyjson_doc *doc = NULL;
	int code = place_find(o, &place);
	int pidfd = -1;

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
	if (code == 0)
		printf("stopped (process %d)\n", (int)place.pid);
	if (pidfd >= 0)
		close(pidfd);
	yyjson_doc_free(doc);
	place_free(&place);
	return code;
}

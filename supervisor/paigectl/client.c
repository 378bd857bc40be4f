/* client.c - paigectl's side of ctl.sock; see paigectl.h and ctl.h. */
#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/file_io.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include "supervisor/shared/lock.h"
#include "supervisor/shared/places.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MAX (4 * 1024 * 1024)
#define TAP_ANSWER_MS 5000
#define CONNECT_SECONDS 2

/* A daemon on the default DATA_DIR is meant before others, unless --config means another.
 */
static int find_unnamed(const char *config_file, struct daemon_place *place)
{
	if (place->pid && !config_file)
		return 0;
	return machine_find(config_file, place);
}

int place_find(const struct options *o, struct daemon_place *place)
{
	struct settings settings;
	AUTO_BUF problems = {0};
	bool named;
	int error;

	*place = (struct daemon_place){0};
	/* Only DATA_DIR counts here; a shell need not know the key of the API. */
	if (settings_load(&settings, options_get(o, "config"), &problems) != 0 &&
		settings.data_dir[0] != '/') {
		fprintf(stderr, "paigectl: DATA_DIR cannot be used:\n%.*s",
			STR_ARG(buf_str(&problems)));
		settings_fini(&settings);
		return PAIGECTL_FAILED;
	}
	place->data_dir = xstrdup(settings.data_dir);
	named = settings_source(&settings, SETTING_ID_data_dir) != SETTING_DEFAULT;
	settings_fini(&settings);
	error = lock_holder(place->data_dir, &place->pid, place->runtime_dir);
	if (error == 0 || error == -ESRCH)
		return named ? 0 : find_unnamed(options_get(o, "config"), place);
	return paigectl_fail(PAIGECTL_FAILED, "cannot look at %s/paiged.lock: %s",
		place->data_dir, strerror(-error));
}

void place_free(struct daemon_place *place)
{
	free(place->data_dir);
	place->data_dir = NULL;
}

/* The socket, or -errno. */
static int connect_to(const char *runtime_dir)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	/* A daemon that hangs may have a full backlog. */
	const struct timeval limit = {.tv_sec = CONNECT_SECONDS};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/" CTL_SOCKET,
		runtime_dir);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

/* Reads to the end of the line or of the stream. 0 or -errno. */
static int read_answer(int fd, int limit_ms, struct buf *answer)
{
	struct mono end = mono_add_ms(clock_mono(), limit_ms);

	while (answer->len < ANSWER_MAX) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = mono_diff_ms(end, clock_mono());
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(fd, buf_reserve(answer, 65536), 65536);
		if (n < 0)
			return -errno;
		answer->len += (size_t)n;
		if (n == 0)
			return answer->len > 0 ? 0 : -ECONNRESET;
		if (answer->data[answer->len - 1] == '\n')
			return 0;
	}
	return -EMSGSIZE;
}

/* *peer may be NULL. */
static int talk(const char *runtime_dir, struct str request, int limit_ms,
	struct ucred *peer, struct buf *answer)
{
	AUTO_FD fd = connect_to(runtime_dir);
	socklen_t peer_len = sizeof(*peer);
	AUTO_BUF line = {0};

	if (fd < 0)
		return fd;
	if (peer && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &peer_len) != 0)
		*peer = (struct ucred){.uid = (uid_t)-1};
	buf_add_str(&line, request);
	buf_add_char(&line, '\n');
	if (send(fd, line.data, line.len, MSG_NOSIGNAL) != (ssize_t)line.len)
		return -errno;
	return read_answer(fd, limit_ms, answer);
}

int client_try(const char *runtime_dir, struct str request, int limit_ms,
	struct ucred *peer, yyjson_doc **doc)
{
	AUTO_BUF answer = {0};
	struct proto_error problem;
	int error = talk(runtime_dir, request, limit_ms, peer, &answer);

	if (!error) {
		*doc = proto_parse(buf_str(&answer), &problem);
		error = *doc ? 0 : -EBADMSG;
	}
	return error;
}

int client_ask(const struct daemon_place *place, struct str request, int limit_ms,
	yyjson_doc **doc)
{
	AUTO_BUF answer = {0};
	struct proto_error problem;
	const char *refusal;
	int error;

	if (place->pid == 0)
		return paigectl_fail(PAIGECTL_NOT_RUNNING, "no daemon is running on %s",
			place->data_dir);
	error = talk(place->runtime_dir, request, limit_ms, NULL, &answer);
	if (error)
		return paigectl_fail(PAIGECTL_FAILED,
			"the daemon (process %d) does not answer on %s/" CTL_SOCKET
			": %s",
			(int)place->pid, place->runtime_dir, strerror(-error));
	*doc = proto_parse((struct str){answer.data, answer.len}, &problem);
	if (!*doc)
		return paigectl_fail(PAIGECTL_FAILED,
			"the daemon gave an invalid answer: %s", problem.text);
	refusal = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(*doc), "error"));
	if (refusal) {
		paigectl_fail(PAIGECTL_FAILED, "%s", refusal);
		yyjson_doc_free(*doc);
		*doc = NULL;
		return PAIGECTL_FAILED;
	}
	return 0;
}

/* Receives the answer with the pipe. *pipe_fd is -1 when none came. 0 or -errno. */
static int receive_pipe(int fd, int limit_ms, int *pipe_fd, struct buf *answer)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct iovec part = {buf_reserve(answer, 4096), 4096};
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *rights;
	ssize_t n;

	*pipe_fd = -1;
	if (poll(&p, 1, limit_ms) <= 0)
		return -ETIMEDOUT;
	n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n < 0 ? -errno : -ECONNRESET;
	answer->len = (size_t)n;
	rights = CMSG_FIRSTHDR(&message);
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
		memcpy(pipe_fd, CMSG_DATA(rights), sizeof(*pipe_fd));
	return 0;
}

int client_tap(const struct daemon_place *place, int *pipe_fd, int *connection)
{
	static const char request[] = "{\"command\":\"tap\"}\n";
	AUTO_BUF answer = {0};
	AUTO_DOC *doc = NULL;
	const char *refusal;
	int error;

	if (place->pid == 0)
		return paigectl_fail(PAIGECTL_NOT_RUNNING, "no daemon is running on %s",
			place->data_dir);
	*connection = connect_to(place->runtime_dir);
	error = *connection < 0 ? *connection : 0;
	if (!error && send(*connection, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
		error = -errno;
	if (!error)
		error = receive_pipe(*connection, TAP_ANSWER_MS, pipe_fd, &answer);
	if (!error && *pipe_fd >= 0)
		return 0;
	doc = yyjson_read(answer.data, answer.len, 0);
	refusal = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "error"));
	paigectl_fail(PAIGECTL_FAILED,
		"the daemon (process %d) does not show its messages: %s", (int)place->pid,
		refusal ? refusal : strerror(error ? -error : EPROTO));
	if (*connection >= 0)
		close(*connection);
	return PAIGECTL_FAILED;
}

int client_status(const struct daemon_place *place, int limit_ms, struct arena *arena,
	struct ctl_status *status, yyjson_doc **doc)
{
	int code = client_ask(place, STR_LIT("{\"command\":\"status\"}"), limit_ms, doc);

	if (code == PAIGECTL_DONE)
		code = client_read(
			yyjson_doc_get_root(*doc), ctl_status_type(), arena, status);
	return code;
}

int client_read(
	yyjson_val *answer, const struct type *type, struct arena *arena, void *out)
{
	struct proto_error problem;

	if (proto_decode(type, answer, "answer", DECODE_LENIENT, arena, out, &problem) ==
		0)
		return PAIGECTL_DONE;
	return paigectl_fail(
		PAIGECTL_FAILED, "the daemon's answer cannot be read: %s", problem.text);
}

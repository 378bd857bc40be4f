/* gh.c - runs the GitHub command line (gh.h). */
#include "workers/llm/gh/gh.h"
#include "common/base/inherited.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/worker.h"
#include "workers/llm/gh/gh_helper.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "gh"
#define ERRORS_MAX 4096
#define EXIT_NOT_LOGGED_IN 4

/* What gh printed and how it ended. */
struct run {
	int out_fd, err_fd, control_fd;
	struct mono deadline;
	struct buf *out;
	char errors[ERRORS_MAX];
	size_t errors_len;
	bool timeout, too_big;
	int status; /* as of waitpid */
};

bool gh_installed(void)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path && *path) {
		size_t n = strcspn(path, ":");
		struct stat st;

		if (snprintf(file, sizeof(file), "%.*s/" PROGRAM, (int)n, path) <
				(int)sizeof(file) &&
			access(file, X_OK) == 0 && stat(file, &st) == 0 &&
			S_ISREG(st.st_mode))
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* What gh is told: how to run, how to reach the network, its own settings with its login,
 * and where the keyring is that may hold one. */
static bool gh_needs(const char *entry)
{
	static const char *const own[] = {"GH_",
		"GITHUB_TOKEN=", "GITHUB_ENTERPRISE_TOKEN=", "DBUS_SESSION_BUS_ADDRESS="};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strncmp(entry, own[i], strlen(own[i])) == 0)
			return true;
	return inherited_harmless(entry) || inherited_network(entry);
}

/* An environment made for gh, with its interactive habits turned off. */
static char **make_environment(struct arena *arena)
{
	static const char *const habits[] = {"GH_PROMPT_DISABLED=1", "GH_PAGER=cat",
		"NO_COLOR=1", "GH_NO_UPDATE_NOTIFIER=1"};
	const size_t habit_count = sizeof(habits) / sizeof(habits[0]);
	size_t n = 0, kept = 0;
	char **out;

	while (environ[n])
		n++;
	out = arena_array(arena, n + habit_count + 1, sizeof(*out));
	/* The first of two that have one name wins. */
	for (size_t i = 0; i < habit_count; i++)
		out[kept++] = arena_cstr(arena, str_of(habits[i]));
	for (size_t i = 0; i < n; i++)
		if (gh_needs(environ[i]))
			out[kept++] = environ[i];
	return out;
}

/* ---- the process that starts gh ---- */

static int helper_fd = -1;
static struct event *helper_ended;

/* paige-gh lies beside this program. */
static int helper_path(char path[PATH_MAX])
{
	static const char name[] = "paige-gh";
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(name));
	char *slash;

	if (n <= 0)
		return n < 0 ? -errno : -ENOENT;
	path[n] = '\0';
	slash = strrchr(path, '/');
	memcpy(slash ? slash + 1 : path, name, sizeof(name));
	return 0;
}

static int spawn_helper(int their_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	AUTO_ARENA arena = {0};
	char path[PATH_MAX];
	/* Whoever looks for the workers by name finds those of the supervisor alone. */
	static char name[] = "gh-helper";
	char *argv[] = {name, NULL};
	int error = helper_path(path);
	sigset_t all, defaults;
	pid_t pid;

	if (error)
		return error;
	/* Blocked until it has said which it ignores. */
	sigfillset(&all);
	sigfillset(&defaults);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, their_fd, GH_HELPER_FD);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(
		&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &all);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	error = posix_spawn(
		&pid, path, &actions, &attributes, argv, make_environment(&arena));
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

/* It never sends anything on this socket. */
static void on_helper_ended(EVENT_UNUSED, void *arg)
{
	log_error("the process that starts gh has ended", NULL);
	worker_die(arg, WORKER_EXIT_DEPENDENCY);
}

int gh_start_helper(struct worker *w)
{
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		error = -errno;
	} else {
		error = spawn_helper(ends[1]);
		close(ends[1]);
	}
	if (error) {
		log_error("the process that starts gh cannot be started", "error", "%s",
			strerror(-error), NULL);
		return WORKER_EXIT_DEPENDENCY;
	}
	helper_fd = ends[0];
	helper_ended = event_new(w->base, helper_fd, EV_READ, on_helper_ended, w);
	if (!helper_ended || event_add(helper_ended, NULL) < 0)
		return WORKER_EXIT_INTERNAL;
	return WORKER_EXIT_OK;
}

/* ---- one run ---- */

static int send_request(
	struct flow *flow, const char *const *arguments, const int fds[GH_REQUEST_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(GH_REQUEST_FDS * sizeof(int))];
	} space = {0};
	AUTO_BUF words = {0};
	struct iovec part;
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = space.bytes,
		.msg_controllen = sizeof(space.bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	const char *directory = flow->snapshot->settings->project_dir;
	int error = 0;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(GH_REQUEST_FDS * sizeof(int));
	memcpy(CMSG_DATA(header), fds, GH_REQUEST_FDS * sizeof(int));
	buf_add(&words, directory, strlen(directory) + 1);
	for (int i = 0; arguments[i]; i++)
		buf_add(&words, arguments[i], strlen(arguments[i]) + 1);
	part = (struct iovec){.iov_base = words.data, .iov_len = words.len};
	if (words.len > GH_REQUEST_MAX)
		error = -E2BIG;
	else if (sendmsg(helper_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		error = -errno;
	return error;
}

static int start(struct flow *flow, const char *const *arguments, struct run *run)
{
	int pairs[GH_REQUEST_FDS][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	int theirs[GH_REQUEST_FDS];
	int error = 0;

	if (pipe2(pairs[0], O_CLOEXEC) < 0 || pipe2(pairs[1], O_CLOEXEC) < 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[2]) < 0)
		error = -errno;
	for (int i = 0; i < GH_REQUEST_FDS; i++)
		theirs[i] = pairs[i][1];
	if (!error)
		error = send_request(flow, arguments, theirs);
	for (int i = 0; i < GH_REQUEST_FDS; i++) {
		if (pairs[i][1] >= 0)
			close(pairs[i][1]);
		if (error && pairs[i][0] >= 0)
			close(pairs[i][0]);
	}
	run->out_fd = pairs[0][0];
	run->err_fd = pairs[1][0];
	run->control_fd = pairs[2][0];
	run->deadline =
		mono_add_ms(clock_mono(), flow->snapshot->settings->gh_timeout_ms);
	return error;
}

/* Reads once; closes at the end of the stream. */
static void take(struct run *run, int *fd, bool errors)
{
	char piece[65536];
	ssize_t n = read(*fd, piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(*fd);
		*fd = -1;
		return;
	}
	if (errors) {
		size_t room = sizeof(run->errors) - 1 - run->errors_len;
		size_t take_n = (size_t)n < room ? (size_t)n : room;

		memcpy(run->errors + run->errors_len, piece, take_n);
		run->errors_len += take_n;
	} else if (run->out->len + (size_t)n > GH_OUTPUT_MAX) {
		run->too_big = true;
	} else {
		buf_add(run->out, piece, (size_t)n);
	}
}

/* Waits a little for any of them; false when the time is over or the flow is told to end.
 */
static bool wait_for(struct flow *flow, struct run *run, struct pollfd *fds, nfds_t count)
{
	int64_t left = mono_diff_ms(run->deadline, clock_mono());

	if (left <= 0 || *flow_cancelled(flow)) {
		run->timeout = true;
		return false;
	}
	if (poll(fds, count, left < 200 ? (int)left : 200) <= 0)
		for (nfds_t i = 0; i < count; i++)
			fds[i].revents = 0;
	return true;
}

/* Until both streams end, the time is over, too much comes, or the flow is told to end.
 */
static void listen_to(struct flow *flow, struct run *run)
{
	while ((run->out_fd >= 0 || run->err_fd >= 0) && !run->too_big) {
		struct pollfd fds[2] = {{.fd = run->out_fd, .events = POLLIN},
			{.fd = run->err_fd, .events = POLLIN}};

		if (!wait_for(flow, run, fds, 2))
			return;
		if (fds[0].revents)
			take(run, &run->out_fd, false);
		if (fds[1].revents)
			take(run, &run->err_fd, true);
	}
}

/* How it ended, or that it did not start. With the control socket closed before, the
 * whole group of gh is killed. */
static int finish(struct flow *flow, struct run *run)
{
	struct pollfd ended = {.fd = run->control_fd, .events = POLLIN};
	int32_t result = -EPIPE;

	while (!run->timeout && !run->too_big && !ended.revents)
		wait_for(flow, run, &ended, 1);
	if (ended.revents && recv(run->control_fd, &result, sizeof(result),
				     MSG_DONTWAIT) != sizeof(result))
		result = -EPIPE;
	if (run->out_fd >= 0)
		close(run->out_fd);
	if (run->err_fd >= 0)
		close(run->err_fd);
	close(run->control_fd);
	if (run->timeout || run->too_big)
		return 0;
	run->status = result;
	return result < 0 ? result : 0;
}

static const char *problem_of(const struct run *run)
{
	if (run->timeout)
		return "GitHub did not answer in time";
	if (run->too_big)
		return "GitHub's answer was too large";
	if (WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0)
		return NULL;
	if (WIFEXITED(run->status) && WEXITSTATUS(run->status) == EXIT_NOT_LOGGED_IN)
		return "GitHub CLI is not logged in. Run: gh auth login";
	if (memmem(run->errors, run->errors_len, "no git remotes", 14) ||
		memmem(run->errors, run->errors_len, "not a git repository", 20))
		return "No GitHub remote found";
	return "GitHub could not be asked. Run gh issue list in the project to see why";
}

/* 0 with what it printed in `out`; else -1 with *problem. */
static int run_gh(struct flow *flow, const char *const *arguments, struct buf *out,
	const char **problem)
{
	struct run run = {.out = out};
	int error = start(flow, arguments, &run);

	if (!error) {
		listen_to(flow, &run);
		error = finish(flow, &run);
	}
	if (error) {
		*problem =
			error == -ENOENT
				? "GitHub CLI not found. Paige reads the open issues of "
				  "the project with it. To install it: apt install gh. "
				  "To log in: gh auth login"
				: "GitHub CLI could not be started";
		return -1;
	}
	*problem = problem_of(&run);
	if (!*problem)
		return 0;
	log_warn("gh failed", "command", "%s", arguments[0], "problem", "%s", *problem,
		NULL);
	return -1;
}

yyjson_val *gh_run_json(
	struct flow *flow, const char *const *arguments, const char **problem)
{
	AUTO_BUF out = {0};
	yyjson_doc *doc = NULL;

	if (run_gh(flow, arguments, &out, problem) == 0) {
		doc = yyjson_read(out.data ? out.data : "", out.len, 0);
		if (doc)
			flow_keep_document(flow, doc);
		else
			*problem = "GitHub's answer was not understood";
	}
	return yyjson_doc_get_root(doc);
}

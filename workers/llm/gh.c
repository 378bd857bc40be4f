/* gh.c - runs the GitHub command line (gh.h). */
#include "workers/llm/gh.h"
#include "common/inherited.h"
#include "common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "gh"
#define ARGUMENTS_MAX 32
#define ERRORS_MAX 4096
#define EXIT_NOT_LOGGED_IN 4

/* What gh printed and how it ended. */
struct run {
	pid_t pid;
	int out_fd, err_fd;
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

const char *gh_config_dir(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = {{"GH_CONFIG_DIR", ""}, {"XDG_CONFIG_HOME", "/gh"},
		{"HOME", "/.config/gh"}};
	static char dir[4096];
	const char *base = NULL;
	size_t i = 0;

	for (; i < sizeof(places) / sizeof(places[0]); i++)
		if ((base = getenv(places[i].variable)) != NULL && *base)
			break;
	if (!base || !*base ||
		snprintf(dir, sizeof(dir), "%s%s", base, places[i].below) >=
			(int)sizeof(dir) ||
		access(dir, F_OK) != 0)
		return NULL;
	return dir;
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

static int start(struct flow *flow, const char *const *arguments, struct run *run)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *argv[ARGUMENTS_MAX + 2] = {arena_cstr(&flow->arena, str_of(PROGRAM))};
	int out[2], err[2], error;
	sigset_t none, defaults;

	for (int i = 0; i < ARGUMENTS_MAX && arguments[i]; i++)
		argv[i + 1] = arena_cstr(&flow->arena, str_of(arguments[i]));
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err, O_CLOEXEC) < 0) {
		error = -errno;
		close(out[0]);
		close(out[1]);
		return error;
	}
	sigemptyset(&none);
	sigfillset(&defaults);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_adddup2(&actions, err[1], 2);
	posix_spawn_file_actions_addchdir_np(
		&actions, flow->snapshot->settings->project_dir);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	error = posix_spawnp(&run->pid, PROGRAM, &actions, &attributes, argv,
		make_environment(&flow->arena));
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	close(err[1]);
	run->out_fd = out[0];
	run->err_fd = err[0];
	if (error) {
		close(out[0]);
		close(err[0]);
	}
	return -error;
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

/* Until both streams end, the time is over, too much comes, or the flow is told to end.
 */
static void listen_to(struct flow *flow, struct run *run)
{
	struct mono deadline =
		mono_add_ms(clock_mono(), flow->snapshot->settings->gh_timeout_ms);

	while ((run->out_fd >= 0 || run->err_fd >= 0) && !run->too_big) {
		struct pollfd fds[2] = {{.fd = run->out_fd, .events = POLLIN},
			{.fd = run->err_fd, .events = POLLIN}};
		int64_t left = mono_diff_ms(deadline, clock_mono());

		if (left <= 0 || *flow_cancelled(flow)) {
			run->timeout = true;
			return;
		}
		if (poll(fds, 2, left < 200 ? (int)left : 200) <= 0)
			continue;
		if (fds[0].revents)
			take(run, &run->out_fd, false);
		if (fds[1].revents)
			take(run, &run->err_fd, true);
	}
}

/* Ends the whole group: what gh started must not outlive it, whatever it does with
 * SIGTERM. */
static void finish(struct run *run)
{
	if (run->out_fd >= 0)
		close(run->out_fd);
	if (run->err_fd >= 0)
		close(run->err_fd);
	if (run->timeout || run->too_big)
		kill(-run->pid, SIGKILL);
	while (waitpid(run->pid, &run->status, 0) < 0 && errno == EINTR)
		;
	kill(-run->pid, SIGKILL);
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

int gh_run(struct flow *flow, const char *const *arguments, struct buf *out,
	const char **problem)
{
	struct run run = {.out = out};
	int error = start(flow, arguments, &run);

	if (error) {
		*problem = error == -ENOENT ? "GitHub CLI not found"
					    : "GitHub CLI could not be started";
		return -1;
	}
	listen_to(flow, &run);
	finish(&run);
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
	struct buf out = {0};
	yyjson_doc *doc = NULL;

	if (gh_run(flow, arguments, &out, problem) == 0) {
		doc = yyjson_read(out.data ? out.data : "", out.len, 0);
		if (doc)
			flow_keep_document(flow, doc);
		else
			*problem = "GitHub's answer was not understood";
	}
	buf_free(&out);
	return yyjson_doc_get_root(doc);
}

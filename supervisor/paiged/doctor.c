/* doctor.c - see doctor.h. */
#include "supervisor/paiged/doctor.h"

#include "common/base/alloc.h"
#include "common/loop/timer.h"
#include "supervisor/paiged/directories.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* All its checks together take less, each has a deadline of its own. */
#define RUN_MS 40000
#define TEXT_MAX (256 * 1024)
#define READ_BYTES 16384

extern char **environ;

void doctor_stop(struct doctor_run *run)
{
	siginfo_t info;

	if (run->pid <= 0)
		return;
	/* Nobody else reaps it, so the number is still its own. With what it has started, which is in its process group. */
	(void)kill(-run->pid, SIGKILL);
	(void)waitid(P_PID, (id_t)run->pid, &info, WEXITED);
	event_free(run->readable);
	event_free(run->deadline);
	close(run->fd);
	buf_free(&run->text);
	*run = (struct doctor_run){.fd = -1};
}

static void finish(struct doctor_run *run, const char *problem)
{
	AUTO_BUF text = run->text;
	doctor_fn *done = run->done;
	void *arg = run->arg;
	const char *end;
	struct str report = {NULL, 0};

	run->text = (struct buf){0};
	doctor_stop(run);
	end = text.len ? memchr(text.data, '\n', text.len) : NULL;
	if (!problem && end)
		report = (struct str){text.data, (size_t)(end - text.data)};
	done(arg, report, problem ? problem : "it said nothing");
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct doctor_run *run = arg;
	ssize_t n = read(fd, buf_reserve(&run->text, READ_BYTES), READ_BYTES);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		run->text.len += (size_t)n;
	if (n <= 0)
		finish(run, NULL);
	else if (run->text.len > TEXT_MAX)
		finish(run, "it said too much");
}

static void on_deadline(EVENT_UNUSED, void *arg)
{
	finish(arg, "it took too long");
}

/* Our environment with this DATA_DIR. The caller frees the array, not what it holds. */
static char **environment_with(char *data_dir)
{
	static const char name[] = "DATA_DIR=";
	size_t count = 0, used = 0;
	char **out;

	while (environ[count])
		count++;
	out = xcalloc(count + 2, sizeof(*out));
	out[used++] = data_dir;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], name, sizeof(name) - 1) != 0)
			out[used++] = environ[i];
	return out;
}

/* 0 with run->pid, or -errno. */
static int spawn(struct doctor_run *run, const char *program, char **environment, int out)
{
	char *const argv[] = {
		(char[]){"paigectl"}, (char[]){"doctor"}, (char[]){"--json"}, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int error;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes,
		POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	error = posix_spawn(&run->pid, program, &actions, &attributes, argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

/* As doctor_start, with a pipe to write to. */
static int launch(struct doctor_run *run, const struct daemon *d, int out)
{
	AUTO_FREE char *program = directories_find_paigectl();
	AUTO_FREE char *data_dir = xasprintf("DATA_DIR=%s", d->settings.data_dir);
	AUTO_FREE char **environment = environment_with(data_dir);

	return program ? spawn(run, program, environment, out) : -ENOMEM;
}

int doctor_start(
	struct doctor_run *run, const struct daemon *d, doctor_fn *done, void *arg)
{
	int ends[2], error;

	if (run->pid > 0)
		return 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return -errno;
	*run = (struct doctor_run){.done = done, .arg = arg, .fd = ends[0]};
	error = launch(run, d, ends[1]);
	close(ends[1]);
	if (error) {
		run->pid = 0;
		close(ends[0]);
		return error;
	}
	run->readable = alloc_checked(
		event_new(d->base, ends[0], EV_READ | EV_PERSIST, on_readable, run));
	run->deadline = alloc_checked(evtimer_new(d->base, on_deadline, run));
	event_add(run->readable, NULL);
	event_add_ms(run->deadline, RUN_MS);
	return 0;
}

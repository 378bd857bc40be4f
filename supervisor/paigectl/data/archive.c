/* archive.c - see archive.h. Called by command_restore.c. */
#include "supervisor/paigectl/data/archive.h"
#include "common/base/alloc.h"
#include "paige-config.h"
#include "proto/worker.h"
#include "supervisor/shared/replacement.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int refuse_owner(const char *data_dir, uid_t owner)
{
	const struct passwd *user = getpwuid(owner);
	AUTO_FREE char *name =
		user ? xstrdup(user->pw_name) : xasprintf("#%u", (unsigned)owner);

	paigectl_fail(PAIGECTL_FAILED,
		"%s belongs to the user %s; run this as that user: `sudo -u %s env "
		"DATA_DIR=%s paigectl ...`",
		data_dir, name, name, data_dir);
	return PAIGECTL_FAILED;
}

static int take_lock(struct stopped_data *data)
{
	const char *data_dir = data->place.data_dir;
	pid_t holder = 0;
	int error = lock_take(&data->lock, data_dir, &holder);

	if (error == -EAGAIN && holder == 0) /* nobody has signed the lock */
		return paigectl_fail(PAIGECTL_FAILED,
			"%s is in use by another paigectl, or by a paiged that is just "
			"starting; try again when it is done",
			data_dir);
	if (error == -EAGAIN)
		return paigectl_fail(PAIGECTL_FAILED,
			"another process (%d) uses %s; stop it first", (int)holder,
			data_dir);
	/* Workers of a daemon that was killed leave by then. */
	if (error == 0 && data->lock.unclean)
		usleep(WORKER_ORPHAN_MS * 1000);
	if (error == 0)
		error = replacement_finish(data_dir);
	return error < 0 ? paigectl_fail(PAIGECTL_FAILED, "cannot take %s: %s", data_dir,
				   strerror(-error))
			 : PAIGECTL_DONE;
}

int archive_take(const struct options *o, struct stopped_data *data)
{
	struct stat st;
	int code;

	*data = (struct stopped_data){.lock = {.fd = -1, .runtime_fd = -1}};
	code = place_find(o, &data->place);
	if (code != PAIGECTL_DONE)
		return code;
	if (data->place.pid)
		return paigectl_fail(PAIGECTL_FAILED,
			"the daemon (process %d) uses %s; stop it first: `paigectl stop`",
			(int)data->place.pid, data->place.data_dir);
	if ((mkdir(data->place.data_dir, 0700) != 0 && errno != EEXIST) ||
		stat(data->place.data_dir, &st) != 0)
		return paigectl_fail(PAIGECTL_FAILED, "cannot use DATA_DIR=%s: %s",
			data->place.data_dir, strerror(errno));
	if (st.st_uid != geteuid())
		return refuse_owner(data->place.data_dir, st.st_uid);
	return take_lock(data);
}

void archive_leave(struct stopped_data *data)
{
	if (data->lock.fd >= 0)
		lock_release(&data->lock);
	place_free(&data->place);
}

/* That of the build tree which this program lies in, else the installed one. New. */
static char *find_program(const char *folder, const char *name)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *built;

	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		built = xasprintf("%s/../workers/%s/%s", self, folder, name);
		if (access(built, X_OK) == 0)
			return built;
		free(built);
	}
	return xasprintf(PAIGE_LIBEXECDIR "/%s", name);
}

/* Its process, whose words come through *said; or -errno. `in` is its standard input unless that is -1. */
static pid_t start(char *const argv[], int lock_fd, int in, FILE **said)
{
	posix_spawn_file_actions_t actions;
	int ends[2], error;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (in >= 0)
		posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	/* Itself: it stays open, and the lock is held for as long as the program runs. */
	posix_spawn_file_actions_adddup2(&actions, lock_fd, lock_fd);
	error = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*said = error ? NULL : fdopen(ends[0], "r");
	if (!*said)
		close(ends[0]);
	return error ? -error : pid;
}

/* Gives how it ended, as waitpid does; -1 when it was never started. */
static int wait_for(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Runs paige-archive, which reads `in` unless that is -1. An exit code, after having said why; its words in `text` when it went well. */
static int run(const struct stopped_data *data, const char *command, const char *from,
	const char *to, int in, char text[ARCHIVE_SAID_MAX])
{
	char *argv[] = {find_program("store", "paige-archive"), xstrdup(command),
		xstrdup(from), xstrdup(to), NULL};
	FILE *said = NULL;
	pid_t pid = start(argv, data->lock.fd, in, &said);
	size_t n = said ? fread(text, 1, ARCHIVE_SAID_MAX - 1, said) : 0;
	int status;

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	if (said)
		fclose(said);
	status = wait_for(pid);
	if (pid < 0)
		paigectl_fail(
			PAIGECTL_FAILED, "cannot run %s: %s", argv[0], strerror(-pid));
	else if (status != 0)
		paigectl_fail(PAIGECTL_FAILED, "%s",
			n > 0 ? text : "paige-archive ended unexpectedly");
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	return status == 0 ? PAIGECTL_DONE : PAIGECTL_FAILED;
}

int archive_run(const struct stopped_data *data, const char *command, const char *from,
	const char *to)
{
	char text[ARCHIVE_SAID_MAX];

	return run(data, command, from, to, -1, text);
}

int archive_run_mirror(const struct stopped_data *data, const char *url,
	const char *project_dir, const char *folder, char came[ARCHIVE_SAID_MAX])
{
	char *argv[] = {
		find_program("mirror", "paige-mirror"), xstrdup("--learner"), NULL};
	FILE *rows = NULL;
	pid_t pid = -ENOENT;
	int code;

	/* By the environment: others can read arguments. */
	if (access(argv[0], X_OK) == 0 && setenv("MIRROR_URL", url, 1) == 0)
		pid = start(argv, data->lock.fd, -1, &rows);
	if (pid == -ENOENT)
		code = paigectl_fail(PAIGECTL_FAILED,
			"%s is missing: this Paige was built without the mirror",
			argv[0]);
	else if (pid < 0)
		code = paigectl_fail(
			PAIGECTL_FAILED, "cannot run %s: %s", argv[0], strerror(-pid));
	else
		code = run(data, "rows", project_dir, folder, fileno(rows), came);
	if (code != PAIGECTL_DONE && pid > 0)
		kill(pid, SIGTERM); /* it may wait for the server */
	if (rows)
		fclose(rows);
	wait_for(pid);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	return code;
}

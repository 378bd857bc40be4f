/* Files of DATA_DIR replaced by others, all or none, killed at every system call (supervisor/shared/replacement.h). */
#include "supervisor/shared/replacement.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS_MAX 1000

static const char *const names[] = {
	"paige.db", "paige.db-wal", "guard.db", "buffers", "agents", NULL};

static char dir[SCRATCH_SIZE];

/* What is there, "" for a file that is not. */
static const char *get(const char *name)
{
	static char text[4][32];
	static int next;
	char *out = text[next++ % 4];
	int fd = open(scratch_path(dir, name), O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, out, 31);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	return out;
}

/* A learner with a log and unsaved text, and a new one without them but with another database. */
static void set_up(void)
{
	char folder[PATH_MAX];

	scratch_make(dir);
	scratch_write(dir, "paige.db", "old");
	scratch_write(dir, "paige.db-wal", "old log");
	scratch_mkdir(dir, "buffers");
	scratch_write(dir, "buffers/a", "old text");
	scratch_write(dir, "token", "stays");
	ck_assert_int_eq(replacement_begin(dir, folder), 0);
	scratch_write(dir, "replacement.new/files/paige.db", "new");
	scratch_write(dir, "replacement.new/files/guard.db", "new guard");
	scratch_mkdir(dir, "replacement.new/files/agents");
	scratch_write(dir, "replacement.new/files/agents/b", "new agent");
}

static bool is_old(void)
{
	return strcmp(get("paige.db"), "old") == 0 &&
	       strcmp(get("paige.db-wal"), "old log") == 0 &&
	       strcmp(get("buffers/a"), "old text") == 0 && !*get("guard.db") &&
	       !*get("agents/b") && !scratch_exists(dir, "kept");
}

static bool is_new(void)
{
	return strcmp(get("paige.db"), "new") == 0 && !*get("paige.db-wal") &&
	       !*get("buffers/a") && strcmp(get("guard.db"), "new guard") == 0 &&
	       strcmp(get("agents/b"), "new agent") == 0 &&
	       strcmp(get("kept/paige.db"), "old") == 0 &&
	       strcmp(get("kept/paige.db-wal"), "old log") == 0 &&
	       strcmp(get("kept/buffers/a"), "old text") == 0 &&
	       !scratch_exists(dir, "replacement");
}

static int commit(void)
{
	return replacement_commit(dir, names, "kept");
}

static int finish(void)
{
	return replacement_finish(dir);
}

/* Runs it in a process that is killed as it enters its n-th system call. False when it has ended before. */
static bool run_killed(int (*run)(void), int n)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(2);
		raise(SIGSTOP);
		_exit(run() < 0 ? 1 : 0);
	}
	/* A system call stops it at its entry and at its end. */
	for (int stops = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
		stops++) {
		if (stops == 2 * n - 1) {
			ck_assert_int_eq(kill(pid, SIGKILL), 0);
			ck_assert_int_eq(waitpid(pid, &status, 0), pid);
			return true;
		}
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	}
	ck_assert_msg(
		WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
	return false;
}

START_TEST(old_files_are_kept)
{
	set_up();
	ck_assert_int_eq(commit(), 0);
	ck_assert(is_new());
	ck_assert_str_eq(get("token"), "stays");
	ck_assert_int_eq(finish(), 0);
	scratch_remove(dir);
}
END_TEST

START_TEST(killed_at_any_system_call_old_or_new_is_there)
{
	int killed = 0, olds = 0, news = 0;

	for (int n = 1; n < CALLS_MAX; n++) {
		bool was_killed, old;

		set_up();
		was_killed = run_killed(commit, n);
		ck_assert_int_ge(finish(), 0);
		old = is_old();
		ck_assert_msg(old || is_new(), "killed at system call %d: a mixture", n);
		ck_assert_str_eq(get("token"), "stays");
		olds += old;
		news += !old;
		scratch_remove(dir);
		if (!was_killed)
			break;
		killed++;
	}
	ck_assert_msg(killed > 20 && olds > 3 && news > 10, "%d killed: %d old, %d new",
		killed, olds, news);
}
END_TEST

START_TEST(killed_again_while_it_is_completed)
{
	for (int n = 1; n < CALLS_MAX; n++) {
		bool was_killed;

		set_up();
		scratch_write(dir, "replacement.new/to-move",
			"kept\npaige.db\npaige.db-wal\nguard.db\nbuffers\nagents\n");
		ck_assert_int_eq(rename(scratch_path(dir, "replacement.new"),
					 scratch_path(dir, "replacement")),
			0);
		was_killed = run_killed(finish, n);
		was_killed = run_killed(finish, n) || was_killed;
		ck_assert_int_ge(finish(), 0);
		ck_assert_msg(is_new(), "killed at system call %d", n);
		scratch_remove(dir);
		if (!was_killed)
			return;
	}
	ck_abort_msg("never came to its end");
}
END_TEST

START_TEST(what_never_counted_is_forgotten)
{
	char folder[PATH_MAX];

	set_up();
	ck_assert_int_eq(finish(), 0);
	ck_assert(is_old());
	ck_assert_int_eq(replacement_begin(dir, folder), 0);
	ck_assert_str_eq(get("replacement.new/files/paige.db"), "");
	ck_assert_int_eq(replacement_finish("/nonexistent"), -ENOENT);
	scratch_remove(dir);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("replacement");

	tcase_add_test(tests, old_files_are_kept);
	tcase_add_test(tests, killed_at_any_system_call_old_or_new_is_there);
	tcase_add_test(tests, killed_again_while_it_is_completed);
	tcase_add_test(tests, what_never_counted_is_forgotten);
	return check_run(tests);
}

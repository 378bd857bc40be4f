/* Copies of a database that is in use (workers/store/db/backup_file.h). */
#include "tests/unit/store/store_fixture.h"
#include "workers/store/db/backup_file.h"
#include "workers/store/db/inspect.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static atomic_bool cancel;
static char target[SCRATCH_SIZE + 32];

static void setup(void)
{
	fixture_setup();
	snprintf(target, sizeof(target), "%s/copy.db", fixture_dir);
	cancel = false;
	must_call(METHOD_SESSION_START, NULL, "{}");
}

static void fill(int count)
{
	execute(arena_printf(&fixture_arena,
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
		"< %d) "
		"INSERT INTO action_log SELECT lower(hex(randomblob(16))), sessions.id, "
		"'file_save', "
		"'{\"path\":\"a path to fill some pages with\"}', "
		"'2026-01-01T00:00:00.000Z' "
		"FROM sessions, n",
		count)
			.ptr);
}

static int make(int64_t *bytes, struct error_text *problem)
{
	return backup_file_write(fixture_path, target, &cancel, bytes, problem);
}

static long count_in_copy(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	long n;

	ck_assert_int_eq(
		sqlite3_open_v2(target, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	n = (long)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return n;
}

START_TEST(a_copy_is_whole_and_needs_no_log)
{
	struct error_text problem;
	struct database copy;
	struct inspection seen;
	struct stat st;
	int64_t bytes = 0;

	fill(5000);
	ck_assert_msg(make(&bytes, &problem) == 0, "%s", problem.text);
	ck_assert_int_eq(stat(target, &st), 0);
	ck_assert_int_eq(st.st_size, bytes);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert(!scratch_exists(fixture_dir, "copy.db-wal"));
	ck_assert(!scratch_exists(fixture_dir, "copy.db" BACKUP_FILE_PART));
	ck_assert_int_eq(count_in_copy("SELECT count(*) FROM action_log WHERE "
				       "action_type = 'file_save'"),
		5000);
	ck_assert_int_eq(count_in_copy("SELECT count(*) FROM pragma_journal_mode WHERE "
				       "journal_mode = 'delete'"),
		1);
	/* It can take the place of the original. */
	ck_assert_int_eq(inspect_file(target, NULL, 1000, &seen), 0);
	ck_assert_msg(database_open(&copy, target, &paige_schema, &problem) == 0, "%s",
		problem.text);
	database_close(&copy);
	/* An older copy is replaced. */
	fill(10);
	ck_assert_int_eq(make(&bytes, &problem), 0);
	ck_assert_int_eq(count_in_copy("SELECT count(*) FROM action_log WHERE "
				       "action_type = 'file_save'"),
		5010);
}
END_TEST

/* ---- while others write ---- */

static void *copy_on_a_thread(void *arg)
{
	struct error_text problem;
	int64_t bytes;
	int *result = arg;

	*result = make(&bytes, &problem);
	return NULL;
}

START_TEST(a_copy_is_of_one_moment)
{
	pthread_t thread;
	int result = -1, rounds = 0;

	fill(60000);
	execute("CREATE TABLE pairs (a); INSERT INTO pairs VALUES (1), (1)");
	ck_assert_int_eq(pthread_create(&thread, NULL, copy_on_a_thread, &result), 0);
	while (pthread_tryjoin_np(thread, NULL) != 0) {
		execute("UPDATE pairs SET a = a + 1");
		rounds++;
	}
	ck_assert_int_eq(result, 0);
	/* Writing went on, and the copy saw no half of it. */
	ck_assert_int_gt(rounds, 1);
	ck_assert_int_eq(count_in_copy("SELECT count(DISTINCT a) FROM pairs"), 1);
	ck_assert_int_eq(count_in_copy("SELECT count(*) FROM action_log WHERE "
				       "action_type = 'file_save'"),
		60000);
}
END_TEST

START_TEST(a_copy_that_is_given_up_leaves_nothing)
{
	struct error_text problem;
	int64_t bytes;

	fill(5000);
	cancel = true;
	ck_assert_int_eq(make(&bytes, &problem), -ECANCELED);
	ck_assert(!scratch_exists(fixture_dir, "copy.db"));
	ck_assert(!scratch_exists(fixture_dir, "copy.db" BACKUP_FILE_PART));
}
END_TEST

/* ---- what goes wrong ---- */

START_TEST(a_damaged_database_gives_no_copy)
{
	struct error_text problem;
	int64_t bytes;
	char junk[4096];
	int fd;

	fill(5000);
	fixture_close();
	memset(junk, 0xA5, sizeof(junk));
	fd = open(fixture_path, O_WRONLY);
	for (int page = 20; page < 60; page++)
		ck_assert_int_eq(pwrite(fd, junk, sizeof(junk), page * 4096),
			(ssize_t)sizeof(junk));
	close(fd);
	ck_assert_int_eq(make(&bytes, &problem), -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(problem.text, "damaged"));
	ck_assert(!scratch_exists(fixture_dir, "copy.db"));
	ck_assert(!scratch_exists(fixture_dir, "copy.db" BACKUP_FILE_PART));
	scratch_remove(fixture_dir);
	ck_assert_int_eq(mkdir(fixture_dir, 0700), 0);
	fixture_open();
}
END_TEST

START_TEST(what_cannot_be_read_or_written_is_said)
{
	struct error_text problem;
	int64_t bytes;

	snprintf(target, sizeof(target), "%s/none/copy.db", fixture_dir);
	ck_assert_int_eq(make(&bytes, &problem), -ENOENT);
	ck_assert_ptr_nonnull(strstr(problem.text, "none/copy.db"));
	ck_assert_int_lt(backup_file_write(scratch_path(fixture_dir, "absent.db"), target,
				 &cancel, &bytes, &problem),
		0);
	ck_assert_ptr_nonnull(strstr(problem.text, "absent.db"));
}
END_TEST

START_TEST(a_full_disk_leaves_nothing)
{
	struct error_text problem;
	int64_t bytes;
	struct rlimit before, small = {200 * 1024, 200 * 1024};
	int result;

	fill(20000);
	execute("PRAGMA wal_checkpoint(TRUNCATE)");
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	result = make(&bytes, &problem);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_lt(result, 0);
	ck_assert_ptr_nonnull(strstr(problem.text, "copy.db"));
	ck_assert(!scratch_exists(fixture_dir, "copy.db"));
	ck_assert(!scratch_exists(fixture_dir, "copy.db" BACKUP_FILE_PART));
	/* The database itself is none the worse. */
	must_call(METHOD_SESSION_END, NULL, "{}");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("backup");

	tcase_add_checked_fixture(tc, setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_copy_is_whole_and_needs_no_log);
	tcase_add_test(tc, a_copy_is_of_one_moment);
	tcase_add_test(tc, a_copy_that_is_given_up_leaves_nothing);
	tcase_add_test(tc, a_damaged_database_gives_no_copy);
	tcase_add_test(tc, what_cannot_be_read_or_written_is_said);
	tcase_add_test(tc, a_full_disk_leaves_nothing);
	return check_run(tc);
}

/* Opening of database files: fresh, existing, damaged in every way, foreign, locked
 * (EC-06, R33). */
#include "tests/check_run.h"
#include "workers/store/db/database.h"
#include "workers/store/db/inspect.h"
#include "workers/store/memory/memory.h"
#include "workers/store/streams/streams.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];
static char path[80];
static char log_path[96];

static void setup(void)
{
	strcpy(directory, "/tmp/paige-test-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/paige.db", directory);
	snprintf(log_path, sizeof(log_path), "%s-wal", path);
}

static void teardown(void)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	while ((e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(directory);
}

/* The whole file, to see that not a byte of it changed. */
struct content {
	char *bytes;
	size_t len;
};

static struct content content_of(const char *name)
{
	struct content c = {0};
	struct stat st;
	int fd = open(name, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	c.len = (size_t)st.st_size;
	c.bytes = malloc(c.len + 1);
	ck_assert_int_eq(read(fd, c.bytes, c.len), (ssize_t)c.len);
	close(fd);
	return c;
}

static void write_content(const char *name, struct content c)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, c.bytes, c.len), (ssize_t)c.len);
	close(fd);
}

static void overwrite(const char *name, off_t at, size_t len)
{
	int fd = open(name, O_WRONLY);
	char junk[512];

	memset(junk, 0xA5, sizeof(junk));
	for (size_t done = 0; done < len; done += sizeof(junk))
		ck_assert_int_eq(pwrite(fd, junk, sizeof(junk), at + (off_t)done),
			(ssize_t)sizeof(junk));
	close(fd);
}

static int files_in_directory(void)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void execute(sqlite3 *db, const char *sql)
{
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
		sqlite3_errmsg(db));
}

static void add_rows(sqlite3 *db, int from, int to)
{
	char sql[400];

	for (int i = from; i < to; i++) {
		snprintf(sql, sizeof(sql),
			"INSERT INTO action_log VALUES ('a%d', 's', 'tab_switch', "
			"'{\"toPath\":\"a quite long path, so that pages fill %d\"}', "
			"'2026-01-01T00:00:00.000Z')",
			i, i);
		execute(db, sql);
	}
}

/* A database with some pages in it. With `crashed`, as a process leaves it that is
 * killed: its last rows stand in the log only. */
static void make_database(bool crashed)
{
	struct database db;
	struct error_text problem;

	ck_assert_msg(database_open(&db, path, &paige_schema, &problem) == 0, "%s",
		problem.text);
	execute(db.handle, "INSERT INTO sessions VALUES ('s', '/p', 1, NULL, 'active', "
			   "'2026-01-01T00:00:00.000Z', NULL)");
	execute(db.handle, "BEGIN");
	add_rows(db.handle, 0, 500);
	execute(db.handle, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
	if (crashed) {
		struct content file, log;

		add_rows(db.handle, 500, 520);
		file = content_of(path);
		log = content_of(log_path);
		database_close(&db);
		write_content(path, file);
		write_content(log_path, log);
		free(file.bytes);
		free(log.bytes);
		return;
	}
	database_close(&db);
}

static int64_t count(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t n;

	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	n = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return n;
}

START_TEST(a_fresh_file_gets_the_ten_tables)
{
	struct database db;
	struct error_text problem;

	for (int i = 0; i < 2; i++) { /* the second time it is there already */
		ck_assert_msg(database_open(&db, path, &paige_schema, &problem) == 0,
			"%s", problem.text);
		ck_assert_int_eq(
			count(db.handle, "SELECT count(*) FROM sqlite_schema WHERE "
					 "type = 'table' AND name NOT LIKE 'sqlite_%'"),
			10);
		ck_assert_int_eq(
			count(db.handle, "PRAGMA user_version"), paige_schema.version);
		ck_assert_int_eq(count(db.handle, "PRAGMA foreign_keys"), 1);
		ck_assert_int_eq(count(db.handle, "PRAGMA synchronous"), 2);
		ck_assert_int_eq(
			count(db.handle, "SELECT count(*) FROM pragma_journal_mode "
					 "WHERE journal_mode = 'wal'"),
			1);
		database_close(&db);
	}
}
END_TEST

START_TEST(an_empty_file_is_a_fresh_one)
{
	struct database db;
	struct error_text problem;

	write_content(path, (struct content){0});
	ck_assert_int_eq(database_open(&db, path, &paige_schema, &problem), 0);
	ck_assert_int_eq(count(db.handle, "SELECT count(*) FROM sessions"), 0);
	database_close(&db);
}
END_TEST

START_TEST(rows_in_the_log_of_a_killed_process_are_there)
{
	struct database db;
	struct error_text problem;

	make_database(true);
	ck_assert_msg(database_open(&db, path, &paige_schema, &problem) == 0, "%s",
		problem.text);
	ck_assert_int_eq(count(db.handle, "SELECT count(*) FROM action_log"), 520);
	database_close(&db);
}
END_TEST

/* ---- damage ---- */

static void no_database(void)
{
	char junk[8192];

	memset(junk, 'x', sizeof(junk));
	write_content(path, (struct content){junk, sizeof(junk)});
}

static void short_file(void)
{
	write_content(path, (struct content){(char[]){"SQLite format 3"}, 16});
}

static void header_overwritten(void)
{
	make_database(false);
	overwrite(path, 0, 512);
}

static void header_overwritten_with_log(void)
{
	make_database(true);
	overwrite(path, 0, 512);
}

static void schema_overwritten(void)
{
	make_database(false);
	overwrite(path, 100, 2560);
}

static void page_3_overwritten(void)
{
	make_database(false);
	overwrite(path, 2 * 4096, 4096);
}

static void page_3_overwritten_with_log(void)
{
	make_database(true);
	overwrite(path, 2 * 4096, 4096);
}

static void page_in_the_middle_overwritten(void)
{
	struct content c;

	make_database(false);
	c = content_of(path);
	ck_assert_uint_gt(c.len, 40 * 4096);
	free(c.bytes);
	overwrite(path, 35 * 4096, 4096);
}

static void end_cut_off(void)
{
	make_database(false);
	ck_assert_int_eq(truncate(path, 10 * 4096), 0);
}

static void emptied_beside_its_log(void)
{
	make_database(true);
	ck_assert_int_eq(truncate(path, 0), 0);
}

static void removed_beside_its_log(void)
{
	make_database(true);
	ck_assert_int_eq(unlink(path), 0);
}

static void log_is_garbage(void)
{
	make_database(true);
	overwrite(log_path, 0, 8192);
}

static void log_damaged_in_the_middle(void)
{
	make_database(true);
	overwrite(log_path, 32 + 2 * (24 + 4096) + 100, 512);
}

static const struct {
	const char *what;
	void (*damage)(void);
	bool names_log;
} damages[] = {
	{"no database", no_database, false},
	{"too short", short_file, false},
	{"header overwritten", header_overwritten, false},
	{"header overwritten, with a log", header_overwritten_with_log, false},
	{"schema overwritten", schema_overwritten, false},
	{"page 3 overwritten", page_3_overwritten, false},
	{"page 3 overwritten, with a log", page_3_overwritten_with_log, false},
	{"a page in the middle overwritten", page_in_the_middle_overwritten, false},
	{"end cut off", end_cut_off, false},
	{"emptied beside its log", emptied_beside_its_log, false},
	{"removed beside its log", removed_beside_its_log, false},
	{"log is garbage", log_is_garbage, true},
	{"log damaged in the middle", log_damaged_in_the_middle, true},
};

static void expect_same(const char *what, const char *name, struct content before)
{
	struct content after = content_of(name);

	ck_assert_msg(after.len == before.len &&
			      memcmp(after.bytes, before.bytes, after.len) == 0,
		"%s: %s changed", what, name);
	free(after.bytes);
	free(before.bytes);
}

START_TEST(a_damaged_file_is_refused_as_it_is)
{
	const char *what = damages[_i].what;
	struct content file = {0}, log = {0};
	struct error_text problem = {0};
	struct database db;
	bool has_file, has_log;
	int files, result;

	damages[_i].damage();
	has_file = access(path, F_OK) == 0;
	has_log = access(log_path, F_OK) == 0;
	if (has_file)
		file = content_of(path);
	if (has_log)
		log = content_of(log_path);
	files = files_in_directory();
	result = database_open(&db, path, &paige_schema, &problem);
	ck_assert_msg(result == -EUCLEAN, "%s: %d %s", what, result, problem.text);
	ck_assert_msg(
		strstr(problem.text, damages[_i].names_log ? log_path : path) != NULL,
		"%s: %s", what, problem.text);
	ck_assert_ptr_null(db.handle);
	if (has_file)
		expect_same(what, path, file);
	if (has_log)
		expect_same(what, log_path, log);
	ck_assert_msg(files_in_directory() == files, "%s: files appeared or went", what);
}
END_TEST

/* Sound files that are not what is expected. */
static const struct {
	const char *what, *sql, *told;
	bool anew; /* by `sql` alone */
} strangers[] = {
	{"later version", "PRAGMA user_version = 999", "later version", false},
	{"negative version", "PRAGMA user_version = -5", "version", false},
	{"other mark", "PRAGMA application_id = 1234", "another program", false},
	{"no mark", "PRAGMA application_id = 0", "another program", false},
	{"other program", "CREATE TABLE moz_places (id); PRAGMA user_version = 78",
		"another program", true},
	{"other program, version 0", "CREATE TABLE notes (id)", "another program", true},
	{"other program, version 1", "CREATE TABLE notes (id); PRAGMA user_version = 1",
		"another program", true},
	{"table missing", "DROP TABLE action_log", "table action_log is missing", false},
	{"column missing", "ALTER TABLE sessions DROP COLUMN issue_title",
		"table sessions lacks the column issue_title", false},
};

START_TEST(a_file_of_a_later_version_or_of_others_is_refused)
{
	const char *what = strangers[_i].what;
	struct error_text problem = {0};
	struct content before;
	struct database db;
	sqlite3 *plain;

	if (!strangers[_i].anew)
		make_database(false);
	ck_assert_int_eq(sqlite3_open(path, &plain), SQLITE_OK);
	execute(plain, "PRAGMA journal_mode = DELETE");
	execute(plain, strangers[_i].sql);
	sqlite3_close(plain);
	before = content_of(path);
	ck_assert_msg(database_open(&db, path, &paige_schema, &problem) == -EUCLEAN, "%s",
		what);
	ck_assert_msg(strstr(problem.text, path) != NULL, "%s: %s", what, problem.text);
	ck_assert_msg(strstr(problem.text, strangers[_i].told) != NULL, "%s: %s", what,
		problem.text);
	expect_same(what, path, before);
	ck_assert_int_eq(files_in_directory(), 1);
}
END_TEST

/* As files are that were made before the index was. */
START_TEST(a_missing_index_is_made_anew)
{
	static const char present[] =
		"SELECT count(*) FROM sqlite_schema WHERE name = 'api_calls_by_time'";
	struct error_text problem;
	struct database db;
	sqlite3 *plain;

	make_database(false);
	ck_assert_int_eq(sqlite3_open(path, &plain), SQLITE_OK);
	execute(plain, "DROP INDEX api_calls_by_time");
	ck_assert_int_eq(count(plain, present), 0);
	sqlite3_close(plain);
	ck_assert_msg(database_open(&db, path, &paige_schema, &problem) == 0, "%s",
		problem.text);
	ck_assert_int_eq(count(db.handle, present), 1);
	ck_assert_int_eq(count(db.handle, "SELECT count(*) FROM action_log"), 500);
	database_close(&db);
}
END_TEST

START_TEST(a_pipe_in_place_of_a_file_is_refused_at_once)
{
	struct error_text problem = {0};
	struct database db;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(database_open(&db, path, &paige_schema, &problem), -EUCLEAN);
	ck_assert_msg(strstr(problem.text, path) != NULL, "%s", problem.text);
	unlink(path);
	make_database(false);
	ck_assert_int_eq(mkfifo(log_path, 0600), 0);
	ck_assert_int_eq(database_open(&db, path, &paige_schema, &problem), -EUCLEAN);
	ck_assert_msg(strstr(problem.text, log_path) != NULL, "%s", problem.text);
}
END_TEST

START_TEST(an_older_file_is_brought_forward_step_by_step)
{
	static const struct schema_step steps[] = {
		{"CREATE TABLE t (a); INSERT INTO t VALUES (1)"},
		{"ALTER TABLE t ADD COLUMN b DEFAULT 2"},
		{"UPDATE t SET b = b + 1; SELECT no_such_function(1)"},
		{"UPDATE t SET b = b + 100"},
	};
	struct schema schema = {
		.what = "test", .application_id = 7, .steps = steps, .version = 1};
	char kept[sizeof(path) + 16];
	struct error_text problem;
	struct database db;
	sqlite3 *older;

	ck_assert_int_eq(database_open(&db, path, &schema, &problem), 0);
	database_close(&db);
	schema.version = 2;
	ck_assert_msg(
		database_open(&db, path, &schema, &problem) == 0, "%s", problem.text);
	ck_assert_int_eq(count(db.handle, "SELECT b FROM t"), 2);
	database_close(&db);
	/* The file as it was before. */
	snprintf(kept, sizeof(kept), "%s.schema-1", path);
	ck_assert_int_eq(sqlite3_open(kept, &older), SQLITE_OK);
	ck_assert_int_eq(count(older, "PRAGMA user_version"), 1);
	ck_assert_int_eq(count(older, "SELECT a FROM t"), 1);
	ck_assert_int_eq(count(older, "SELECT count(*) FROM pragma_table_info('t')"), 1);
	sqlite3_close(older);
	/* A step that fails leaves nothing of itself, and those before it stay. */
	schema.version = 4;
	ck_assert_int_lt(database_open(&db, path, &schema, &problem), 0);
	schema.version = 2;
	ck_assert_int_eq(database_open(&db, path, &schema, &problem), 0);
	ck_assert_int_eq(count(db.handle, "SELECT b FROM t"), 2);
	ck_assert_int_eq(count(db.handle, "PRAGMA user_version"), 2);
	database_close(&db);
}
END_TEST

/* ---- every schema that was ever released ---- */

static const struct schema *const schemas[] = {
	&paige_schema, &memory_schema, &streams_schema};

/* The text that a query gives, or "". Returns new. */
static char *text_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	char *text;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK,
		"%s: %s", sql, sqlite3_errmsg(db));
	text = strdup(
		sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0)
			? (const char *)sqlite3_column_text(statement, 0)
			: "");
	sqlite3_finalize(statement);
	return text;
}

/* All tables with their columns; indexes are made anew when they are missing. */
#define SHAPE                                                                            \
	"SELECT group_concat(t.name || '.' || c.name || ' ' || c.type || ' ' || "        \
	"c.\"notnull\" || ' ' || ifnull(c.dflt_value, '') || ' ' || c.pk || ' ' || "     \
	"c.hidden, char(10)) FROM (SELECT name FROM sqlite_schema WHERE type = "         \
	"'table' AND name NOT LIKE 'sqlite_%' ORDER BY name) AS t, "                     \
	"pragma_table_xinfo(t.name) AS c"

static void assert_same_shape(sqlite3 *db, const char *other)
{
	char *ours = text_of(db, SHAPE), *theirs;
	sqlite3 *reference;

	ck_assert_int_eq(sqlite3_open(other, &reference), SQLITE_OK);
	theirs = text_of(reference, SHAPE);
	ck_assert_str_eq(ours, theirs);
	ck_assert_int_gt(strlen(ours), 0);
	sqlite3_close(reference);
	free(ours);
	free(theirs);
}

/* A file as version `version` of `schema` made it, with rows. */
static void make_released(const struct schema *schema, int version)
{
	struct content sql;
	char name[PATH_MAX];
	sqlite3 *db;

	snprintf(name, sizeof(name), TEST_DATA "/../golden/schemas/%s-%d.sql",
		schema->what, version);
	ck_assert_msg(
		access(name, R_OK) == 0, "there is no %s: add the version before", name);
	sql = content_of(name);
	sql.bytes[sql.len] = '\0';
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql.bytes, NULL, NULL, NULL) == SQLITE_OK, "%s",
		sqlite3_errmsg(db));
	ck_assert_int_eq(count(db, "PRAGMA user_version"), version);
	sqlite3_close(db);
	free(sql.bytes);
}

/* Rows of the older file that are not in this one: columns that a step has changed do not
 * count. */
static void assert_rows_are_there(sqlite3 *db, const char *older)
{
	char *sql = sqlite3_mprintf("ATTACH %Q AS older", older);
	char *tables, *table, *columns, *rest;

	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_free(sql);
	tables = text_of(db, "SELECT group_concat(name) FROM older.sqlite_schema WHERE "
			     "type = 'table' AND name NOT LIKE 'sqlite_%'");
	for (table = strtok_r(tables, ",", &rest); table;
		table = strtok_r(NULL, ",", &rest)) {
		sql = sqlite3_mprintf("SELECT group_concat(name) FROM "
				      "pragma_table_info(%Q, 'older') "
				      "WHERE name <> 'latency_ms'",
			table);
		columns = text_of(db, sql);
		sqlite3_free(sql);
		sql = sqlite3_mprintf("SELECT count(*) FROM older.%s", table);
		ck_assert_msg(count(db, sql) > 0, "the file has no rows of %s", table);
		sqlite3_free(sql);
		sql = sqlite3_mprintf("SELECT count(*) FROM (SELECT %s FROM older.%s "
				      "EXCEPT SELECT %s FROM main.%s)",
			columns, table, columns, table);
		ck_assert_msg(count(db, sql) == 0, "rows of %s are lost", table);
		sqlite3_free(sql);
		free(columns);
	}
	free(tables);
	ck_assert_int_eq(sqlite3_exec(db, "DETACH older", NULL, NULL, NULL), SQLITE_OK);
}

static void bring_forward(const struct schema *schema, int version)
{
	char kept[sizeof(path) + 16], other[sizeof(path) + 16];
	struct schema then = *schema;
	struct error_text problem;
	struct database db;
	sqlite3 *older;

	snprintf(kept, sizeof(kept), "%s.schema-%d", path, version);
	snprintf(other, sizeof(other), "%s.other", path);
	make_released(schema, version);
	/* The steps of today make what they made then: a step that was released is
	 * never changed. */
	then.version = version;
	then.statements_count = 0;
	ck_assert_int_eq(database_open(&db, other, &then, &problem), 0);
	assert_same_shape(db.handle, path);
	database_close(&db);
	unlink(other);

	ck_assert_msg(
		database_open(&db, path, schema, &problem) == 0, "%s", problem.text);
	ck_assert_int_eq(count(db.handle, "PRAGMA user_version"), schema->version);
	assert_rows_are_there(db.handle, kept);
	database_close(&db);
	ck_assert_int_eq(sqlite3_open(kept, &older), SQLITE_OK);
	ck_assert_int_eq(count(older, "PRAGMA user_version"), version);
	sqlite3_close(older);
	/* Beside a file that was made anew. */
	ck_assert_int_eq(database_open(&db, other, schema, &problem), 0);
	assert_same_shape(db.handle, path);
	database_close(&db);
	unlink(other);
	unlink(path);
}

START_TEST(every_schema_that_was_released_is_brought_forward)
{
	for (int version = 1; version < schemas[_i]->version; version++)
		bring_forward(schemas[_i], version);
}
END_TEST

START_TEST(rows_of_the_first_guard_db_get_numbers_by_time)
{
	struct error_text problem;
	struct database db;
	char *order;

	make_released(&streams_schema, 1);
	ck_assert_msg(database_open(&db, path, &streams_schema, &problem) == 0, "%s",
		problem.text);
	ck_assert_int_eq(
		sqlite3_exec(db.handle,
			"INSERT INTO rows VALUES (2, 2, 1, 's', 't', '{}', x'04')", NULL,
			NULL, NULL),
		SQLITE_OK);
	order = text_of(db.handle,
		"SELECT group_concat(number || ':' || stream || '.' || seq, ' ') "
		"FROM (SELECT * FROM row_numbers ORDER BY number)");
	ck_assert_str_eq(order, "1:1.1 2:2.1 3:1.2 4:2.2");
	free(order);
	database_close(&db);
}
END_TEST

START_TEST(calls_of_the_first_schema_get_their_status)
{
	struct schema first = paige_schema;
	struct error_text problem;
	struct database db;
	char kept[sizeof(path) + 16];

	first.version = 1;
	ck_assert_int_eq(database_open(&db, path, &first, &problem), 0);
	ck_assert_int_eq(sqlite3_exec(db.handle,
				 "INSERT INTO api_call_log VALUES "
				 "('1', NULL, 'c', 'm', 'h', 7, 1, 2, 0.5, 't'),"
				 "('2', NULL, 'c', 'm', 'h', -1, 0, 0, 0, 't'),"
				 "('3', NULL, 'c', 'm', 'h', -1, 1, 0, 0.25, 't')",
				 NULL, NULL, NULL),
		SQLITE_OK);
	database_close(&db);
	ck_assert_msg(database_open(&db, path, &paige_schema, &problem) == 0, "%s",
		problem.text);
	ck_assert_int_eq(
		count(db.handle, "SELECT count(*) FROM api_call_log WHERE "
				 "(id, status, latency_ms) IN (VALUES ('1', 'ok', 7), "
				 "('2', 'failed', -1), ('3', 'cancelled', -2))"),
		3);
	ck_assert_int_eq(
		count(db.handle,
			"SELECT count(*) FROM pragma_table_info('api_call_log')"),
		10);
	database_close(&db);
	snprintf(kept, sizeof(kept), "%s.schema-1", path);
	ck_assert_int_eq(access(kept, F_OK), 0);
}
END_TEST

START_TEST(a_locked_file_is_busy_and_not_damaged)
{
	struct error_text problem;
	struct database db;
	sqlite3 *other;

	ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
	execute(other, "BEGIN EXCLUSIVE; CREATE TABLE x (y)");
	ck_assert_int_eq(database_open(&db, path, &paige_schema, &problem), -EBUSY);
	execute(other, "ROLLBACK");
	ck_assert_int_eq(database_open(&db, path, &paige_schema, &problem), 0);
	/* Somebody else has it open, in the middle of reading. */
	execute(other, "BEGIN; SELECT count(*) FROM sessions");
	database_close(&db);
	ck_assert_msg(database_open(&db, path, &paige_schema, &problem) == 0, "%s",
		problem.text);
	database_close(&db);
	sqlite3_close(other);
}
END_TEST

START_TEST(a_directory_that_does_not_do_is_named)
{
	struct error_text problem;
	struct database db;

	ck_assert_int_eq(
		database_open(&db, "/no/such/dir/paige.db", &paige_schema, &problem),
		-ENOENT);
	ck_assert_ptr_nonnull(strstr(problem.text, "/no/such/dir"));
	/* The superuser may write everywhere. */
	if (geteuid() == 0)
		return;
	chmod(directory, 0500);
	ck_assert_int_eq(database_open(&db, path, &paige_schema, &problem), -EACCES);
	ck_assert_ptr_nonnull(strstr(problem.text, directory));
	chmod(directory, 0700);
}
END_TEST

START_TEST(damage_and_loss_while_running_are_noticed)
{
	struct inspection seen;
	struct error_text problem;
	struct database db;

	make_database(false);
	ck_assert_int_eq(database_open(&db, path, &paige_schema, &problem), 0);
	ck_assert_int_eq(count(db.handle, "SELECT count(*) FROM action_log"), 500);
	ck_assert_int_eq(inspect_running(path, INSPECT_RUNNING_MS, &seen), 0);
	ck_assert(database_in_place(&db));
	overwrite(path, 2 * 4096, 4096);
	ck_assert_int_eq(inspect_running(path, INSPECT_RUNNING_MS, &seen), -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(seen.problem.text, path));
	/* The inspection did not take the locks of the open database away. */
	ck_assert(database_in_place(&db));
	unlink(log_path);
	ck_assert(!database_in_place(&db));
	unlink(path);
	ck_assert(!database_in_place(&db));
	database_close(&db);
}
END_TEST

START_TEST(a_look_at_a_large_file_ends_in_time)
{
	struct inspection seen;

	make_database(false);
	ck_assert_int_eq(inspect_file(path, NULL, 0, &seen), 0);
	ck_assert(seen.partly);
	ck_assert_int_eq(inspect_file(path, NULL, 5000, &seen), 0);
	ck_assert(!seen.partly);
}
END_TEST

/* All SQL of the tables, the transactions' included, on the schema that it is for: no
 * call has to come for a wrong one to show. */
START_TEST(every_statement_can_be_prepared)
{
	const struct schema *schema = schemas[_i];
	struct error_text problem;
	struct database db;

	ck_assert_msg(
		database_open(&db, path, schema, &problem) == 0, "%s", problem.text);
	ck_assert_int_gt(schema->statements_count, 0);
	for (int n = 0; n < STATEMENTS_OF_ALL + schema->statements_count; n++) {
		AUTO_QUERY *query = query_begin(&db, n);

		ck_assert_msg(query != NULL, "%s: %s: %s", schema->what,
			n < STATEMENTS_OF_ALL ? "transactions.def"
					      : schema->statements[n - STATEMENTS_OF_ALL],
			sqlite3_errmsg(db.handle));
	}
	database_close(&db);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("database");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_fresh_file_gets_the_ten_tables);
	tcase_add_test(tc, an_empty_file_is_a_fresh_one);
	tcase_add_test(tc, rows_in_the_log_of_a_killed_process_are_there);
	check_add_table(tc, a_damaged_file_is_refused_as_it_is, damages);
	check_add_table(tc, every_schema_that_was_released_is_brought_forward, schemas);
	tcase_add_test(tc, rows_of_the_first_guard_db_get_numbers_by_time);
	tcase_add_test(tc, calls_of_the_first_schema_get_their_status);
	check_add_table(tc, a_file_of_a_later_version_or_of_others_is_refused, strangers);
	tcase_add_test(tc, a_missing_index_is_made_anew);
	tcase_add_test(tc, a_pipe_in_place_of_a_file_is_refused_at_once);
	tcase_add_test(tc, an_older_file_is_brought_forward_step_by_step);
	tcase_add_test(tc, a_locked_file_is_busy_and_not_damaged);
	tcase_add_test(tc, a_directory_that_does_not_do_is_named);
	tcase_add_test(tc, damage_and_loss_while_running_are_noticed);
	tcase_add_test(tc, a_look_at_a_large_file_ends_in_time);
	check_add_table(tc, every_statement_can_be_prepared, schemas);
	return check_run(tc);
}

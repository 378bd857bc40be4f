/*
 * test_store_process.c - a real paige-store under everything that can happen to it:
 * killed in the middle, locked out, a full disk, a failing disk, a reader that stays,
 * damage and loss of its file.
 */
#include "common/base/ids.h"
#include "proto/worker.h"
#include "tests/beside.h"
#include "tests/store/store_process.h"
#include "workers/store/service/serve.h"
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000

static struct store_process p;
static struct arena arena;
static char fault[96];

static void setup(void)
{
	arena = (struct arena){0};
	store_process_init(&p, NULL);
	snprintf(fault, sizeof(fault), "%s/fault", p.directory);
	setenv("STORE_FAULT", fault, 1);
	store_process_start(&p);
	ck_assert(store_process_wait_ready(&p));
}

/* What a sanitizer found stands in the log of the store. */
static void check_log(void)
{
	FILE *f = fopen(p.log, "r");
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		ck_assert_msg(
			!strstr(line, "Sanitizer") && !strstr(line, "runtime error"),
			"%s", line);
	if (f)
		fclose(f);
}

static void teardown(void)
{
	check_log();
	store_process_fini(&p);
	arena_free(&arena);
}

static const char *new_key(char out[UUID_SIZE])
{
	uuid7(clock_wall(), out);
	return out;
}

static void must(struct bus_reply reply)
{
	ck_assert_msg(reply.status == BUS_OK, "%.*s %.*s", STR_ARG(reply.code),
		STR_ARG(reply.message));
}

static void start_session(char key[UUID_SIZE])
{
	must(store_call(
		&p, METHOD_SESSION_START, new_key(key), "{\"issueNumber\":7}", &arena));
}

static struct bus_reply tab_switch(int n)
{
	char key[UUID_SIZE], body[64];

	snprintf(body, sizeof(body), "{\"toPath\":\"%d\"}", n);
	return store_call(&p, METHOD_ACTIVITY_TAB_SWITCH, new_key(key), body, &arena);
}

/* Turns the loop until the store tells this condition. */
static bool wait_condition(const char *condition, int ms)
{
	const bool never = false;

	for (int waited = 0; waited < ms; waited += 20) {
		if (strcmp(p.condition, condition) == 0)
			return true;
		store_process_turn(&p, &never, 20);
	}
	return strcmp(p.condition, condition) == 0;
}

static void turn_switch(const char *kind, bool on)
{
	char path[128];

	snprintf(path, sizeof(path), "%s.%s", fault, kind);
	if (on)
		close(open(path, O_CREAT | O_WRONLY, 0600));
	else
		unlink(path);
}

static off_t log_bytes(void)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s-wal", p.database);
	return stat(path, &st) < 0 ? 0 : st.st_size;
}

/* ---- many calls at once ---- */

#define FLOOD_MAX 200000
#define KILLS 30
#define FLOOD_IN_FLIGHT 300

struct flood {
	int goal, sent, answered, acknowledged;
	bool done;
	struct flood_call {
		struct flood *flood;
		char key[UUID_SIZE];
		bool acknowledged;
	} calls[FLOOD_MAX];
};

static void flood_refill(struct flood *f);

static void flood_answer(void *arg, const struct bus_reply *reply)
{
	struct flood_call *c = arg;
	struct flood *f = c->flood;

	c->acknowledged = reply->status == BUS_OK;
	f->acknowledged += c->acknowledged;
	f->answered++;
	if (f->sent - f->answered < FLOOD_IN_FLIGHT / 2)
		flood_refill(f);
	f->done = f->answered == f->goal;
}

static void flood_refill(struct flood *f)
{
	while (f->sent < f->goal && f->sent - f->answered < FLOOD_IN_FLIGHT) {
		struct flood_call *c = &f->calls[f->sent];
		char body[64];

		c->flood = f;
		new_key(c->key);
		snprintf(body, sizeof(body), "{\"toPath\":\"%d\"}", f->sent++);
		bus_call(p.bus, METHOD_ACTIVITY_TAB_SWITCH, str_of(c->key), str_of(body),
			0, flood_answer, c);
	}
}

static struct flood *flood_new(int goal)
{
	struct flood *f = calloc(1, sizeof(*f));

	f->goal = goal;
	flood_refill(f);
	return f;
}

/* Every acknowledged call is there once, in order, and nothing is there twice. */
static void check_flood(const struct flood *f)
{
	char sql[200];

	for (int i = 0; i < f->sent; i++) {
		const struct flood_call *c = &f->calls[i];

		if (!c->acknowledged)
			continue;
		snprintf(sql, sizeof(sql),
			"SELECT count(*) FROM action_log WHERE json_extract(data, "
			"'$.toPath') = '%d'",
			i);
		if (i % 1000 == 0) /* each alone for some, */
			ck_assert_int_eq(store_count(&p, sql), 1);
	}
	/* and all together. */
	ck_assert_int_eq(store_count(&p, "SELECT count(*) FROM action_log WHERE "
					 "action_type = 'tab_switch'"),
		store_count(&p, "SELECT count(DISTINCT json_extract(data, '$.toPath')) "
				"FROM action_log "
				"WHERE action_type = 'tab_switch'"));
	ck_assert_int_ge(store_count(&p, "SELECT count(*) FROM action_log WHERE "
					 "action_type = 'tab_switch'"),
		f->acknowledged);
	ck_assert_int_eq(
		store_count(&p,
			"SELECT count(*) FROM (SELECT CAST(json_extract(data, "
			"'$.toPath') AS INTEGER) AS n, lag(CAST(json_extract(data, "
			"'$.toPath') AS INTEGER)) OVER (ORDER BY rowid) AS before "
			"FROM action_log WHERE action_type = 'tab_switch') "
			"WHERE n < before"),
		0);
}

/* ---- tests ---- */

START_TEST(killed_in_the_middle_it_loses_and_doubles_nothing)
{
	char session[UUID_SIZE], text[256];
	struct flood *f;
	const bool never = false;

	start_session(session);
	f = flood_new(FLOOD_MAX);
	for (int kills = 0; kills < KILLS; kills++) {
		int before = f->answered;

		for (int ms = 0; f->answered == before && ms < 5 * SECOND; ms += 5)
			store_process_turn(&p, &never, 5);
		ck_assert_int_gt(f->answered, before);
		store_process_turn(&p, &never, kills % 7 * 3);
		ck_assert_int_lt(f->answered, f->goal);
		store_process_kill(&p);
		store_process_start(&p);
		ck_assert(store_process_wait_ready(&p));
	}
	f->goal = f->sent;
	ck_assert(store_process_turn(&p, &f->done, 60 * SECOND));
	/* The bus repeats what was lost on the way: all are acknowledged in the end. */
	ck_assert_int_eq(f->acknowledged, f->sent);
	check_flood(f);
	store_query(&p, "PRAGMA integrity_check", text);
	ck_assert_str_eq(text, "ok");
	ck_assert_int_eq(
		store_count(&p, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	ck_assert_int_eq(
		store_count(&p, "SELECT count(*) FROM sessions WHERE status = 'active'"),
		1);
	free(f);
}
END_TEST

#define TOOL(arguments)                                                                  \
	"{\"call\":\"00000000-0000-7000-8000-000000000000\",\"sessionId\":null,"         \
	"\"input\":" arguments "}"

START_TEST(a_call_repeated_after_a_kill_is_done_once)
{
	static const struct {
		enum method method;
		const char *body;
	} calls[] = {
		{METHOD_SESSION_START, "{\"issueNumber\":3}"},
		{METHOD_HINTS_LEVEL_CHANGE, "{\"level\":2}"},
		{METHOD_UI_SHOW_MESSAGE, TOOL("{\"message\":\"m\",\"type\":\"info\"}")},
		{METHOD_UI_HIGHLIGHT_LINES,
			TOOL("{\"path\":\"a\",\"start\":1,\"end\":2,\"style\":"
			     "\"hint\"}")},
		{METHOD_ACTIVITY_IDLE_END, "{}"},
		{METHOD_SESSION_END, "{}"},
	};
	struct bus_reply first, again;
	char key[UUID_SIZE];
	long rows;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		first = store_call(
			&p, calls[i].method, new_key(key), calls[i].body, &arena);
		must(first);
		rows = store_count(&p, "SELECT count(*) FROM action_log") * 1000 +
		       store_count(&p, "SELECT count(*) FROM sessions");
		for (int restart = 0; restart < 2; restart++) {
			if (restart) {
				store_process_kill(&p);
				store_process_start(&p);
				ck_assert(store_process_wait_ready(&p));
			}
			again = store_call(
				&p, calls[i].method, key, calls[i].body, &arena);
			must(again);
			ck_assert_msg(str_eq(first.body, again.body),
				"%s: %.*s, then %.*s", method_infos[calls[i].method].name,
				STR_ARG(first.body), STR_ARG(again.body));
		}
		ck_assert_int_eq(
			store_count(&p, "SELECT count(*) FROM action_log") * 1000 +
				store_count(&p, "SELECT count(*) FROM sessions"),
			rows);
	}
}
END_TEST

START_TEST(sessions_are_told_and_taken_up_again)
{
	char session[UUID_SIZE], want[128];

	ck_assert(str_is(buf_str(&p.detail), "{\"session\":null}"));
	start_session(session);
	session[14] = '4';
	snprintf(want, sizeof(want), "{\"session\":\"%s\"}", session);
	ck_assert(str_is(buf_str(&p.detail), want));
	must(store_call(&p, METHOD_HINTS_LEVEL_CHANGE, new_key((char[UUID_SIZE]){0}),
		"{\"level\":3}", &arena));
	ck_assert_int_eq(store_process_stop(&p), WORKER_EXIT_OK);
	ck_assert_int_eq(log_bytes(), 0);
	store_process_start(&p);
	ck_assert(store_process_wait_ready(&p));
	ck_assert(str_is(buf_str(&p.detail), want));
	snprintf(want, sizeof(want), "\"sessionId\":\"%s\"", session);

	struct bus_reply active =
		store_call(&p, METHOD_SESSION_ACTIVE, NULL, "{}", &arena);

	must(active);
	ck_assert_ptr_nonnull(strstr(active.body.ptr, want));
	ck_assert_ptr_nonnull(strstr(active.body.ptr, "\"hintLevel\":3"));
}
END_TEST

START_TEST(a_lock_is_waited_for_without_standing_still)
{
	char session[UUID_SIZE];
	sqlite3 *other;
	struct flood *f;
	unsigned beats;
	struct mono start;
	const int locked_ms = WORKER_HEARTBEAT_MS + 1000;

	start_session(session);
	ck_assert_int_eq(sqlite3_open(p.database, &other), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(other, "PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE", NULL,
			NULL, NULL),
		SQLITE_OK);
	f = flood_new(300);
	beats = p.heartbeats;
	start = clock_mono();
	ck_assert(!store_process_turn(&p, &f->done, locked_ms));
	/* It beats, and what needs no lock is answered: here, that no tool of the session
	 * is there. */
	ck_assert_uint_ge(p.heartbeats, beats + 1);
	ck_assert_int_eq(store_call(&p, METHOD_SESSION_STATE, NULL,
				 "{\"include\":[\"phase\"]}", &arena)
				 .status,
		BUS_OK);
	ck_assert_int_eq(f->answered, 0);
	ck_assert_int_eq(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	ck_assert(store_process_turn(&p, &f->done, 5 * SECOND));
	ck_assert_int_eq(f->acknowledged, 300);
	check_flood(f);
	/* Rows have the time at which things happened, not that of the lock's end. */
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), locked_ms);
	ck_assert_int_eq(
		store_count(&p,
			"SELECT (julianday('now') - julianday(min(created_at))) * "
			"86400 > 3 FROM action_log WHERE action_type = 'tab_switch'"),
		1);
	sqlite3_close(other);
	free(f);
}
END_TEST

/* Whether the log has so many rows within two seconds. */
static bool rows_come_to(long wanted)
{
	struct mono end = mono_add_ms(clock_mono(), 2 * SECOND);

	while (store_count(&p, "SELECT count(*) FROM action_log") != wanted) {
		if (clock_mono().us >= end.us)
			return false;
		usleep(20000);
	}
	return true;
}

START_TEST(writing_that_fails_is_told_and_recovers)
{
	/* What people do is kept while the disk is full, and not when it is broken. */
	static const struct {
		const char *fault;
		long kept;
	} kinds[] = {{"full", 1}, {"eio", 0}};
	char session[UUID_SIZE];
	struct bus_reply reply;
	long rows;

	start_session(session);
	for (size_t i = 0; i < 2; i++) {
		must(tab_switch(1));
		rows = store_count(&p, "SELECT count(*) FROM action_log");
		turn_switch(kinds[i].fault, true);
		reply = tab_switch(2);
		if (kinds[i].kept) {
			ck_assert_int_eq(reply.status, BUS_OK);
		} else {
			ck_assert_int_eq(reply.status, BUS_ERROR);
			ck_assert(str_is(reply.code, "STORAGE_FAILED"));
			ck_assert_ptr_nonnull(strstr(reply.message.ptr, p.database));
		}
		ck_assert(wait_condition("failing", SECOND));
		ck_assert_ptr_nonnull(strstr(buf_str(&p.reason).ptr, p.database));
		/* Reading goes on, and nothing is half there. */
		must(store_call(&p, METHOD_SESSION_ACTIVE, NULL, "{}", &arena));
		reply = store_call(&p, METHOD_SESSION_END, new_key((char[UUID_SIZE]){0}),
			"{}", &arena);
		ck_assert_int_eq(reply.status, BUS_ERROR);
		ck_assert(str_is(reply.code, "STORAGE_FAILED"));
		ck_assert_ptr_nonnull(strstr(reply.message.ptr, p.database));
		ck_assert_int_eq(
			store_count(&p, "SELECT count(*) FROM action_log"), rows);
		turn_switch(kinds[i].fault, false);
		/* By itself, without any call. */
		ck_assert_msg(wait_condition("fine", 4 * SECOND), "%s", kinds[i].fault);
		must(store_call(&p, METHOD_SESSION_ACTIVE, NULL, "{}", &arena));
		/* What was kept is written when there is room again, which is told first. */
		ck_assert_msg(rows_come_to(rows + kinds[i].kept), "%s", kinds[i].fault);
		must(tab_switch(3));
		ck_assert_int_eq(
			store_count(&p,
				"SELECT count(*) FROM sessions WHERE status = 'active'"),
			1);
	}
}
END_TEST

START_TEST(a_reader_that_stays_is_told_and_the_log_shrinks_after_it)
{
	char session[UUID_SIZE];
	struct buf body = {0};
	const bool never = false;
	sqlite3 *reader;

	start_session(session);
	ck_assert_int_eq(sqlite3_open(p.database, &reader), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM sessions",
				 NULL, NULL, NULL),
		SQLITE_OK);
	for (int call = 0; call < 100; call++) {
		char key[UUID_SIZE], id[UUID_SIZE], at[WALL_ISO_SIZE];

		wall_iso(clock_wall(), at);
		buf_clear(&body);
		for (int i = 0; i < 1000; i++)
			buf_printf(&body,
				"%c{\"id\":\"%s\",\"type\":\"mcp_tool_call\",\"data\":"
				"{\"toolName\":\"%d\",\"sessionId\":null},"
				"\"createdAt\":\"%s\"}",
				i ? ',' : '[', new_key(id), i, at);
		buf_add_str(&body, STR_LIT("]}"));
		must(store_call(&p, METHOD_ACTION_APPEND, new_key(key),
			arena_printf(&arena, "{\"actions\":%.*s", STR_ARG(buf_str(&body)))
				.ptr,
			&arena));
	}
	ck_assert_int_gt(log_bytes(), 16 * 1024 * 1024);
	ck_assert(wait_condition("degraded", 4 * SECOND));
	ck_assert_ptr_nonnull(strstr(buf_str(&p.reason).ptr, "keeps reading"));
	ck_assert_int_eq(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(reader);
	ck_assert(wait_condition("fine", 10 * SECOND));
	for (int waited = 0; waited < 50 && log_bytes() > 0; waited++)
		store_process_turn(&p, &never, 100);
	ck_assert_int_eq(log_bytes(), 0);
	ck_assert_int_eq(store_count(&p, "SELECT count(*) FROM action_log"), 100001);
	buf_free(&body);
}
END_TEST

static int copies_left(void)
{
	char path[128];
	DIR *d;
	struct dirent *e;
	int n = 0;

	snprintf(path, sizeof(path), "%s/backups", p.data_dir);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

START_TEST(a_copy_is_made_while_rows_arrive)
{
	char session[UUID_SIZE], key[UUID_SIZE], again[UUID_SIZE], path[256] = "", *end;
	struct bus_reply reply;
	struct flood *f;
	sqlite3 *copy;
	const bool never = false;

	start_session(session);
	f = flood_new(FLOOD_MAX);
	store_process_turn(&p, &never, 50);
	reply = store_call(&p, METHOD_STORE_BACKUP, new_key(again), "{}", &arena);
	must(reply);
	ck_assert_int_eq(sscanf(reply.body.ptr, "{\"path\":\"%250s", path), 1);
	end = strchr(path, '"');
	ck_assert_ptr_nonnull(end);
	*end = '\0';
	ck_assert_int_eq(copies_left(), 1);
	f->goal = f->sent;
	ck_assert(store_process_turn(&p, &f->done, 60 * SECOND));
	ck_assert_int_eq(f->acknowledged, f->sent);
	ck_assert_int_eq(
		sqlite3_open_v2(path, &copy, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(copy, "SELECT count(*) FROM action_log", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(copy);
	strcpy(p.database, path);
	ck_assert_int_gt(store_count(&p, "SELECT count(*) FROM action_log"), 0);
	store_query(&p, "PRAGMA integrity_check", path);
	ck_assert_str_eq(path, "ok");
	store_query(&p, "PRAGMA journal_mode", path);
	ck_assert_str_eq(path, "delete");
	/* A copy that cannot be written leaves no piece of itself, and rows go on. */
	turn_switch("full", true);
	reply = store_call(&p, METHOD_STORE_BACKUP, new_key(key), "{}", &arena);
	ck_assert_msg(str_is(reply.code, "STORAGE_FAILED"), "%d %.*s %.*s %.*s",
		(int)reply.status, STR_ARG(reply.body), STR_ARG(reply.code),
		STR_ARG(reply.message));
	turn_switch("full", false);
	ck_assert_int_eq(copies_left(), 1);
	must(tab_switch(1));
	/* Of a copy that was cut off nothing is left after the next start; a repeated
	 * call is answered with the one that is whole. */
	snprintf(path, sizeof(path), "%s/backups/cut.db.part", p.data_dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	store_process_kill(&p);
	store_process_start(&p);
	ck_assert(store_process_wait_ready(&p));
	ck_assert_int_eq(copies_left(), 1);
	reply = store_call(&p, METHOD_STORE_BACKUP, again, "{}", &arena);
	must(reply);
	ck_assert_ptr_nonnull(strstr(reply.body.ptr, again));
	ck_assert_int_eq(copies_left(), 1);
	free(f);
}
END_TEST

START_TEST(damage_while_running_stops_all_writing)
{
	char session[UUID_SIZE], junk[4096];
	struct bus_reply reply;
	struct stat before, after;
	int fd;

	start_session(session);
	/* Let the log be empty, so that the damage is in what counts. */
	ck_assert_int_eq(store_process_stop(&p), 0);
	store_process_start(&p);
	ck_assert(store_process_wait_ready(&p));
	must(tab_switch(1));
	memset(junk, 0xA5, sizeof(junk));
	fd = open(p.database, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, junk, sizeof(junk), 2 * 4096), (ssize_t)sizeof(junk));
	close(fd);
	ck_assert(wait_condition("failing", 8 * SECOND));
	ck_assert_ptr_nonnull(strstr(buf_str(&p.reason).ptr, "damaged"));
	reply = tab_switch(2);
	ck_assert(str_is(reply.code, "STORAGE_FAILED"));
	store_process_kill(&p);
	ck_assert_int_eq(stat(p.database, &before), 0);
	store_process_start(&p);
	ck_assert(!store_process_wait_ready(&p));
	ck_assert_int_eq(store_process_wait_end(&p), WORKER_EXIT_CONFIG);
	ck_assert_int_eq(stat(p.database, &after), 0);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}
END_TEST

START_TEST(a_file_that_is_taken_away_is_noticed)
{
	char session[UUID_SIZE];

	start_session(session);
	unlink(p.database);
	ck_assert(wait_condition("failing", 8 * SECOND));
	ck_assert_ptr_nonnull(strstr(buf_str(&p.reason).ptr, "moved or removed"));
	ck_assert(str_is(tab_switch(1).code, "STORAGE_FAILED"));
}
END_TEST

START_TEST(a_start_waits_for_a_lock)
{
	const bool never = false;
	sqlite3 *other;

	ck_assert_int_eq(store_process_stop(&p), 0);
	ck_assert_int_eq(sqlite3_open(p.database, &other), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(other,
				 "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; "
				 "UPDATE sessions SET status = 'active'; COMMIT",
				 NULL, NULL, NULL),
		SQLITE_OK);
	store_process_start(&p);
	/* Under a sanitizer on a busy machine its start alone takes seconds. */
	for (int i = 0; i < 30 && p.heartbeats == 0; i++)
		store_process_turn(&p, &never, 1000);
	ck_assert_uint_ge(p.heartbeats, 1);
	store_process_turn(&p, &never, 1000);
	ck_assert(!p.ready);
	sqlite3_close(other);
	ck_assert(store_process_wait_ready(&p));
}
END_TEST

START_TEST(what_cannot_work_ends_with_a_reason)
{
	char junk[8192], text[4096] = "";
	int fd;
	ssize_t n;

	ck_assert_int_eq(store_process_stop(&p), 0);
	memset(junk, 'x', sizeof(junk));
	fd = open(p.database, O_WRONLY | O_TRUNC);
	ck_assert_int_eq(write(fd, junk, sizeof(junk)), (ssize_t)sizeof(junk));
	close(fd);
	unlink(p.log);
	store_process_start(&p);
	ck_assert(!store_process_wait_ready(&p));
	ck_assert_int_eq(store_process_wait_end(&p), WORKER_EXIT_CONFIG);
	fd = open(p.log, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	ck_assert_int_gt(n, 0);
	ck_assert_ptr_nonnull(strstr(text, p.database));
}
END_TEST

int main(void)
{
	const TTest *const cases[] = {
		killed_in_the_middle_it_loses_and_doubles_nothing,
		a_call_repeated_after_a_kill_is_done_once,
		sessions_are_told_and_taken_up_again,
		a_lock_is_waited_for_without_standing_still,
		writing_that_fails_is_told_and_recovers,
		a_reader_that_stays_is_told_and_the_log_shrinks_after_it,
		a_copy_is_made_while_rows_arrive,
		damage_while_running_stops_all_writing,
		a_file_that_is_taken_away_is_noticed,
		a_start_waits_for_a_lock,
		what_cannot_work_ends_with_a_reason,
	};
	const struct beside how = {setup, teardown, 120};
	char options[1024] = "";

	setenv("LD_PRELOAD", STORE_FAULT_LIBRARY, 1);
	if (getenv("ASAN_OPTIONS"))
		snprintf(options, sizeof(options), "%s:", getenv("ASAN_OPTIONS"));
	strcat(options, "verify_asan_link_order=0");
	setenv("ASAN_OPTIONS", options, 1);
	return beside_run(&how, cases, sizeof(cases) / sizeof(cases[0]));
}

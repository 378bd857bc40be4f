/*
 * Tests of workers/fswatch/watch/coalesce.h. A case is a script, one event a word group:
 *
 *   "0 add a.ts; 1 close a.ts; 300 move a.ts b.ts"      milliseconds, event, paths
 *
 * and what clients must be told, when: "1.5 add a.ts; 400 rename a.ts b.ts".
 */
#include "common/base/buf.h"
#include "tests/check_run.h"
#include "workers/fswatch/watch/coalesce.h"
#include <stdio.h>
#include <stdlib.h>

struct script {
	const char *what;
	const char *seen;
	const char *told;
};

static const struct script scripts[] = {
	{"a new file is told when it is closed", "10 add a; 10.1 write a; 10.2 close a",
		"10.7 add a"},
	{"or a while later", "10 add a", "60 add a"},
	{"or when its writer takes long", "10 add a; 200 close a",
		"60 add a; 200 change a"},
	{"a first change is told at once", "10 close a", "10 change a"},
	{"truncating and writing is one change", "10 write a; 10.1 write a; 10.2 close a",
		"10.2 change a"},
	{"what is kept open is told later", "10 write a; 50 write a", "110 change a"},
	{"further changes wait for the end of the gap",
		"10 close a; 11 close a; 30 close a", "10 change a; 60 change a"},
	{"changes with a gap between them are each told",
		"10 close a; 70 close a; 130 close a",
		"10 change a; 70 change a; 130 change a"},
	{"each file has its own gap", "10 close a; 11 close b",
		"10 change a; 11 change b"},
	{"a removal is told late", "10 remove a", "110 unlink a"},
	{"what comes back has changed", "10 remove a; 50 add a; 51 close a",
		"51 change a"},
	{"what comes back without being written", "10 remove a; 50 add a",
		"150 change a"},
	{"what comes back after the removal was told is new",
		"10 remove a; 200 add a; 200.1 close a", "110 unlink a; 200.6 add a"},
	{"what was never told is not removed", "10 add a; 11 remove a", ""},
	{"added, told and removed", "10 add a; 10.1 close a; 30 remove a",
		"10.6 add a; 130 unlink a"},
	{"a rename", "10 move a b", "110 rename a b"},
	{"a rename and a change", "10 move a b; 20 close b",
		"110 rename a b; 110 change b"},
	{"renamed twice", "10 move a b; 20 move b c", "120 rename a c"},
	{"renamed away and back", "10 move a b; 20 move b a", ""},
	{"renamed away, changed and back", "10 move a b; 20 close b; 30 move b a",
		"30 change a"},
	{"renamed and removed", "10 move a b; 20 remove b", "120 unlink a"},
	{"renamed onto another file", "10 replace a b", "10 change b; 110 unlink a"},
	{"a new file renamed", "10 add a; 10.1 move a b", "10.6 add b"},
	{"saved through a temporary file", "10 add t; 10.1 close t; 10.2 replace t a",
		"10.2 change a"},
	{"the same with a slow disk",
		"10 add t; 10.1 write t; 40 close t; 40.1 replace t a", "40.1 change a"},
	{"the same with a name that tells",
		"10 add a.tmp; 10.1 close a.tmp; 60 replace a.tmp a", "60 change a"},
	{"a new file saved through one",
		"10 add a.tmp; 10.1 close a.tmp; 60 move a.tmp a", "60.5 add a"},
	{"vim: moved aside, written anew, backup removed",
		"10 move a a~; 10.1 add a; 10.2 write a; 10.3 close a; 10.4 remove a~",
		"10.3 change a"},
	{"vim on a slow disk", "10 move a a~; 10.1 add a; 60 close a; 90 remove a~",
		"60 change a"},
	{"moved aside, replaced by a new one",
		"10 move a a~; 11 add t; 12 move t a; 13 remove a~", "12 change a"},
	{"the same, the backup stays", "10 move a a~; 11 add t; 12 move t a",
		"12 change a; 112 add a~"},
	{"a backup copied, then replaced",
		"10 add a.bak; 11 close a.bak; 12 close a; 300 close a",
		"12 change a; 110 add a.bak; 300 change a"},
	{"a probe of vim", "10 add 4913; 11 remove 4913", ""},
	{"a short-lived file that stays", "10 add x.tmp; 11 close x.tmp",
		"110 add x.tmp"},
	{"four saves in a row",
		"10 add t.tmp; 11 replace t.tmp a; 110 add t.tmp; 111 replace t.tmp a; "
		"210 add t.tmp; 211 replace t.tmp a; 310 close a",
		"11 change a; 111 change a; 211 change a; 310 change a"},
	{"a directory is told at once", "10 adddir d", "10 addDir d"},
	{"what is in it comes after it", "10 adddir d; 10 add d/a; 10.1 close d/a",
		"10 addDir d; 10.6 add d/a"},
	{"removals come before that of the directory",
		"10 remove d/a; 11 remove d/b; 12 rmdir d",
		"12 unlink d/a; 12 unlink d/b; 12 unlinkDir d"},
	{"the rest of the project waits on", "10 remove da; 11 rmdir d",
		"11 unlinkDir d; 110 unlink da"},
	{"a directory is renamed", "10 mvdir d e", "10 rename d e"},
	{"what waits in it is told first", "10 add d/a; 11 mvdir d e; 12 close e/a",
		"11 add d/a; 11 rename d e; 12 change e/a"},
	{"a rename across directories, then the directory", "10 move d/a e/a; 11 rmdir d",
		"11 rename d/a e/a; 11 unlinkDir d"},
	{"a rename into a directory that is renamed, with a change",
		"10 move a d/a; 11 close d/a; 12 mvdir d e",
		"12 rename a d/a; 12 change d/a; 12 rename d e"},
	{"a file becomes a directory", "10 remove a; 11 adddir a",
		"11 unlink a; 11 addDir a"},
	{"lost events", "10 add a; 11 lost", "111 tree"},
	{"a lock holds everything back",
		"10 lock; 11 close a; 12 add b; 40 close b; 900 unlock",
		"900 change a; 900 add b"},
	{"a lock around nothing", "10 lock; 20 unlock", ""},
	{"directories under a lock make a tree", "10 lock; 11 adddir d; 900 unlock",
		"900 tree"},
	{"a stale lock holds nothing for long", "10 lock; 11 close a", "3010 change a"},
	{"after a tree all goes on", "10 lost; 200 close a", "110 tree; 200 change a"},
};

static struct buf told;
static struct mono told_at;

static void on_update(void *arg, const struct coalesce_update *u)
{
	(void)arg;
	buf_printf(&told, "%s%.10g ", told.len ? "; " : "", (double)told_at.us / 1000);
	if (u->fresh_tree) {
		buf_add_str(&told, STR_LIT("tree"));
		return;
	}
	buf_printf(&told, "%s %.*s", tree_action_enumeration()->names[u->action],
		STR_ARG(u->path));
	if (u->new_path.ptr)
		buf_printf(&told, " %.*s", STR_ARG(u->new_path));
}

/* Calls at every deadline up to a time. */
static void tell_until(struct coalesce *c, struct mono now, struct mono until)
{
	struct mono next;

	told_at = now;
	for (int i = 0; coalesce_tell(c, told_at, &next) && next.us <= until.us; i++) {
		ck_assert_msg(i < 5000, "no progress at %lld us", (long long)next.us);
		ck_assert_int_ge(next.us, told_at.us);
		told_at = next;
	}
}

static void see_path(struct coalesce *c, struct mono now, const char *event,
	const char *a, const char *b)
{
	static const struct {
		const char *name;
		enum coalesce_event event;
	} events[] = {
		{"add", SEEN_ADD},
		{"write", SEEN_WRITE},
		{"close", SEEN_CLOSE},
		{"remove", SEEN_REMOVE},
		{"move", SEEN_RENAME},
		{"replace", SEEN_REPLACE},
		{"adddir", SEEN_ADD_DIR},
		{"rmdir", SEEN_REMOVE_DIR},
		{"mvdir", SEEN_RENAME_DIR},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(event, events[i].name) == 0) {
			coalesce_see(c, now, events[i].event, str_of(a), str_of(b));
			return;
		}
	ck_abort_msg("no event %s", event);
}

static void see(struct coalesce *c, struct mono now, const char *event, const char *a,
	const char *b)
{
	told_at = now;
	if (strcmp(event, "lost") == 0)
		coalesce_lost(c, now);
	else if (strcmp(event, "lock") == 0 || strcmp(event, "unlock") == 0)
		coalesce_lock(c, now, event[0] == 'l');
	else
		see_path(c, now, event, a, b);
}

static void play(const char *seen)
{
	struct coalesce c = {.emit = on_update};
	struct mono now = {0};

	buf_clear(&told);
	for (const char *at = seen; *at;) {
		char event[16], a[64] = "", b[64] = "";
		double ms;
		size_t len = strcspn(at, ";");
		char step[128];

		snprintf(step, sizeof(step), "%.*s", (int)len, at);

		int fields = sscanf(step, "%lf %15s %63s %63s", &ms, event, a, b);

		ck_assert_int_ge(fields, 2);

		struct mono then = {(int64_t)(ms * 1000 + 0.5)};

		tell_until(&c, now, (struct mono){then.us - 1});
		now = then;
		see(&c, now, event, a, fields == 4 ? b : NULL);
		at += len + (at[len] == ';');
	}
	tell_until(&c, now, (struct mono){now.us + 100 * 1000000LL});
	told_at.us += COALESCE_GAP_US;
	ck_assert_msg(!coalesce_tell(&c, told_at, &now), "there is still more");
	ck_assert_msg(c.entries.count == 0 && !c.first && !c.last, "entries are left");
	coalesce_fini(&c);
}

START_TEST(tells)
{
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		play(scripts[i].seen);
		ck_assert_msg(str_is(buf_str(&told), scripts[i].told), "%s:\n%.*s",
			scripts[i].what, (int)told.len, told.data);
	}
}
END_TEST

static int count(const char *what)
{
	int n = 0;

	buf_add_char(&told, '\0');
	for (const char *at = told.data; (at = strstr(at, what)); at++)
		n++;
	told.len--;
	return n;
}

/* As many events as it takes, `step_us` apart. */
static void flood(struct coalesce *c, int n, int64_t step_us)
{
	struct mono now = {0};
	char path[32];

	buf_clear(&told);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "f%d", i);
		told_at = now;
		coalesce_see(c, now, SEEN_CLOSE, str_of(path), (struct str){NULL, 0});
		tell_until(c, now, (struct mono){now.us + step_us - 1});
		now.us += step_us;
	}
	tell_until(c, now, (struct mono){now.us + 100 * 1000000LL});
}

START_TEST(bursts_become_a_tree)
{
	struct coalesce c = {.emit = on_update};

	flood(&c, COALESCE_BURST, 10);
	ck_assert_int_eq(count("change"), COALESCE_BURST);
	ck_assert_int_eq(count("tree"), 0);
	flood(&c, 5000, 100); /* half a second */
	ck_assert_int_le(count("change"), COALESCE_BURST);
	ck_assert_int_eq(count("tree"), 1);
	flood(&c, 50000, 100); /* five seconds */
	ck_assert_int_le(count("change"), COALESCE_BURST);
	ck_assert_int_ge(count("tree"), 4);
	ck_assert_int_le(count("tree"), 7);
	flood(&c, 1000, 1000); /* slow enough to be told one by one */
	ck_assert_int_eq(count("change"), 1000);
	ck_assert_int_eq(count("tree"), 0);
	coalesce_fini(&c);
}
END_TEST

START_TEST(a_checkout_is_one_tree)
{
	struct coalesce c = {.emit = on_update};

	coalesce_lock(&c, (struct mono){0}, true);
	flood(&c, 3000, 100);
	ck_assert_int_eq(count("change"), 0);
	ck_assert_int_eq(count("tree"), 1);
	/* Removals that become due one by one are no reason to tell them one by one. */
	buf_clear(&told);
	coalesce_lock(&c, (struct mono){0}, true);
	for (int i = 0; i < 1000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "f%d", i);
		coalesce_see(&c, (struct mono){i * 200}, SEEN_REMOVE, str_of(path),
			(struct str){NULL, 0});
	}
	coalesce_lock(&c, (struct mono){200000}, false);
	tell_until(&c, (struct mono){200000}, (struct mono){10000000});
	ck_assert_int_eq(count("unlink"), 0);
	ck_assert_int_eq(count("tree"), 1);
	buf_clear(&told);
	coalesce_lock(&c, (struct mono){0}, true);
	for (int i = 0; i < 10000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "f%d", i);
		coalesce_see(&c, (struct mono){i}, SEEN_REMOVE, str_of(path),
			(struct str){NULL, 0});
		coalesce_see(&c, (struct mono){i}, SEEN_ADD, str_of(path),
			(struct str){NULL, 0});
		ck_assert_uint_le(c.entries.count, COALESCE_MAX_PATHS);
	}
	coalesce_lock(&c, (struct mono){10000}, false);
	tell_until(&c, (struct mono){10000}, (struct mono){10000000});
	ck_assert_int_eq(count("tree"), 1);
	ck_assert_int_eq(count("change") + count("unlink") + count("add"), 0);
	coalesce_fini(&c);
}
END_TEST

enum { FILES = 5 };

static const char names[FILES][8] = {"a", "b", "d/a", "d/b", "a.tmp"};

/* What a client knows that takes in one update, "10 rename a b". */
static void follow(const char *update, bool known[FILES])
{
	char action[16], old[16] = "", new[16] = "";

	ck_assert_int_ge(sscanf(update, "%*f %15s %15s %15s", action, old, new), 2);
	for (int i = 0; i < FILES; i++) {
		if (strcmp(names[i], new) == 0) {
			ck_assert(!known[i]);
			known[i] = true;
		}
		if (strcmp(names[i], old) != 0)
			continue;
		ck_assert_msg(
			known[i] == (strcmp(action, "add") != 0), "%s %s", action, old);
		known[i] = strcmp(action, "add") == 0 || strcmp(action, "change") == 0;
	}
}

/* Does something at random to the files that are there. */
static void happen(
	struct coalesce *c, struct mono now, unsigned random, bool there[FILES])
{
	int a = random % FILES, b = (random >> 4) % FILES;
	enum coalesce_event event = there[a] ? SEEN_REMOVE : SEEN_ADD;

	if ((random >> 8) % 4 == 0)
		event = there[b] ? SEEN_REPLACE : SEEN_RENAME;
	else if ((random >> 8) % 4 == 1)
		event = SEEN_CLOSE;

	bool moves = event == SEEN_RENAME || event == SEEN_REPLACE;

	if ((event != SEEN_ADD && !there[a]) || (moves && a == b))
		return;
	coalesce_see(c, now, event, str_of(names[a]),
		moves ? str_of(names[b]) : (struct str){NULL, 0});
	there[a] = event == SEEN_ADD || event == SEEN_CLOSE;
	there[b] |= moves;
}

/*
 * Whatever happens to a few files, a client that follows what it is told ends with the
 * files that are there.
 */
START_TEST(clients_end_with_the_truth)
{
	unsigned random = 99;

	for (int round = 0; round < 3000; round++) {
		struct coalesce c = {.emit = on_update};
		bool there[FILES] = {false}, known[FILES] = {false};
		struct mono now = {1};

		buf_clear(&told);
		for (int i = 0; i < 30; i++) {
			random = random * 1103515245 + 12345;

			struct mono then = {now.us + (random >> 8) % 40000};

			tell_until(&c, now, then);
			told_at = now = then;
			happen(&c, now, random >> 16, there);
		}
		tell_until(&c, now, (struct mono){now.us + 100000000});
		coalesce_fini(&c);
		buf_add_char(&told, '\0');
		for (char *word = strtok(told.data, ";"); word; word = strtok(NULL, ";"))
			follow(word, known);
		for (int i = 0; i < FILES; i++)
			ck_assert_msg(
				known[i] == there[i], "round %d, %s", round, names[i]);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("coalesce");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, tells);
	tcase_add_test(tc, bursts_become_a_tree);
	tcase_add_test(tc, a_checkout_is_one_tree);
	tcase_add_test(tc, clients_end_with_the_truth);
	int failed = check_run(tc);

	buf_free(&told);
	return failed;
}

/* Tests of what a returning window missed (workers/gateway/ws/resume.h, replay.h). */
#include "tests/check_run.h"
#include "workers/gateway/ws/replay.h"
#include <stdio.h>
#include <stdlib.h>

/*
 * A connection as a string: L a live broadcast, d a direct message, A a broadcast sent
 * again (its number counts up from `again`). Broadcasts are numbered from base + 1.
 */
struct history {
	const char *what;
	uint64_t base;
	const char *messages;
	uint64_t again;
	uint64_t seq;	    /* the last that the client saw */
	uint64_t last;	    /* number of the newest broadcast */
	const char *missed; /* "a-b c-d", "" for nothing, NULL: cannot be told */
};

static const struct history histories[] = {
	{"nothing happened", 7, "", 0, 0, 7, ""},
	{"all missed", 7, "", 0, 0, 9, "8-9"},
	{"init and tree seen", 0, "dd", 0, 2, 0, ""},
	{"init and tree seen, three missed", 0, "dd", 0, 2, 3, "1-3"},
	{"one live seen", 0, "ddL", 0, 3, 4, "2-4"},
	{"live before init", 10, "LdLd", 0, 4, 13, "13-13"},
	{"init not seen", 10, "LdLd", 0, 1, 12, "12-12"},
	{"direct between", 0, "ddLdLdL", 0, 5, 3, "3-3"},
	{"everything seen", 0, "ddLLL", 0, 5, 3, ""},
	{"seq from the future", 0, "dd", 0, 3, 0, NULL},
	{"seen again, all of it", 5, "dAAA", 3, 4, 5, ""},
	{"seen again, part of it", 5, "dAAA", 3, 2, 5, "4-5"},
	{"seen again, none of it", 5, "dAAA", 3, 1, 6, "3-5 6-6"},
	{"live before what was sent again", 5, "LdAA", 4, 3, 6, "5-5"},
	{"live after what was sent again", 5, "dAALL", 4, 4, 7, "7-7"},
	{"cut before what was sent again, with live ones", 5, "LdAAL", 4, 1, 7,
		"4-5 7-7"},
};

static void play(const struct history *h, struct resume_log *log)
{
	uint64_t again = h->again, seq = 0;

	resume_start(log, h->base);
	for (const char *m = h->messages; *m; m++) {
		uint64_t got = *m == 'L'   ? resume_note_live(log)
			       : *m == 'd' ? resume_note_direct(log)
					   : resume_note_again(log, again++);

		ck_assert_uint_eq(got, ++seq);
	}
}

START_TEST(tells_what_was_missed)
{
	const struct history *h = &histories[_i];
	struct resume_range ranges[RESUME_MAX_RANGES];
	struct resume_log log;
	char text[256] = "";
	int n;

	play(h, &log);
	n = resume_missed(&log, h->seq, h->last, ranges);
	for (int i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%llu-%llu",
			i ? " " : "", (unsigned long long)ranges[i].first,
			(unsigned long long)ranges[i].last);
	if (!h->missed)
		ck_assert_msg(n < 0, "%s: %s", h->what, text);
	else
		ck_assert_msg(n >= 0 && strcmp(text, h->missed) == 0, "%s: %d %s",
			h->what, n, text);
}
END_TEST

START_TEST(forgets_old_runs_without_lying)
{
	struct resume_range ranges[RESUME_MAX_RANGES];
	struct resume_log log;

	resume_start(&log, 0);
	for (int i = 0; i < 3 * RESUME_MAX_RUNS; i++) {
		resume_note_direct(&log);
		resume_note_live(&log);
	}
	/* The newest can be told. */
	ck_assert_int_eq(
		resume_missed(&log, log.last_seq, 3 * RESUME_MAX_RUNS, ranges), 0);
	ck_assert_int_eq(
		resume_missed(&log, log.last_seq - 2, 3 * RESUME_MAX_RUNS, ranges), 1);
	ck_assert_uint_eq(ranges[0].first, 3 * RESUME_MAX_RUNS);
	/* The oldest cannot. */
	ck_assert_int_lt(resume_missed(&log, 3, 3 * RESUME_MAX_RUNS, ranges), 0);
}
END_TEST

/* Whatever was sent in whatever order: seen and missed together are every broadcast, each
 * once. */
START_TEST(loses_and_doubles_nothing)
{
	for (unsigned seed = 0; seed < 2000; seed++) {
		struct resume_range ranges[RESUME_MAX_RANGES];
		struct resume_log log;
		uint64_t at_seq[40] = {0}, live = 20, again = 11, seq;
		int seen[64] = {0}, n;

		srand(seed);
		resume_start(&log, 20);
		for (int i = 1; i < 20; i++) {
			int kind = rand() % 3;

			if (kind == 0)
				at_seq[resume_note_live(&log)] = ++live;
			else if (kind == 1 && again <= 20)
				at_seq[resume_note_again(&log, again)] = again, again++;
			else
				resume_note_direct(&log);
		}
		seq = (uint64_t)rand() % (log.last_seq + 1);
		for (uint64_t s = 1; s <= seq; s++)
			seen[at_seq[s]]++;
		n = resume_missed(&log, seq, live, ranges);
		ck_assert_int_ge(n, 0);
		for (int i = 0; i < n; i++)
			for (uint64_t b = ranges[i].first; b <= ranges[i].last; b++)
				seen[b]++;
		for (uint64_t b = 11; b < again; b++)
			ck_assert_msg(seen[b] == 1, "seed %u: %llu", seed,
				(unsigned long long)b);
		for (uint64_t b = 21; b <= live; b++)
			ck_assert_msg(seen[b] == 1, "seed %u: %llu", seed,
				(unsigned long long)b);
	}
}
END_TEST

static struct replay replay;

static uint64_t add(size_t len)
{
	struct payload *payload;
	char *text = calloc(1, len + 1);
	uint64_t number;

	payload = payload_new((struct str){text, len});
	number = replay_add(
		&replay, 1, &(struct replay_text){STR_LIT("fs:tree"), payload}, NULL);
	payload_unref(payload);
	free(text);
	return number;
}

START_TEST(keeps_a_bounded_number)
{
	for (uint64_t i = 1; i <= REPLAY_MAX_ITEMS + 10; i++)
		ck_assert_uint_eq(add(1), i);
	ck_assert(!replay_get(&replay, 0));
	ck_assert(!replay_get(&replay, 10));
	ck_assert_uint_eq(replay_get(&replay, 11)->number, 11);
	ck_assert_uint_eq(replay_get(&replay, REPLAY_MAX_ITEMS + 10)->number,
		REPLAY_MAX_ITEMS + 10);
	ck_assert(!replay_get(&replay, REPLAY_MAX_ITEMS + 11));
	replay_fini(&replay);
}
END_TEST

START_TEST(keeps_bounded_bytes)
{
	add(10);
	add(REPLAY_MAX_BYTES - 5);
	ck_assert(!replay_get(&replay, 1));
	ck_assert(replay_get(&replay, 2));
	/* One that is larger than everything is kept alone. */
	add(REPLAY_MAX_BYTES + 1);
	ck_assert(!replay_get(&replay, 2));
	add(1);
	ck_assert(!replay_get(&replay, 3));
	ck_assert(replay_get(&replay, 4));
	replay_fini(&replay);
}
END_TEST

START_TEST(keeps_what_windows_that_list_directories_get)
{
	struct replay_text whole = {STR_LIT("fs:tree"), payload_new(STR_LIT("whole"))};
	struct replay_text listing = {
		STR_LIT("fs:tree_stale"), payload_new(STR_LIT("{}"))};
	uint64_t both = replay_add(&replay, 1, &whole, &listing);
	uint64_t same = replay_add(&replay, 1, &whole, NULL);
	uint64_t only = replay_add(
		&replay, 1, &(struct replay_text){STR_LIT("fs:tree"), NULL}, &listing);

	ck_assert_uint_eq(replay.bytes, 2 * strlen("whole") + 2 * strlen("{}"));
	ck_assert(!replay_text_for(replay_get(&replay, only), false));
	ck_assert(str_is(
		payload_str(replay_text_for(replay_get(&replay, only), true)->payload),
		"{}"));
	payload_unref(whole.payload);
	payload_unref(listing.payload);
	for (int lists = 0; lists < 2; lists++) {
		const struct replay_text *got =
			replay_text_for(replay_get(&replay, both), lists);

		ck_assert(str_eq(got->type, lists ? listing.type : whole.type));
		ck_assert(str_is(payload_str(got->payload), lists ? "{}" : "whole"));
		got = replay_text_for(replay_get(&replay, same), lists);
		ck_assert(str_is(payload_str(got->payload), "whole"));
	}
	replay_fini(&replay);
	ck_assert_uint_eq(replay.bytes, 0);
}
END_TEST

START_TEST(finds_ended_connections)
{
	struct resume_log log;
	char id[UUID_SIZE];

	ck_assert(!replay_find_closed(&replay, (struct str){NULL, 0}));
	for (unsigned i = 0; i < REPLAY_MAX_CLOSED + 3; i++) {
		resume_start(&log, i);
		snprintf(id, sizeof(id), "connection-%u", i);
		replay_note_closed(&replay, id, &log);
	}
	ck_assert_uint_eq(replay_find_closed(&replay, (struct str){NULL, 0})->base,
		REPLAY_MAX_CLOSED + 2);
	ck_assert_uint_eq(replay_find_closed(&replay, STR_LIT("connection-3"))->base, 3);
	ck_assert(!replay_find_closed(&replay, STR_LIT("connection-2")));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("resume");

	check_add_table(tc, tells_what_was_missed, histories);
	tcase_add_test(tc, forgets_old_runs_without_lying);
	tcase_add_test(tc, loses_and_doubles_nothing);
	tcase_add_test(tc, keeps_a_bounded_number);
	tcase_add_test(tc, keeps_bounded_bytes);
	tcase_add_test(tc, keeps_what_windows_that_list_directories_get);
	tcase_add_test(tc, finds_ended_connections);
	return check_run(tc);
}

/* Tests of workers/guard-engine/breakloop/quota.h: windows on the wall clock of any zone, and when
 * they fill. */
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "tests/check_run.h"
#include "workers/guard-engine/breakloop/quota.h"
#include <stdio.h>
#include <stdlib.h>

static void load(const char *name, struct zone *z)
{
	struct buf bytes = {0};
	char path[200];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
	f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "%s", path);
	do {
		n = fread(buf_reserve(&bytes, 4096), 1, 4096, f);
		bytes.len += n;
	} while (n);
	fclose(f);
	ck_assert_int_eq(zone_parse(buf_str(&bytes), z), 0);
	buf_free(&bytes);
}

static int64_t ms_of(const char *iso)
{
	struct wall t;

	ck_assert_msg(wall_parse(str_of(iso), &t) == 0, "%s", iso);
	return wall_ms(t);
}

struct window_case {
	const char *what;
	const char *zone;
	int hours;
	const char *at, *start, *end;
};

#define Z ":00:00.000Z"

static const struct window_case windows[] = {
	{"1 h in UTC", "UTC", 1, "2026-05-09T08:59:59.999Z", "2026-05-09T08" Z,
		"2026-05-09T09" Z},
	{"the boundary belongs to the later one", "UTC", 1, "2026-05-09T09" Z,
		"2026-05-09T09" Z, "2026-05-09T10" Z},
	{"4 h", "UTC", 4, "2026-05-09T11:59:00.000Z", "2026-05-09T08" Z,
		"2026-05-09T12" Z},
	{"12 h", "UTC", 12, "2026-05-09T12" Z, "2026-05-09T12" Z, "2026-05-10T00" Z},
	{"24 h", "UTC", 24, "2026-02-28T23:59:59.000Z", "2026-02-28T00" Z,
		"2026-03-01T00" Z},
	{"leap day", "UTC", 24, "2028-02-29T10" Z, "2028-02-29T00" Z, "2028-03-01T00" Z},
	{"three quarters of an hour", "Asia/Kathmandu", 4, "2026-05-09T00" Z,
		"2026-05-08T22:15:00.000Z", "2026-05-09T02:15:00.000Z"},
	{"half an hour, 24 h", "Asia/Kolkata", 24, "2026-05-09T00" Z,
		"2026-05-08T18:30:00.000Z", "2026-05-09T18:30:00.000Z"},
	/* New York: forward on 2026-03-08 at 07:00Z, back on 2026-11-01 at 06:00Z. */
	{"forward, the hour before", "America/New_York", 1, "2026-03-08T06:30:00.000Z",
		"2026-03-08T06" Z, "2026-03-08T07" Z},
	{"forward, the hour that jumps", "America/New_York", 1,
		"2026-03-08T07:30:00.000Z", "2026-03-08T07" Z, "2026-03-08T08" Z},
	{"forward, 4 h are 3", "America/New_York", 4, "2026-03-08T06" Z,
		"2026-03-08T05" Z, "2026-03-08T08" Z},
	{"forward, 24 h are 23", "America/New_York", 24, "2026-03-08T12" Z,
		"2026-03-08T05" Z, "2026-03-09T04" Z},
	{"back, the hour for the first time", "America/New_York", 1,
		"2026-11-01T05:30:00.000Z", "2026-11-01T05" Z, "2026-11-01T06" Z},
	{"back, the hour for the second time", "America/New_York", 1,
		"2026-11-01T06:30:00.000Z", "2026-11-01T06" Z, "2026-11-01T07" Z},
	{"back, 4 h are 5", "America/New_York", 4, "2026-11-01T06:30:00.000Z",
		"2026-11-01T04" Z, "2026-11-01T09" Z},
	{"back, 12 h are 13", "America/New_York", 12, "2026-11-01T07" Z,
		"2026-11-01T04" Z, "2026-11-01T17" Z},
	{"back, 24 h are 25", "America/New_York", 24, "2026-11-02T04:59:59.000Z",
		"2026-11-01T04" Z, "2026-11-02T05" Z},
	/* Lord Howe: half an hour back on 2026-04-04 at 15:00Z (02:00 is 01:30 again). */
	{"half an hour back, 1 h is an hour and a half", "Australia/Lord_Howe", 1,
		"2026-04-04T15:10:00.000Z", "2026-04-04T14" Z,
		"2026-04-04T15:30:00.000Z"},
	{"half an hour forward jumps into the hour", "Australia/Lord_Howe", 1,
		"2026-10-03T15:35:00.000Z", "2026-10-03T15:30:00.000Z",
		"2026-10-03T16" Z},
	/* Havana: midnight twice on 2024-11-03, at 04:00Z and at 05:00Z. */
	{"midnight twice is one day", "America/Havana", 24, "2024-11-03T05:30:00.000Z",
		"2024-11-03T04" Z, "2024-11-04T05" Z},
	{"midnight twice, 4 h", "America/Havana", 4, "2024-11-03T05:30:00.000Z",
		"2024-11-03T04" Z, "2024-11-03T09" Z},
	{"midnight twice, 1 h", "America/Havana", 1, "2024-11-03T05:30:00.000Z",
		"2024-11-03T05" Z, "2024-11-03T06" Z},
	/* Cairo: no midnight on 2026-04-24; the day begins at 01:00, 2026-04-23 22:00Z.
	 */
	{"a day without midnight", "Africa/Cairo", 24, "2026-04-24T00" Z,
		"2026-04-23T22" Z, "2026-04-24T21" Z},
	{"a day without midnight, 4 h", "Africa/Cairo", 4, "2026-04-23T23" Z,
		"2026-04-23T22" Z, "2026-04-24T01" Z},
	/* Sao Paulo 2018-02-18: at 00:00 back to 23:00 of the day before, 2018-02-18
	   02:00Z. */
	{"an evening twice", "America/Sao_Paulo", 24, "2018-02-18T02:30:00.000Z",
		"2018-02-17T02" Z, "2018-02-18T03" Z},
	{"an evening twice, 1 h", "America/Sao_Paulo", 1, "2018-02-18T02:30:00.000Z",
		"2018-02-18T02" Z, "2018-02-18T03" Z},
	/* Goose Bay 2010-11-07: at 00:01 back to 23:01, 03:01Z. */
	{"back over midnight by a minute", "America/Goose_Bay", 24,
		"2010-11-07T03:30:00.000Z", "2010-11-07T03" Z, "2010-11-08T04" Z},
	/* Samoa had no 2011-12-30. */
	{"a day that never was", "Pacific/Apia", 24, "2011-12-30T10:30:00.000Z",
		"2011-12-30T10" Z, "2011-12-31T10" Z},
	{"before 1970", "UTC", 4, "1969-12-31T23:59:59.000Z", "1969-12-31T20" Z,
		"1970-01-01T00" Z},
};

START_TEST(test_window)
{
	const struct window_case *c = &windows[_i];
	static struct zone z;
	struct quota_window w;
	char start[WALL_ISO_SIZE], end[WALL_ISO_SIZE];

	load(c->zone, &z);
	w = quota_window_at(&z, c->hours, ms_of(c->at));
	wall_iso((struct wall){w.start_ms * 1000}, start);
	wall_iso((struct wall){w.end_ms * 1000}, end);
	ck_assert_msg(strcmp(start, c->start) == 0 && strcmp(end, c->end) == 0,
		"%s: %s to %s", c->what, start, end);
}
END_TEST

static const char *const zones[] = {"UTC", "America/New_York", "Europe/Berlin",
	"Australia/Lord_Howe", "America/Havana", "Africa/Cairo", "Asia/Kathmandu",
	"America/St_Johns", "Africa/Casablanca", "Antarctica/Troll", "Pacific/Chatham",
	"America/Sao_Paulo", "Asia/Gaza", "Pacific/Apia"};
static const int lengths[] = {1, 4, 12, 24};

/* Over years: windows join without gap or overlap, hold the moment, and are never much
 * shorter. */
START_TEST(test_windows_join)
{
	static struct zone z;

	load(zones[_i], &z);
	for (size_t h = 0; h < 4; h++) {
		int64_t at = ms_of("2017-01-01T00:00:00.000Z"),
			stop = ms_of("2029-01-01T00:00:00.000Z");
		struct quota_window w = quota_window_at(&z, lengths[h], at);
		int64_t step = lengths[h] < 12 ? 37 * 3600 * 1000 : 0;

		while (at < stop) {
			struct quota_window next;
			int64_t length = w.end_ms - w.start_ms, hour = 3600000;

			ck_assert_msg(w.start_ms <= at && at < w.end_ms,
				"%s %d h at %lld", zones[_i], lengths[h], (long long)at);
			/* Forward by an hour or two, back by as much; Samoa lost a day.
			 */
			ck_assert_msg(length >= lengths[h] * hour - 2 * hour &&
					      length <= lengths[h] * hour + 3 * hour,
				"%s %d h: %lld ms", zones[_i], lengths[h],
				(long long)length);
			ck_assert_int_eq(
				quota_window_at(&z, lengths[h], w.end_ms - 1).start_ms,
				w.start_ms);
			next = quota_window_at(&z, lengths[h], w.end_ms);
			ck_assert_int_eq(next.start_ms, w.end_ms);
			at = next.start_ms + step;
			w = step ? quota_window_at(&z, lengths[h], at) : next;
		}
	}
}
END_TEST

/* R51: the clock set back, ahead and back again, zones east and west: filled at most once
 * per window. */
START_TEST(test_roll)
{
	struct quota q = {.limit = 3};
	static struct zone utc, east, west;
	int64_t t = ms_of("2026-05-09T10:30:00.000Z"), hour = 3600000;
	int fills = 0;

	zone_fixed(0, &utc);
	zone_fixed(20700, &east);
	zone_fixed(-12600, &west);
	quota_roll(&q, t, quota_window_at(&utc, 1, t));
	ck_assert_int_eq(q.remaining, 3);
	q.remaining = 0;
	for (int64_t back = 1; back <= 48; back++)
		quota_roll(
			&q, t - back * hour, quota_window_at(&utc, 1, t - back * hour));
	for (int i = 0; i < 20; i++)
		quota_roll(&q, t, quota_window_at(i % 2 ? &east : &west, 1, t));
	ck_assert_int_eq(q.remaining, 0);
	/* Three windows ahead: once. */
	quota_roll(&q, t + 3 * hour, quota_window_at(&utc, 1, t + 3 * hour));
	ck_assert_int_eq(q.remaining, 3);
	q.remaining = 0;
	quota_roll(
		&q, t + 3 * hour + 1000, quota_window_at(&east, 1, t + 3 * hour + 1000));
	quota_roll(&q, t, quota_window_at(&utc, 1, t));
	quota_roll(
		&q, t + 3 * hour + 2000, quota_window_at(&utc, 1, t + 3 * hour + 2000));
	ck_assert_int_eq(q.remaining, 0);
	/* Somebody who changes zones every minute for a day gets no more windows than the
	 * day has. */
	t = ms_of("2026-05-10T00:00:00.000Z");
	for (int minute = 0; minute < 24 * 60; minute++) {
		const struct zone *z = minute % 3 == 0	 ? &utc
				       : minute % 3 == 1 ? &east
							 : &west;
		int64_t at = t + minute * 60000;

		q.remaining = 0;
		quota_roll(&q, at, quota_window_at(z, 1, at));
		fills += q.remaining > 0;
	}
	ck_assert_int_ge(fills, 12);
	ck_assert_int_le(fills, 24);
}
END_TEST

/* After a change of zone the end that is shown is when the quota is really filled. */
START_TEST(test_roll_end)
{
	struct quota q = {.limit = 1};
	static struct zone utc, tokyo;
	int64_t t = ms_of("2026-05-09T16:00:00.000Z"), hour = 3600000;

	zone_fixed(0, &utc);
	zone_fixed(9 * 3600, &tokyo);
	quota_roll(&q, t, quota_window_at(&utc, 24, t));
	q.remaining = 0;
	t = ms_of("2026-05-10T00:30:00.000Z");
	quota_roll(&q, t, quota_window_at(&tokyo, 24, t));
	ck_assert_int_eq(q.remaining, 0);
	ck_assert_int_eq(q.window.end_ms, ms_of("2026-05-10T15:00:00.000Z"));
	t = q.window.end_ms;
	quota_roll(&q, t - 1, quota_window_at(&tokyo, 24, t - 1));
	ck_assert_int_eq(q.remaining, 0);
	quota_roll(&q, t, quota_window_at(&tokyo, 24, t));
	ck_assert_int_eq(q.remaining, 1);
	ck_assert_int_eq(q.window.end_ms, t + 24 * hour);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	check_add_table(tcase, test_window, windows);
	check_add_table(tcase, test_windows_join, zones);
	tcase_add_test(tcase, test_roll);
	tcase_add_test(tcase, test_roll_end);
	tcase_set_timeout(tcase, 60);
	return check_run(tcase);
}

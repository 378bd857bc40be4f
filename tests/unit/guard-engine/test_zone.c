/* Tests of workers/guard-engine/breakloop/zone_rules.h: the system's own files against the C library, and
 * broken files. */
#include "common/base/buf.h"
#include "tests/check_run.h"
#include "workers/guard-engine/breakloop/zone_rules.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ZONEINFO "/usr/share/zoneinfo"

static bool read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		return false;
	do {
		n = fread(buf_reserve(out, 4096), 1, 4096, f);
		out->len += n;
	} while (n);
	fclose(f);
	return true;
}

/* Moments around which the offset is compared: every 31 days and 7 hours from 1902 to
 * 2090. */
static int compared;

static void compare(const char *name, const struct zone *z)
{
	setenv("TZ", name, 1);
	tzset();
	for (int64_t t = -2140000000; t < 3780000000; t += 31 * 86400 + 7 * 3600 + 13) {
		time_t at = (time_t)t;
		struct tm tm;

		ck_assert_ptr_nonnull(localtime_r(&at, &tm));
		ck_assert_msg(zone_offset(z, t) == tm.tm_gmtoff,
			"%s at %lld: %d, the library says %ld", name, (long long)t,
			zone_offset(z, t), tm.tm_gmtoff);
		compared++;
	}
}

/* The second before and the second of each change, as zone_next_change finds them. */
static void compare_changes(const char *name, const struct zone *z)
{
	int64_t t = 0;

	for (int i = 0; i < 300; i++) {
		int64_t next = zone_next_change(z, t);

		if (next == INT64_MAX || next > 4000000000)
			break;
		ck_assert_msg(next > t, "%s stands still at %lld", name, (long long)t);
		for (int64_t s = next - 1; s <= next; s++) {
			time_t at = (time_t)s;
			struct tm tm;

			ck_assert_ptr_nonnull(localtime_r(&at, &tm));
			ck_assert_msg(zone_offset(z, s) == tm.tm_gmtoff, "%s at %lld",
				name, (long long)s);
		}
		t = next;
	}
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	const char *name = path + sizeof(ZONEINFO);
	struct buf bytes = {0};
	static struct zone z;

	(void)st;
	(void)ftw;
	if (kind != FTW_F || strncmp(name, "right/", 6) == 0 ||
		strncmp(name, "posix/", 6) == 0)
		return 0;
	ck_assert(read_file(path, &bytes));
	if (bytes.len > 4 && memcmp(bytes.data, "TZif", 4) == 0) {
		ck_assert_msg(zone_name_valid(str_of(name)), "%s", name);
		ck_assert_msg(zone_parse(buf_str(&bytes), &z) == 0, "%s", name);
		compare(name, &z);
		compare_changes(name, &z);
	}
	buf_free(&bytes);
	return 0;
}

START_TEST(test_system_zones)
{
	compared = 0;
	ck_assert_int_eq(nftw(ZONEINFO, visit, 8, FTW_PHYS), 0);
	/* More than the bare minimum of a system without the package tzdata. */
	ck_assert_int_gt(compared, 50000);
}
END_TEST

/* A file of version 2 without transitions, with a rule behind it. */
static void make_file(struct buf *b, int32_t offset, const char *rule)
{
	for (int block = 0; block < 2; block++) {
		unsigned char head[44] = {'T', 'Z', 'i', 'f', '2'};
		uint32_t o = (uint32_t)offset;

		head[39] = 1; /* one type */
		head[43] = 4; /* four characters */
		buf_add(b, head, sizeof(head));
		buf_add(b,
			(unsigned char[]){o >> 24 & 255, o >> 16 & 255, o >> 8 & 255,
				o & 255, 0, 0},
			6);
		buf_add(b, "XXX", 4);
	}
	buf_printf(b, "\n%s\n", rule);
}

struct rule_case {
	const char *rule;
	int64_t at;
	int32_t offset;
};

static const struct rule_case rules[] = {
	{"UTC0", 0, 0},
	{"<+0545>-5:45", 1700000000, 20700},
	{"EST5EDT,M3.2.0,M11.1.0", 1710053999, -18000}, /* 2024-03-10 06:59:59Z */
	{"EST5EDT,M3.2.0,M11.1.0", 1710054000, -14400},
	{"EST5EDT,M3.2.0,M11.1.0", 1730613599, -14400}, /* 2024-11-03 05:59:59Z */
	{"EST5EDT,M3.2.0,M11.1.0", 1730613600, -18000},
	{"AEST-10AEDT,M10.1.0,M4.1.0/3", 1704067200, 39600},
	{"AEST-10AEDT,M10.1.0,M4.1.0/3", 1720000000, 36000},
	{"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 1704067200, 39600},
	{"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1711846799, -7200}, /* 2024-03-31 00:59:59Z */
	{"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1711846800, -3600},
	{"IST-2IDT,M3.4.4/26,M10.5.0", 1711670399,
		7200}, /* 2024-03-28 23:59:59Z: Friday 02:00 */
	{"IST-2IDT,M3.4.4/26,M10.5.0", 1711670400, 10800},
	{"AAA3BBB,J60/2,J300", 1709269200,
		-7200}, /* 2024-03-01 05:00:00Z; day 60 is March 1 */
	{"AAA3BBB,J60/2,J300", 1709269199, -10800},
	{"AAA3BBB,59/2,300", 1709182800,
		-7200}, /* 2024-02-29 05:00:00Z; day 59 counts February 29 */
	{"AAA3BBB,59/2,300", 1709182799, -10800},
};

START_TEST(test_rule)
{
	struct buf bytes = {0};
	static struct zone z;

	make_file(&bytes, 0, rules[_i].rule);
	ck_assert_msg(zone_parse(buf_str(&bytes), &z) == 0, "%s", rules[_i].rule);
	ck_assert_msg(zone_offset(&z, rules[_i].at) == rules[_i].offset, "%s at %lld: %d",
		rules[_i].rule, (long long)rules[_i].at, zone_offset(&z, rules[_i].at));
	buf_free(&bytes);
}
END_TEST

static const char *const bad_rules[] = {"U0", "UTC", "UTC0x", "EST5EDT", "EST5EDT,M3.2.0",
	"EST5EDT,M13.2.0,M1.1.0", "EST5EDT,M3.6.0,M1.1.0", "EST5EDT,M3.2.7,M1.1.0",
	"EST5EDT,J0,J10", "EST5EDT,J366,J10", "<+05-5", "EST5EDT,M3.2.0/200,M11.1.0",
	"EST5EDT,,"};

START_TEST(test_bad_rule)
{
	struct buf bytes = {0};
	static struct zone z;

	make_file(&bytes, 0, bad_rules[_i]);
	ck_assert_msg(zone_parse(buf_str(&bytes), &z) < 0, "%s", bad_rules[_i]);
	buf_free(&bytes);
}
END_TEST

/* A file cut anywhere, or with any byte changed, is read or refused, and never read
 * beyond its end. */
START_TEST(test_broken_files)
{
	struct buf bytes = {0};
	static struct zone z;

	ck_assert(read_file(ZONEINFO "/Europe/Berlin", &bytes));
	ck_assert_int_eq(zone_parse(buf_str(&bytes), &z), 0);
	for (size_t len = 0; len < bytes.len; len++) {
		char *copy = malloc(len + 1);

		memcpy(copy, bytes.data, len);
		ck_assert_msg(zone_parse((struct str){copy, len}, &z) < 0,
			"cut to %zu bytes", len);
		free(copy);
	}
	for (size_t at = 0; at < bytes.len; at++) {
		char was = bytes.data[at];

		bytes.data[at] = (char)(was ^ 0x5a);
		if (zone_parse(buf_str(&bytes), &z) == 0)
			(void)zone_next_change(&z, zone_offset(&z, 1700000000));
		bytes.data[at] = was;
	}
	buf_free(&bytes);
}
END_TEST

START_TEST(test_names)
{
	static const char *const good[] = {"UTC", "Asia/Kathmandu", "Etc/GMT+5",
		"America/Argentina/Buenos_Aires", "America/Port-au-Prince"};
	static const char *const bad[] = {"", "/etc/passwd", "../x", "a/../b", "a//b",
		"a/", "Mars Olympus", "a.b", ".", "\xc3\xa4"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(zone_name_valid(str_of(good[i])), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!zone_name_valid(str_of(bad[i])), "%s", bad[i]);
	ck_assert(!zone_name_valid(STR_LIT("UTC\0x")));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, test_system_zones);
	check_add_table(tcase, test_rule, rules);
	check_add_table(tcase, test_bad_rule, bad_rules);
	tcase_add_test(tcase, test_broken_files);
	tcase_add_test(tcase, test_names);
	tcase_set_timeout(tcase, 60);
	return check_run(tcase);
}

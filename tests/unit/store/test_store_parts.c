/* The pure parts of the store: log and header images, file systems, ids of rows, kept
 * answers, log policy. */
#include "tests/check_run.h"
#include "workers/store/db/filesystem.h"
#include "workers/store/db/image.h"
#include "workers/store/db/wal.h"
#include "workers/store/service/keys.h"
#include "workers/store/service/row_ids.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- row_ids ---- */

#define KEY "0193a0c5-7b1e-7abc-8def-0123456789AB"

START_TEST(row_ids_come_from_the_key)
{
	char first[UUID_SIZE], again[UUID_SIZE], other[UUID_SIZE], third[UUID_SIZE];

	ck_assert_int_eq(row_id(STR_LIT(KEY), 0, first), 0);
	/* The key itself, marked as version 4 (P2.15), in lower case. */
	ck_assert_str_eq(first, "0193a0c5-7b1e-4abc-8def-0123456789ab");
	ck_assert_int_eq(row_id(STR_LIT(KEY), 1, other), 0);
	ck_assert_int_eq(row_id(STR_LIT(KEY), 1, again), 0);
	ck_assert_int_eq(row_id(STR_LIT(KEY), 2, third), 0);
	ck_assert_str_eq(other, again);
	ck_assert_str_ne(other, first);
	ck_assert_str_ne(other, third);
	ck_assert(uuid_valid(str_of(other)));
	/* Still in the order of time: the first 64 bits are those of the key. */
	ck_assert_int_eq(memcmp(first, other, 23), 0);
	ck_assert_int_eq(row_id(STR_LIT("none"), 0, first), -EINVAL);
	ck_assert_int_eq(row_id((struct str){0}, 0, first), -EINVAL);
}
END_TEST

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, UUID_SIZE);
}

START_TEST(row_ids_do_not_collide)
{
	enum { CALLS = 20000, ROWS = 5 };
	char(*ids)[UUID_SIZE] = calloc(CALLS * ROWS, UUID_SIZE);
	struct wall now = clock_wall();
	size_t n = 0;

	for (int call = 0; call < CALLS; call++) {
		char key[UUID_SIZE];

		uuid7(now, key);
		for (unsigned row = 0; row < ROWS; row++)
			ck_assert_int_eq(row_id(str_of(key), row, ids[n++]), 0);
	}
	qsort(ids, n, UUID_SIZE, compare_ids);
	for (size_t i = 1; i < n; i++)
		ck_assert_str_ne(ids[i - 1], ids[i]);
	free(ids);
}
END_TEST

/* ---- keys ---- */

static struct str number_key(int n, char out[UUID_SIZE])
{
	snprintf(out, UUID_SIZE, "0193a0c5-7b1e-7abc-8def-%012d", n);
	return str_of(out);
}

START_TEST(keys_remember_until_the_oldest_must_go)
{
	struct keys *keys = keys_new();
	char key[UUID_SIZE], answer[32];

	ck_assert_ptr_null(keys_recall(keys, STR_LIT(KEY), 1).ptr);
	for (int i = 0; i < 3 * KEYS_MAX; i++) {
		snprintf(answer, sizeof(answer), "{\"n\":%d}", i);
		keys_remember(keys, number_key(i, key), i % 3, str_of(answer));
	}
	for (int i = 0; i < 3 * KEYS_MAX; i++) {
		struct str found = keys_recall(keys, number_key(i, key), i % 3);

		snprintf(answer, sizeof(answer), "{\"n\":%d}", i);
		if (i < 2 * KEYS_MAX)
			ck_assert_ptr_null(found.ptr);
		else
			ck_assert(str_is(found, answer));
		/* The same key for another method is another call. */
		ck_assert_ptr_null(keys_recall(keys, number_key(i, key), 7).ptr);
	}
	/* The first answer stands. */
	keys_remember(keys, number_key(3 * KEYS_MAX - 1, key), (3 * KEYS_MAX - 1) % 3,
		STR_LIT("x"));
	ck_assert(!str_is(keys_recall(keys, number_key(3 * KEYS_MAX - 1, key), 2), "x"));
	keys_free(keys);
}
END_TEST

START_TEST(keys_stay_within_their_bytes)
{
	struct keys *keys = keys_new();
	struct str big = {calloc(1, KEYS_MAX_BYTES + 1), KEYS_MAX_BYTES};
	char key[UUID_SIZE];

	keys_remember(keys, number_key(1, key), 0, STR_LIT("small"));
	keys_remember(keys, number_key(2, key), 0, (struct str){big.ptr, big.len + 1});
	ck_assert_ptr_null(keys_recall(keys, number_key(2, key), 0).ptr);
	ck_assert(str_is(keys_recall(keys, number_key(1, key), 0), "small"));
	keys_remember(keys, number_key(3, key), 0, big);
	ck_assert_ptr_null(keys_recall(keys, number_key(1, key), 0).ptr);
	ck_assert_uint_eq(keys_recall(keys, number_key(3, key), 0).len, big.len);
	keys_remember(keys, STR_LIT("no uuid"), 0, STR_LIT("x"));
	ck_assert_ptr_null(keys_recall(keys, STR_LIT("no uuid"), 0).ptr);
	keys_free(keys);
	free((void *)(uintptr_t)big.ptr);
}
END_TEST

/* ---- filesystem ---- */

START_TEST(filesystems_of_other_machines_are_known)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} cases[] = {
		{0x6969, "NFS"}, {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB2"},
		{0x01021997, "9p"}, {0x65735546, "FUSE"}, {0xEF53, NULL}, /* ext2, 3, 4 */
		{0x9123683E, NULL},					  /* btrfs */
		{0x58465342, NULL},					  /* XFS */
		{0x01021994, NULL},					  /* tmpfs */
		{0x794c7630, NULL}, /* overlay, in containers */
	};
	const char *name = "unset";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *found = filesystem_shared_name(cases[i].magic);

		if (cases[i].name)
			ck_assert_str_eq(found, cases[i].name);
		else
			ck_assert_ptr_null(found);
	}
	ck_assert_int_eq(filesystem_shared("/no/such/place", &name), -ENOENT);
	ck_assert_str_eq(name, "unset");
}
END_TEST

/* ---- image ---- */

static void header_for_test(unsigned char h[IMAGE_HEADER_BYTES])
{
	memset(h, 0, IMAGE_HEADER_BYTES);
	memcpy(h, "SQLite format 3", 16);
	h[16] = 0x10; /* 4096 */
	h[18] = h[19] = 2;
	h[21] = 64;
	h[22] = h[23] = 32;
	h[27] = 7;  /* change counter */
	h[31] = 12; /* pages */
	h[47] = 4;  /* schema format */
	h[59] = 1;  /* UTF-8 */
	h[95] = 7;  /* the counter for which the pages hold */
}

START_TEST(headers_are_checked)
{
	static const struct {
		const char *what;
		int at;
		unsigned char byte;
		bool good;
	} cases[] = {
		{"as it is", 0, 'S', true},
		{"magic", 3, 'X', false},
		{"end of the magic", 15, 1, false},
		{"page size 4112", 17, 0x10, false},
		{"page size 65536", 16, 0, false},
		{"write version 3", 18, 3, false},
		{"read version 0", 19, 0, false},
		{"no log", 19, 1, true},
		{"maximum fraction", 21, 63, false},
		{"minimum fraction", 22, 31, false},
		{"leaf fraction", 23, 0, false},
		{"some bytes reserved", 20, 32, true},
		{"schema format 5", 47, 5, false},
		{"encoding 4", 59, 4, false},
		{"pages not counted", 95, 8, true},
	};
	unsigned char h[IMAGE_HEADER_BYTES];
	struct image_header out;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *wrong;

		header_for_test(h);
		h[cases[i].at] = cases[i].byte;
		wrong = image_header_read((struct str){(char *)h, sizeof(h)}, &out);
		ck_assert_msg(
			(wrong == NULL) == cases[i].good, "%s: %s", cases[i].what, wrong);
	}
	header_for_test(h);
	ck_assert_ptr_null(image_header_read((struct str){(char *)h, sizeof(h)}, &out));
	ck_assert_uint_eq(out.page_bytes, 4096);
	ck_assert_uint_eq(out.pages, 12);
	ck_assert(out.wal);
	h[95] = 8;
	ck_assert_ptr_null(image_header_read((struct str){(char *)h, sizeof(h)}, &out));
	ck_assert_uint_eq(out.pages, 0);
	ck_assert_ptr_nonnull(
		image_header_read((struct str){(char *)h, sizeof(h) - 1}, &out));
}
END_TEST

/* A log of 512-byte pages in native byte order of checksums, written as SQLite does. */
enum { PAGE = 512, FRAME = IMAGE_FRAME_HEADER_BYTES + PAGE, FRAMES_MAX = 8 };

struct log_text {
	unsigned char bytes[IMAGE_LOG_HEADER_BYTES + FRAMES_MAX * FRAME];
	int frames;
	uint32_t sum[2];
};

static void put32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static void sum_big_endian(const unsigned char *p, size_t len, uint32_t sum[2])
{
	for (size_t i = 0; i < len; i += 8) {
		sum[0] += ((uint32_t)p[i] << 24 | (uint32_t)p[i + 1] << 16 |
				  (uint32_t)p[i + 2] << 8 | p[i + 3]) +
			  sum[1];
		sum[1] += ((uint32_t)p[i + 4] << 24 | (uint32_t)p[i + 5] << 16 |
				  (uint32_t)p[i + 6] << 8 | p[i + 7]) +
			  sum[0];
	}
}

static void log_text_begin(struct log_text *t)
{
	*t = (struct log_text){0};
	put32(t->bytes, 0x377f0683);
	put32(t->bytes + 4, 3007000);
	put32(t->bytes + 8, PAGE);
	put32(t->bytes + 16, 0xAAAA0001);
	put32(t->bytes + 20, 0xBBBB0002);
	sum_big_endian(t->bytes, 24, t->sum);
	put32(t->bytes + 24, t->sum[0]);
	put32(t->bytes + 28, t->sum[1]);
}

static unsigned char *log_text_frame(struct log_text *t, bool commit)
{
	unsigned char *f = t->bytes + IMAGE_LOG_HEADER_BYTES + t->frames++ * FRAME;

	put32(f, (uint32_t)t->frames);
	put32(f + 4, commit ? 9 : 0);
	put32(f + 8, 0xAAAA0001);
	put32(f + 12, 0xBBBB0002);
	memset(f + IMAGE_FRAME_HEADER_BYTES, t->frames, PAGE);
	sum_big_endian(f, 8, t->sum);
	sum_big_endian(f + IMAGE_FRAME_HEADER_BYTES, PAGE, t->sum);
	put32(f + 16, t->sum[0]);
	put32(f + 20, t->sum[1]);
	return f;
}

static enum image_log_verdict log_verdict(const struct log_text *t)
{
	struct image_log log;
	enum image_log_verdict v = image_log_begin(
		&log, (struct str){(const char *)t->bytes, IMAGE_LOG_HEADER_BYTES});

	if (v != IMAGE_LOG_GOOD)
		return v;
	for (int i = 0; i < t->frames; i++)
		image_log_frame(&log, t->bytes + IMAGE_LOG_HEADER_BYTES + i * FRAME);
	return image_log_end(&log);
}

START_TEST(logs_are_checked)
{
	struct image_log log;
	struct log_text t;
	unsigned char *f;

	log_text_begin(&t);
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_EMPTY);
	log_text_frame(&t, false);
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_EMPTY);
	log_text_frame(&t, true);
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_GOOD);
	/* A torn last transaction is what a power cut leaves. */
	f = log_text_frame(&t, false);
	log_text_frame(&t, true);
	f[100] ^= 1;
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_GOOD);
	/* Two transactions behind damage were acknowledged. */
	log_text_frame(&t, true);
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_DAMAGED);
	f[100] ^= 1;
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_GOOD);
	/* Frames of an older log behind it do not count. */
	f = log_text_frame(&t, true);
	put32(f + 8, 0xAAAA0000);
	f = log_text_frame(&t, true);
	put32(f + 8, 0xAAAA0000);
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_GOOD);

	t.bytes[0] ^= 1;
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_FOREIGN);
	t.bytes[0] ^= 1;
	t.bytes[17] ^= 1; /* the header's own checksum */
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_FOREIGN);
	memset(t.bytes, 0, IMAGE_LOG_HEADER_BYTES);
	ck_assert_int_eq(log_verdict(&t), IMAGE_LOG_EMPTY);
	ck_assert_int_eq(image_log_begin(&log, STR_LIT("short")), IMAGE_LOG_EMPTY);
}
END_TEST

/* ---- wal ---- */

static struct mono at_ms(int64_t ms)
{
	return (struct mono){ms * 1000};
}

static enum wal_action decide(const struct wal_policy *wal, int64_t now_ms)
{
	int64_t wait_ms;

	return wal_decide(wal, at_ms(now_ms), &wait_ms);
}

START_TEST(a_log_is_copied_then_cut)
{
	struct wal_policy wal = {0};
	int64_t wait_ms;

	ck_assert_int_eq(wal_decide(&wal, at_ms(5000000), &wait_ms), WAL_WAIT);
	ck_assert_int_eq(wait_ms, -1);
	wal_written(&wal, WAL_SOFT_BYTES - 1, at_ms(1000));
	ck_assert_int_eq(wal_decide(&wal, at_ms(1000), &wait_ms), WAL_WAIT);
	ck_assert_int_eq(wait_ms, WAL_PAUSE_MS);
	wal_written(&wal, WAL_SOFT_BYTES, at_ms(1001));
	ck_assert_int_eq(decide(&wal, 1001), WAL_COPY);
	wal_done(&wal, WAL_COPY, true, at_ms(1002));
	ck_assert_int_eq(decide(&wal, 1003), WAL_WAIT);
	ck_assert_int_eq(decide(&wal, 2002), WAL_CUT); /* the pause */
	wal_done(&wal, WAL_CUT, true, at_ms(2003));
	ck_assert_int_eq(wal_decide(&wal, at_ms(9000), &wait_ms), WAL_WAIT);
	ck_assert_int_eq(wait_ms, -1);
	/* A short log may lie for a while: typing makes one every second. */
	wal_written(&wal, 8192, at_ms(10000));
	ck_assert_int_eq(decide(&wal, 11000), WAL_WAIT);
	ck_assert_int_eq(decide(&wal, 40000), WAL_CUT);
}
END_TEST

START_TEST(a_pinned_log_is_told_about_once_and_recovers)
{
	struct wal_policy wal = {0};
	int64_t now = 1000;
	int attempts = 0;

	/* A reader stays for a minute of writing (R32). */
	for (; now < 61000; now += 10) {
		wal_written(&wal, (now - 1000) * 1024, at_ms(now));
		if (decide(&wal, now) != WAL_WAIT) {
			wal_done(&wal, decide(&wal, now), false, at_ms(now));
			attempts++;
		}
		if (wal.used_bytes <= WAL_LIMIT_BYTES)
			ck_assert(!wal.pinned);
	}
	ck_assert(wal.pinned);
	/* Bounded: about one attempt per WAL_RETRY_MS. */
	ck_assert_int_le(attempts, 60000 / WAL_RETRY_MS + 1);
	ck_assert_int_eq(decide(&wal, now + WAL_RETRY_MS), WAL_CUT);
	wal_done(&wal, WAL_CUT, true, at_ms(now + WAL_RETRY_MS));
	ck_assert(!wal.pinned);
	ck_assert_int_eq(wal.file_bytes, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("parts");

	tcase_add_test(tc, row_ids_come_from_the_key);
	tcase_add_test(tc, row_ids_do_not_collide);
	tcase_add_test(tc, keys_remember_until_the_oldest_must_go);
	tcase_add_test(tc, keys_stay_within_their_bytes);
	tcase_add_test(tc, filesystems_of_other_machines_are_known);
	tcase_add_test(tc, headers_are_checked);
	tcase_add_test(tc, logs_are_checked);
	tcase_add_test(tc, a_log_is_copied_then_cut);
	tcase_add_test(tc, a_pinned_log_is_told_about_once_and_recovers);
	return check_run(tc);
}

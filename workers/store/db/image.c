/* image.c - what a database file and its write-ahead log say by their bytes (image.h). */
#include "workers/store/db/image.h"

#define LOG_MAGIC 0x377f0682u /* the lowest bit: checksums of big-endian words */
#define LOG_VERSION 3007000u

static uint32_t big16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t big32(const unsigned char *p)
{
	return big16(p) << 16 | big16(p + 2);
}

static uint32_t little32(const unsigned char *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static bool page_size_valid(uint32_t bytes)
{
	return bytes >= 512 && bytes <= IMAGE_PAGE_MAX && (bytes & (bytes - 1)) == 0;
}

const char *image_header_read(struct str first, struct image_header *out)
{
	static const char magic[16] = "SQLite format 3";
	const unsigned char *p = (const unsigned char *)first.ptr;
	struct image_header found = {0};

	if (first.len < IMAGE_HEADER_BYTES)
		return "it is too short to be a database";
	if (memcmp(p, magic, sizeof(magic)) != 0)
		return "it does not begin like an SQLite database";
	found.page_bytes = big16(p + 16);
	if (found.page_bytes == 1)
		found.page_bytes = IMAGE_PAGE_MAX;
	if (!page_size_valid(found.page_bytes))
		return "its header gives an impossible page size";
	if (p[18] < 1 || p[18] > 2 || p[19] < 1 || p[19] > 2)
		return "its header gives an unknown file format";
	if (p[21] != 64 || p[22] != 32 || p[23] != 32)
		return "its header gives impossible payload fractions";
	if (found.page_bytes - p[20] < 480)
		return "its header reserves too much of each page";
	if (big32(p + 44) > 4)
		return "its header gives an unknown schema format";
	if (big32(p + 56) > 3)
		return "its header gives an unknown text encoding";
	found.wal = p[19] == 2;
	/* The number of pages counts only when it was written together with the change
	 * counter. */
	if (big32(p + 24) == big32(p + 92))
		found.pages = big32(p + 28);
	*out = found;
	return NULL;
}

/* The log's checksum over `len` bytes, a multiple of 8. */
static void log_sum(
	const struct image_log *log, const unsigned char *p, size_t len, uint32_t sum[2])
{
	uint32_t a = sum[0], b = sum[1];

	for (size_t i = 0; i < len; i += 8) {
		a += (log->big_endian ? big32(p + i) : little32(p + i)) + b;
		b += (log->big_endian ? big32(p + i + 4) : little32(p + i + 4)) + a;
	}
	sum[0] = a;
	sum[1] = b;
}

static bool all_zero(const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != 0)
			return false;
	return true;
}

enum image_log_verdict image_log_begin(struct image_log *log, struct str first)
{
	const unsigned char *p = (const unsigned char *)first.ptr;
	uint32_t magic, sum[2] = {0, 0};

	*log = (struct image_log){0};
	/* A file system that lost power may have kept the length of a new log and not its
	 * first page. */
	if (first.len < IMAGE_LOG_HEADER_BYTES || all_zero(p, IMAGE_LOG_HEADER_BYTES))
		return IMAGE_LOG_EMPTY;
	magic = big32(p);
	if ((magic & ~1u) != LOG_MAGIC || big32(p + 4) != LOG_VERSION)
		return IMAGE_LOG_FOREIGN;
	log->big_endian = magic & 1;
	log->page_bytes = big32(p + 8);
	log->salt[0] = big32(p + 16);
	log->salt[1] = big32(p + 20);
	log_sum(log, p, 24, sum);
	if (sum[0] != big32(p + 24) || sum[1] != big32(p + 28) ||
		!page_size_valid(log->page_bytes))
		return IMAGE_LOG_FOREIGN;
	log->sum[0] = sum[0];
	log->sum[1] = sum[1];
	return IMAGE_LOG_GOOD;
}

void image_log_frame(struct image_log *log, const unsigned char *frame)
{
	bool ours = big32(frame + 8) == log->salt[0] && big32(frame + 12) == log->salt[1];
	bool commit = big32(frame + 4) != 0;
	uint32_t sum[2] = {log->sum[0], log->sum[1]};

	log->frames++;
	if (!log->broken) {
		log_sum(log, frame, 8, sum);
		log_sum(log, frame + IMAGE_FRAME_HEADER_BYTES, log->page_bytes, sum);
		if (ours && big32(frame) != 0 && sum[0] == big32(frame + 16) &&
			sum[1] == big32(frame + 20)) {
			log->sum[0] = sum[0];
			log->sum[1] = sum[1];
			log->good_frames++;
			log->commits += commit;
			return;
		}
		log->broken = true;
	}
	/* Frames with other salts are left over from before the log was begun anew. */
	log->lost_commits += ours && commit;
}

enum image_log_verdict image_log_end(const struct image_log *log)
{
	if (log->lost_commits > 1)
		return IMAGE_LOG_DAMAGED;
	return log->commits > 0 ? IMAGE_LOG_GOOD : IMAGE_LOG_EMPTY;
}

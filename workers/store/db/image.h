/*
 * image.h - what a database file and its write-ahead log say by their bytes.
 *
 * SQLite itself finds a damaged header late, reads a log with a damaged header as an
 * empty one, and cuts a log at its first damaged frame: commits behind it vanish without
 * a word. So both are looked at before SQLite opens them (inspect.c). Pure: bytes in,
 * verdict out. The formats are SQLite's file format, sections 1.3 and 4.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

#define IMAGE_HEADER_BYTES 100
#define IMAGE_LOG_HEADER_BYTES 32
#define IMAGE_FRAME_HEADER_BYTES 24
#define IMAGE_PAGE_MAX 65536

struct image_header {
	uint32_t page_bytes;
	uint32_t pages; /* as the header says; 0 when it does not say */
	bool wal;	/* the file wants a write-ahead log */
};

/*
 * Reads the first bytes of a database file (the whole file when it is shorter than
 * IMAGE_HEADER_BYTES). NULL and *out filled when it can be one, else what is wrong, as
 * static text that goes on after "is damaged: ".
 */
const char *image_header_read(struct str first, struct image_header *out)
	__attribute__((warn_unused_result));

/* The reading of a log, frame by frame. Zero before image_log_begin. */
struct image_log {
	uint32_t page_bytes;
	bool big_endian; /* words of the checksum */
	uint32_t salt[2];
	uint32_t sum[2];
	uint64_t frames;       /* read so far */
	uint64_t good_frames;  /* whose checksum continues that of the frame before */
	uint64_t commits;      /* among the good frames */
	uint64_t lost_commits; /* frames of this log that end a transaction, behind the
				  first bad one */
	bool broken;	       /* a bad frame was seen */
};

enum image_log_verdict {
	IMAGE_LOG_EMPTY,   /* nothing was ever committed in it */
	IMAGE_LOG_GOOD,	   /* every commit in it can be read */
	IMAGE_LOG_FOREIGN, /* no write-ahead log at all, or its header is damaged */
	IMAGE_LOG_DAMAGED, /* commits lie behind a damaged frame: SQLite would drop them
			      silently */
};

/* Takes the first IMAGE_LOG_HEADER_BYTES of a log (fewer when it is shorter).
 * IMAGE_LOG_GOOD means: go on with the frames of page_bytes each. */
enum image_log_verdict image_log_begin(struct image_log *log, struct str first)
	__attribute__((warn_unused_result));
/* Takes one whole frame: its header and its page. */
void image_log_frame(struct image_log *log, const unsigned char *frame);
/*
 * The verdict after the last whole frame. A power cut leaves at most one transaction that
 * was not synced, so one frame that ends a transaction may lie behind a damaged one; two
 * mean that something was acknowledged and would be lost.
 */
enum image_log_verdict image_log_end(const struct image_log *log)
	__attribute__((warn_unused_result));

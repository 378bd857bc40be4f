/*
 * paid_works.h - Claude's answers to flows that have not ended yet, and shared answers.
 *
 * Each answer costs money and minutes, and an llm worker that is killed loses its own.
 * So it sends each answer to the store as it comes; when the same work is requested again,
 * another llm worker gets those answers, and asks Claude only for the rest. Not a
 * table: paige.db has ten. The file beside it is written anew at each change.
 *
 * Works are kept for PAID_WORKS_KEEP_MS, and for the session in which they were begun.
 *
 * A shared answer is one to a question that windows ask again and again (what to learn
 * next). It belongs to no session and to no process: everyone who asks the same gets it, for
 * PAID_ANSWERS_KEEP_MS. Of each step the newest is kept.
 */
#pragma once

#include "common/base/clock.h"
#include "proto/codec/messages.h"

#define PAID_WORKS_FILE "paid-works"
#define PAID_WORKS_KEEP_MS 900000
#define PAID_ANSWERS_KEEP_MS 86400000
/* Beyond either of these the oldest works are forgotten. */
#define PAID_WORKS_MAX 32
#define PAID_WORKS_MAX_BYTES (2u * 1024 * 1024)

/* Zero is none. */
struct paid_works {
	char *path;
	struct paid_file file; /* the oldest first; in `arena` and `doc` */
	struct arena arena;
	yyjson_doc *doc;
};

/* Reads what an earlier process kept in `directory`. 0 or -errno; a file that cannot be
 * read is as none. */
int paid_works_load(struct paid_works *works, const char *directory)
	__attribute__((warn_unused_result));
/* The work that another llm worker than `owner` has begun, in this session or in any when
 * none is active (""); it is the new owner's then. Or an answer for all, which stays as it
 * is. NULL: there is none. */
const struct paid_work *paid_works_take(struct paid_works *works,
	const struct paid_take *take, struct str session, struct wall now);
/* Keeps one answer of a work, which begins with its first. 0 or -errno of the file; it is
 * kept in memory all the same. */
int paid_works_keep(struct paid_works *works, const struct paid_keep *keep,
	struct str session, struct wall now) __attribute__((warn_unused_result));
/* The work has ended. */
void paid_works_drop(struct paid_works *works, struct str id);
void paid_works_fini(struct paid_works *works);

/*
 * interview.h - an interview of timed sections with bounded follow-up questions.
 *
 * Which section runs, how long, what is asked next, and when it is over. Texts are not
 * kept: they stand in the rows of the stream, from which artifacts.c makes transcripts
 * and bundles. Pure; driven through machine.h.
 */
#pragma once

#include "common/machine/machine.h"
#include "workers/guard-engine/interview/interview_schema.h"

#define INTERVIEW_RULES 1

/* Bounds of one instance. */
#define INTERVIEW_MAX_WARNINGS 8
#define INTERVIEW_MAX_QUERIES 8 /* of the assistant, not answered yet */
#define INTERVIEW_MAX_CANDIDATE 128

enum interview_item {
#define ITEM(symbol, ...) INTERVIEW_ITEM_##symbol,
	INTERVIEW_BEFORE_FIRST = ITEM_FIRST_OWN - 1,
#include "workers/guard-engine/interview/interview.def"
#undef ITEM
	INTERVIEW_ITEMS
};

#define INTERVIEW_RUNNING (-1) /* a section that has no reason of its end yet */

struct interview_part {
	/* constants */
	int64_t duration_ms;
	int64_t followup_cap;

	int64_t started_at_ms; /* 0: not yet */
	int64_t deadline_ms;
	int exit; /* enum interview_exit, or INTERVIEW_RUNNING */
	int64_t followups;
	int64_t content;    /* answers of substance */
	unsigned warned;    /* bits, by place in warnings_ms */
	bool skip_prompted; /* "please provide a brief outline" was said (I7) */
	enum interview_level level[INTERVIEW_MAX_DIMENSIONS];
	int asked[INTERVIEW_MAX_DIMENSIONS]; /* questions of the pool that were used */
};

struct interview {
	struct machine_base base;
	const struct interview_schema *schema; /* static */

	/* constants */
	enum interview_evaluator evaluator;
	int64_t grace_ms;
	int64_t total_ms;
	int warning_count;
	int64_t warnings_ms[INTERVIEW_MAX_WARNINGS];
	char candidate_id[INTERVIEW_MAX_CANDIDATE + 1];

	enum interview_status status;
	enum interview_substate substate;
	int current; /* section; meaningful once started */
	int64_t started_at_ms;
	int64_t submissions;

	int64_t evaluating_seq; /* the message that the model judges; 0: none */
	int attempt;
	int64_t waiting_seq; /* the newest message that is to be judged after that; 0:
				none */
	int query_count;
	int64_t queries[INTERVIEW_MAX_QUERIES];

	struct interview_part parts[INTERVIEW_MAX_SECTIONS];
};

/* Is a section under way, in front of the candidate or not? */
static inline bool interview_runs(const struct interview *s)
{
	return s->status == INTERVIEW_IN_PROGRESS || s->status == INTERVIEW_PAUSED;
}

extern const struct machine interview_machine;

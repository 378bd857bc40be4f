/*
 * interview_flow.h - how sections begin, go on and end; see interview.h. Called by
 * interview.c alone. Functions add the rows that say what they did.
 */
#pragma once

#include "workers/guard-engine/interview/interview.h"

/* Intro and first question; the intro takes no time (I9). */
void interview_start_section(
	struct interview *s, int section, int64_t at_ms, struct machine_out *out);

/* Ends the section that runs and starts the next one, or completes the interview. */
void interview_end_section(struct interview *s, enum interview_exit reason, int64_t at_ms,
	struct machine_out *out);

/* An answer that counts for the section that runs: judged by its words, or by the model
 * later. */
void interview_take_answer(struct interview *s, int64_t seq, struct str text,
	bool substantive, int64_t at_ms, struct machine_out *out);

/* The candidate wants to leave the section without having said anything (I7). */
void interview_reject_skip(struct interview *s, struct machine_out *out);

/* The model's judgement of an answer, or its failure: the second one ends the interview
 * (I8). */
int interview_judged(
	struct interview *s, const struct machine_event *e, struct machine_out *out);
int interview_failed(
	struct interview *s, const struct machine_event *e, struct machine_out *out);

/* Warnings and ends that are due. */
void interview_tick(struct interview *s, int64_t at_ms, struct machine_out *out);
int64_t interview_deadline(const void *state);

/* Ends everything that is open; `status` is COMPLETED or TERMINATED. */
void interview_close(struct interview *s, enum interview_status status);

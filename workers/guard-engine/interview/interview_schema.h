/*
 * interview_schema.h - the interviews that can be held (IV-2.1), compiled
 * in from config/interview/.
 *
 * A stream names the version of its schema, and every version stays: the same version and
 * the same inputs give the same sections and the same questions (section 11). Pure data.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

#define INTERVIEW_MAX_SECTIONS 8
#define INTERVIEW_MAX_DIMENSIONS 6
#define INTERVIEW_MAX_QUESTIONS 9 /* follow-ups of one dimension */

struct interview_dimension {
	const char *id;
	const char *strong;    /* words that cover it: see coverage.h */
	const char *weak;      /* words that touch it */
	const char *questions; /* follow-ups, separated by | */
};

struct interview_section {
	const char *id;
	const char *name;
	int64_t duration_ms;
	int64_t followup_cap;
	int threshold; /* dimensions that suffice; 0: all of them (I6) */
	bool takes_code;
	const char *goal;
	const char *prompt;
	int dimension_count;
	const struct interview_dimension *dimensions; /* the most important first */
};

struct interview_schema {
	const char *version;
	int section_count;
	const struct interview_section *sections;
};

/* The newest version, used when nothing else is asked for. */
extern const struct interview_schema *const interview_schema_default;

/* NULL for a version that does not exist. */
const struct interview_schema *interview_schema_find(struct str version);

/* The place of a section, or -1. */
int interview_schema_section(const struct interview_schema *schema, struct str id);

/* Follow-up question number n (from 0) of a dimension; absent when there are no more. */
struct str interview_question(const struct interview_dimension *d, int n);

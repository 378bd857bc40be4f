/*
 * assistant_policy.h - what the candidate's assistant may say (IV-8.2).
 *
 * Allowed: definitions, what documentation says, nudges. Not allowed: solutions, much
 * code, plans step by step. Queries are checked before a model is asked, answers before
 * the candidate sees them. Pure; called when an event is new, and the verdict is kept
 * with it.
 */
#pragma once

#include "common/base/str.h"

/* What the candidate reads instead. Candidates read these words and no others.
 */
#define ASSISTANT_OVERSTEP                                                               \
	"I can help clarify concepts, but I can’t provide that level of detail."
#define ASSISTANT_AWAY "Assistant is temporarily unavailable."

#define ASSISTANT_MAX_WORDS 150
#define ASSISTANT_MAX_CODE_LINES 3
#define ASSISTANT_MAX_CHARACTERS 1200
#define ASSISTANT_MAX_STEPS 2 /* numbered items; more are a plan */

/* Name of the rule that a query breaks (static), NULL when the assistant may be asked. */
const char *assistant_check_query(struct str query);

/* Name of the rule that an answer breaks (static), NULL when it may be shown. */
const char *assistant_check_answer(struct str answer);

/*
 * prompts.h - the kinds of call of prompts/calls.def and their system prompts.
 *
 * Compiled in; a file NAME.md in the directory given to prompts_load takes the place of
 * one. Not thread safe while loading: load before flows run, or on SIGHUP from the loop
 * (texts in use stay valid).
 */
#ifndef PAIGE_LLM_PROMPTS_H
#define PAIGE_LLM_PROMPTS_H

#include "common/arena.h"
#include "proto/codec.h"
#include "workers/llm/models.h"

enum call_kind {
#define CALL(symbol, ...) CALL_##symbol,
#include "prompts/calls.def"
#undef CALL
	CALL_KINDS
};

struct call_info {
	const char *name; /* call_type in api_call_log */
	enum model_tier tier;
	const struct type *(*request)(void);
	const struct type *(*response)(void);
	bool searches;
};

extern const struct call_info call_infos[CALL_KINDS];

/* Reads the overrides in `dir` (NULL or empty: none). An unreadable or empty file is
 * logged and the text compiled in stays. */
void prompts_load(const char *dir);
/* The system prompt with {dreyfus_stage} filled in everywhere (P11.16); in the arena. */
struct str prompt_text(
	enum call_kind kind, struct str dreyfus_stage, struct arena *arena);

#endif

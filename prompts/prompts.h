/*
 * prompts.h - the kinds of call of prompts/calls.def and their system prompts.
 *
 * Compiled in; a file NAME.md in the directory given to prompts_read takes the place of
 * one.
 */
#pragma once

#include "common/base/arena.h"
#include "prompts/models.h"
#include "proto/codec/codec.h"

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

/* Texts in place of those compiled in. Not changed once they are read. */
struct prompts;

/* Returns new: what is in `dir` (empty: nothing). An unreadable or empty file is logged
 * and the text compiled in stays. */
struct prompts *prompts_read(const char *dir);
void prompts_free(struct prompts *p);
/* The system prompt with {dreyfus_stage} filled in everywhere (P11.16); in the arena. */
struct str prompt_text(const struct prompts *p, enum call_kind kind,
	struct str dreyfus_stage, struct arena *arena);

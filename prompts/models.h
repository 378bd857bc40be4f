/*
 * models.h - which model a call uses and what it costs. Pure (config/models.def; FR-085,
 * FR-087, FR-095).
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum model_tier { MODEL_HAIKU, MODEL_SONNET, MODEL_TIERS };

/* The setting that puts another model first. */
extern const char *const model_settings[MODEL_TIERS];

/* Tokens of one answer, or of several added up. */
struct model_usage {
	int64_t input, output, cache_write, cache_read, web_searches;
};

void model_usage_add(struct model_usage *sum, const struct model_usage *more);

#define MODEL_ID_SIZE 201 /* MODEL_HAIKU and MODEL_SONNET have at most 200 bytes */

/* What the API said is not there. Zero is nothing. */
struct models_gone {
	unsigned rows;				 /* of the table, a bit each */
	char others[MODEL_TIERS][MODEL_ID_SIZE]; /* the newest one that is not in it */
};

/*
 * The model to ask: `preferred` (a setting; NULL or empty for none) unless it is gone,
 * else the first of the tier's rows that is neither gone nor past its end at `now`. When
 * none is left the tier's last one: the API may have been wrong. Never NULL; borrowed
 * from `preferred` or from the table.
 */
const char *model_choose(const struct models_gone *gone, enum model_tier tier,
	const char *preferred, struct wall now);
/* The API answered that `id` is not there. True when that is news. */
bool model_gone(struct models_gone *gone, enum model_tier tier, const char *id);
/* US dollars. Web searches are 10 dollars a thousand. */
double model_cost(enum model_tier tier, const char *id, const struct model_usage *usage);

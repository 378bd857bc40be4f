/*
 * models.h - which model a call uses and what it costs. Pure (config/models.def; FR-085,
 * FR-087, FR-095).
 */
#ifndef PAIGE_LLM_MODELS_H
#define PAIGE_LLM_MODELS_H

#include "common/str.h"
#include <stdint.h>

enum model_tier { MODEL_HAIKU, MODEL_SONNET, MODEL_TIERS };

/* The setting that puts another model first. */
extern const char *const model_settings[MODEL_TIERS];

/* Tokens of one answer, or of several added up. */
struct model_usage {
	int64_t input, output, cache_write, cache_read, web_searches;
};

void model_usage_add(struct model_usage *sum, const struct model_usage *more);

/* Models of a tier that the API said are gone, remembered for the life of the process. */
struct model_choice {
	const char *preferred[MODEL_TIERS]; /* from the settings, or NULL or empty;
					       borrowed */
	unsigned gone[MODEL_TIERS]; /* how many from the front of the tier's list, the
				       preferred first */
};

/* The model to use, or NULL when every model of the tier is gone. Borrowed. */
const char *model_choose(const struct model_choice *choice, enum model_tier tier);
/* The API answered that `id` is not there. True when that is news and another one is
 * left. */
bool model_gone(struct model_choice *choice, enum model_tier tier, const char *id);
/* US dollars. Web searches are 10 dollars a thousand. */
double model_cost(enum model_tier tier, const char *id, const struct model_usage *usage);

#endif

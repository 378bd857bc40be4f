/* models.c - which model a call uses and what it costs (models.h). */
#include "workers/llm/models.h"
#include <string.h>

#define DOLLARS_PER_SEARCH 0.01

struct model {
	enum model_tier tier;
	const char *id;
	double input, output, cache_write, cache_read;
};

static const struct model models[] = {
#define MODEL(tier_, id_, in, out, write, read)                                          \
	{MODEL_##tier_, id_, in, out, write, read},
#include "config/models.def"
#undef MODEL
};

const char *const model_settings[MODEL_TIERS] = {"MODEL_HAIKU", "MODEL_SONNET"};

void model_usage_add(struct model_usage *sum, const struct model_usage *more)
{
	sum->input += more->input;
	sum->output += more->output;
	sum->cache_write += more->cache_write;
	sum->cache_read += more->cache_read;
	sum->web_searches += more->web_searches;
}

/* The n-th model of a tier's list, the preferred one first and not again later. */
static const char *nth(
	const struct model_choice *choice, enum model_tier tier, unsigned n)
{
	const char *preferred = choice->preferred[tier];

	if (preferred && *preferred && n-- == 0)
		return preferred;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (models[i].tier != tier ||
			(preferred && strcmp(models[i].id, preferred) == 0))
			continue;
		if (n-- == 0)
			return models[i].id;
	}
	return NULL;
}

const char *model_choose(const struct model_choice *choice, enum model_tier tier)
{
	return nth(choice, tier, choice->gone[tier]);
}

bool model_gone(struct model_choice *choice, enum model_tier tier, const char *id)
{
	const char *now = model_choose(choice, tier);

	if (!now || strcmp(now, id) != 0)
		return false; /* another call was told before */
	choice->gone[tier]++;
	if (model_choose(choice, tier))
		return true;
	/* Keep asking for the last one: the API may have been wrong. */
	choice->gone[tier]--;
	return false;
}

static const struct model *priced(enum model_tier tier, const char *id)
{
	const struct model *first = NULL;

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (models[i].tier != tier)
			continue;
		if (strcmp(models[i].id, id) == 0)
			return &models[i];
		if (!first)
			first = &models[i];
	}
	return first;
}

double model_cost(enum model_tier tier, const char *id, const struct model_usage *usage)
{
	const struct model *m = priced(tier, id);

	return ((double)usage->input * m->input + (double)usage->output * m->output +
		       (double)usage->cache_write * m->cache_write +
		       (double)usage->cache_read * m->cache_read) /
		       1e6 +
	       (double)usage->web_searches * DOLLARS_PER_SEARCH;
}

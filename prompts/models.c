/* models.c - which model a call uses and what it costs (models.h). */
#include "prompts/models.h"
#include <string.h>

#define DOLLARS_PER_SEARCH 0.01

struct model {
	enum model_tier tier;
	const char *id, *ends;
	double input, output, cache_write, cache_read;
};

#define MODEL_COUNT (sizeof(models) / sizeof(models[0]))

static const struct model models[] = {
#define MODEL(tier_, id_, ends_, in, out, write, read)                                   \
	{MODEL_##tier_, id_, ends_, in, out, write, read},
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

/* The row of a model, or MODEL_COUNT. */
static size_t row_of(enum model_tier tier, const char *id)
{
	size_t i = 0;

	while (i < MODEL_COUNT &&
		(models[i].tier != tier || strcmp(models[i].id, id) != 0))
		i++;
	return i;
}

static bool is_gone(const struct models_gone *gone, enum model_tier tier, const char *id)
{
	size_t row = row_of(tier, id);

	return row < MODEL_COUNT ? gone->rows & 1u << row
				 : strcmp(gone->others[tier], id) == 0;
}

/* Dates of one form compare as text. */
static bool has_ended(const struct model *m, struct wall now)
{
	char text[WALL_ISO_SIZE];

	wall_iso(now, text);
	return *m->ends && strncmp(text, m->ends, strlen(m->ends)) >= 0;
}

const char *model_choose(const struct models_gone *gone, enum model_tier tier,
	const char *preferred, struct wall now)
{
	const char *last = NULL;

	if (preferred && *preferred && !is_gone(gone, tier, preferred))
		return preferred;
	for (size_t i = 0; i < MODEL_COUNT; i++) {
		if (models[i].tier != tier)
			continue;
		last = models[i].id;
		if (!(gone->rows & 1u << i) && !has_ended(&models[i], now))
			return last;
	}
	return last;
}

bool model_gone(struct models_gone *gone, enum model_tier tier, const char *id)
{
	size_t row = row_of(tier, id);
	bool news = !is_gone(gone, tier, id);

	if (row < MODEL_COUNT)
		gone->rows |= 1u << row;
	else if (strlen(id) < MODEL_ID_SIZE)
		strcpy(gone->others[tier], id);
	return news;
}

static const struct model *priced(enum model_tier tier, const char *id)
{
	const struct model *first = NULL;

	for (size_t i = 0; i < MODEL_COUNT; i++) {
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

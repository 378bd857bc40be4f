/* interview_schema.c - see interview_schema.h. A schema file is read twice: dimensions,
 * then sections. */
#include "workers/guard-engine/interview/interview_schema.h"
#include "workers/guard-engine/phrases/phrases.h"

#define SECTION(id, ...) static const struct interview_dimension mle_v1_##id[] = {
#define DIMENSION(id_, strong_, weak_, questions_)                                       \
	{.id = id_, .strong = strong_, .weak = weak_, .questions = questions_},
#define END_SECTION(id)                                                                  \
	}                                                                                \
	;                                                                                \
	_Static_assert(sizeof(mle_v1_##id) / sizeof(mle_v1_##id[0]) <=                   \
			       INTERVIEW_MAX_DIMENSIONS,                                 \
		"too many dimensions");
#include "config/interview/mle-v1.def"
#undef SECTION
#undef DIMENSION
#undef END_SECTION

static const struct interview_section mle_v1_sections[] = {
#define SECTION(id_, name_, duration, cap, threshold_, takes_code_, goal_, prompt_)      \
	{.id = #id_,                                                                     \
		.name = name_,                                                           \
		.duration_ms = duration,                                                 \
		.followup_cap = cap,                                                     \
		.threshold = threshold_,                                                 \
		.takes_code = takes_code_,                                               \
		.goal = goal_,                                                           \
		.prompt = prompt_,                                                       \
		.dimension_count = sizeof(mle_v1_##id_) / sizeof(mle_v1_##id_[0]),       \
		.dimensions = mle_v1_##id_},
#define DIMENSION(...)
#define END_SECTION(id)
#include "config/interview/mle-v1.def"
#undef SECTION
#undef DIMENSION
#undef END_SECTION
};

_Static_assert(
	sizeof(mle_v1_sections) / sizeof(mle_v1_sections[0]) <= INTERVIEW_MAX_SECTIONS,
	"too many sections");

static const struct interview_schema schemas[] = {
	{"mle-v1", sizeof(mle_v1_sections) / sizeof(mle_v1_sections[0]), mle_v1_sections},
};

const struct interview_schema *const interview_schema_default = &schemas[0];

const struct interview_schema *interview_schema_find(struct str version)
{
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
		if (str_is(version, schemas[i].version))
			return &schemas[i];
	return NULL;
}

int interview_schema_section(const struct interview_schema *schema, struct str id)
{
	for (int i = 0; i < schema->section_count; i++)
		if (str_is(id, schema->sections[i].id))
			return i;
	return -1;
}

struct str interview_question(const struct interview_dimension *d, int n)
{
	const char *left = d->questions;

	for (int i = 0; left && i < INTERVIEW_MAX_QUESTIONS; i++) {
		struct str question = phrases_piece(&left, '|');

		if (i == n)
			return question;
	}
	return (struct str){0};
}

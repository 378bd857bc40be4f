/* dreyfus_stage.c - which Dreyfus stage of the learner goes into a prompt (dreyfus_stage.h). */
#include "workers/llm/flows/dreyfus_stage.h"
#include <strings.h>

static const struct str novice = {"novice", 6};

static bool contains(struct str text, struct str what)
{
	if (what.len == 0)
		return false;
	for (size_t i = 0; i + what.len <= text.len; i++)
		if (strncasecmp(text.ptr + i, what.ptr, what.len) == 0)
			return true;
	return false;
}

struct str dreyfus_stage_newest(const struct coaching_context *c)
{
	return c->dreyfus.count > 0 ? c->dreyfus.items[0].stage : novice;
}

struct str dreyfus_stage_for_language(
	const struct coaching_context *c, struct str language)
{
	for (size_t i = 0; i < c->dreyfus.count; i++)
		if (contains(c->dreyfus.items[i].skill_area, language))
			return c->dreyfus.items[i].stage;
	return dreyfus_stage_newest(c);
}

struct str dreyfus_stage_for_topic(const struct coaching_context *c, struct str topic)
{
	for (size_t i = 0; i < c->dreyfus.count; i++) {
		struct str skill = c->dreyfus.items[i].skill_area;

		if (topic.len > 0 && skill.len == topic.len && contains(skill, topic))
			return c->dreyfus.items[i].stage;
	}
	for (size_t i = 0; i < c->dreyfus.count; i++)
		if (contains(c->dreyfus.items[i].skill_area, topic))
			return c->dreyfus.items[i].stage;
	return novice;
}

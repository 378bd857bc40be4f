/* dreyfus_stage.h - which Dreyfus stage of the learner goes into a prompt. Pure (P9.5, P11.10, P11.11). */
#pragma once

#include "proto/codec/messages.h"

/* `dreyfus` of the context has the newest assessment first. All borrow from it, or give
 * "novice". */
struct str dreyfus_stage_newest(const struct coaching_context *c);
/* Of the skill whose name contains the language, else the newest. */
struct str dreyfus_stage_for_language(
	const struct coaching_context *c, struct str language);
/* Of the skill with exactly this name, else of one that contains it, else novice. An
 * absent topic: novice. */
struct str dreyfus_stage_for_topic(const struct coaching_context *c, struct str topic);

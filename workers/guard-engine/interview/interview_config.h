/* interview_config.h - the constants of an interview: read and checked (IV-12). Pure. */
#ifndef PAIGE_GUARD_ENGINE_INTERVIEW_INTERVIEW_CONFIG_H
#define PAIGE_GUARD_ENGINE_INTERVIEW_INTERVIEW_CONFIG_H

#include "workers/guard-engine/interview/interview.h"

/* As the members of struct machine say. */
int interview_create(yyjson_val *config, const struct machine_defaults *defaults,
	struct arena *arena, void *state, struct proto_error *error);
void interview_config_out(const void *state, struct buf *out);

#endif

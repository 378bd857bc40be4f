/* interview_config.h - the constants of an interview: read and checked (IV-12). Pure. */
#pragma once

#include "workers/guard-engine/interview/interview.h"

/* As the members of struct machine say. */
int interview_create(yyjson_val *config, const struct machine_defaults *defaults,
	struct arena *arena, void *state, struct proto_error *error);
void interview_config_out(const void *state, struct buf *out);

/* interview_view.h - an interview as JSON: what clients see, and snapshots. Pure. */
#pragma once

#include "workers/guard-engine/interview/interview.h"

/* {"dimension": "level", …} of a section, in the text of `out`. */
struct str interview_coverage_text(const struct interview_section *section,
	const struct interview_part *part, struct machine_out *out);

/* As the members of struct machine say. */
void interview_render(
	const void *state, const struct machine_view *view, struct buf *out);
void interview_save(const void *state, struct buf *out);
int interview_load(yyjson_val *snapshot, struct arena *arena, void *state,
	struct proto_error *error);

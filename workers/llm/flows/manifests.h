/* manifests.h - which techniques a project uses, by the manifests in its root (P12.17).
 */
#pragma once

#include "workers/llm/claude/flow.h"

/* Names separated by commas, "unknown" without any manifest; in the flow's arena. */
struct str manifests_tech_stack(struct flow *flow);

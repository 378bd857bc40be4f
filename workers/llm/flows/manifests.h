/* manifests.h - which techniques a project uses, by the manifests in its root (P12.17).
 */
#ifndef PAIGE_LLM_FLOWS_MANIFESTS_H
#define PAIGE_LLM_FLOWS_MANIFESTS_H

#include "workers/llm/claude/flow.h"

/* Names separated by commas, "unknown" without any manifest; in the flow's arena. */
struct str manifests_tech_stack(struct flow *flow);

#endif

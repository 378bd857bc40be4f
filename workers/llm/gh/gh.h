/*
 * gh.h - runs the GitHub command line, the one program that Paige starts beside its own
 * (R44).
 *
 * No shell, no input, no prompts, no pager, no colours; a deadline (GH_TIMEOUT_MS), a
 * limit on what it may print, and a process group of its own that is killed whole. It has
 * the rights of the user, unlike the worker: paige-gh starts it. gh_run_json is called on a
 * flow's thread.
 */
#pragma once

#include "workers/llm/claude/flow.h"

#define GH_OUTPUT_MAX (8u * 1024 * 1024)

/*
 * Runs gh with `arguments` (NULL at the end, without the program's name) in PROJECT_DIR.
 * Gives what it printed as JSON, which lives as long as the flow; NULL with a sentence for
 * people in *problem (P12.16): fixed texts, nothing that gh itself said.
 */
yyjson_val *gh_run_json(
	struct flow *flow, const char *const *arguments, const char **problem);
/* True when gh is on PATH. */
bool gh_installed(void);
/* Starts paige-gh (gh_helper.h), which starts gh from then on; in init, before
 * confinement. 0 or the exit code of enum worker_exit, logged. The worker ends when
 * paige-gh does. */
int gh_start_helper(struct worker *w) __attribute__((warn_unused_result));

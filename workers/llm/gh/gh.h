/*
 * gh.h - runs the GitHub command line, the one program that Paige starts beside its own
 * (R44).
 *
 * No shell, no input, no prompts, no pager, no colours; a deadline (GH_TIMEOUT_MS), a
 * limit on what it may print, and a process group of its own that is killed whole. It has
 * the rights of the user, unlike the worker: paige-gh starts it. gh_run is called on a
 * flow's thread.
 */
#pragma once

#include "workers/llm/claude/flow.h"

#define GH_OUTPUT_MAX (8u * 1024 * 1024)

/*
 * Runs gh with `arguments` (NULL at the end, without the program's name) in PROJECT_DIR.
 * 0 with what it printed in `out`; else -1 with a sentence for people in *problem
 * (P12.16): fixed texts, nothing that gh itself said.
 */
int gh_run(struct flow *flow, const char *const *arguments, struct buf *out,
	const char **problem) __attribute__((warn_unused_result));
/* The same for what it printed as JSON, which lives as long as the flow; NULL when that
 * is not JSON, with *problem set. */
yyjson_val *gh_run_json(
	struct flow *flow, const char *const *arguments, const char **problem);
/* True when gh is on PATH. */
bool gh_installed(void);
/* Starts paige-gh (gh_helper.h), which starts gh from then on; in init, before
 * confinement. 0 or the exit code of enum worker_exit, logged. The worker ends when
 * paige-gh does. */
int gh_start_helper(struct worker *w) __attribute__((warn_unused_result));

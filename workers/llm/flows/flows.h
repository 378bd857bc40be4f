/*
 * flows.h - the flows that the llm worker serves, one file each; every one is a flow_fn
 * that reads from top to bottom. They begin with a method of proto/catalogue/methods.def and end
 * with flow_answer or flow_fail.
 */
#pragma once

#include "workers/llm/claude/flow.h"

flow_fn flow_explain;		       /* explain.run */
flow_fn flow_review;		       /* review.run */
flow_fn flow_review_submit;	       /* review.submit */
flow_fn flow_triage;		       /* triage.run */
flow_fn flow_control;		       /* control.run */
flow_fn flow_interview_coverage;       /* interview.coverage */
flow_fn flow_interview_assistant;      /* interview.assistant */
flow_fn flow_pipeline;		       /* coaching.pipeline */
flow_fn flow_wrap_up;		       /* session.wrap_up */
flow_fn flow_dashboard_load;	       /* dashboard.load */
flow_fn flow_dashboard_refresh_issues; /* dashboard.refresh_issues */

/* Nobody waits for these. */
flow_fn flow_connect_memory; /* at the start */
flow_fn flow_fetch_title; /* of the issue of a session that began; body: session_event */
flow_fn flow_fetch_missed_title; /* of the active session, whose event may have been missed */

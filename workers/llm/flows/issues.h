/* issues.h - GitHub issues on their way to and from the model. Pure. */
#pragma once

#include "proto/codec/messages.h"

#define ISSUE_BODY_CHARS 2000 /* EC-89, in UTF-16 code units */
#define ISSUE_COMMENTS 3      /* P12.11 */
#define ISSUE_COMMENT_CHARS 500
#define ISSUES_SHOWN 10

/*
 * What gh printed, cut down for the model: number, title, body, labels, assignees, the
 * first comments. JSON in the arena; absent when it is not a list of issues.
 */
struct str issues_for_model(yyjson_val *gh, struct arena *arena);
/* Titles of the issues, joined, as the query for memories (P12.13). */
struct str issues_query(yyjson_val *gh, struct arena *arena);
/* The model's issues as they are shown: those that gh listed, by score, ten at most
 * (P12.20). */
struct dashboard_issues issues_shown(
	const struct issue_assessment_response *r, yyjson_val *gh, struct arena *arena);

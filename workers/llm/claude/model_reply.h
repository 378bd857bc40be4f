/*
 * model_reply.h - reads an answer of the Claude API: a message, whole or as a stream of
 * events. Pure.
 *
 * The answer of a call is the text after the last tool result. Searches and a preamble may
 * come before it, and citations split it into several blocks.
 */
#pragma once

#include "common/base/buf.h"
#include "prompts/models.h"

enum stop_reason {
	STOP_NONE, /* none was given: the answer is incomplete */
	STOP_END_TURN,
	STOP_MAX_TOKENS,
	STOP_SEQUENCE,
	STOP_TOOL_USE,
	STOP_PAUSE_TURN,
	STOP_REFUSAL,
	STOP_CONTEXT_EXCEEDED,
	STOP_OTHER, /* one that is newer than this program */
};

/* Zero is an empty reply. */
struct model_reply {
	enum stop_reason stop;
	bool complete;	    /* the end has arrived */
	struct buf text;    /* after the last tool result */
	struct buf content; /* the blocks as a JSON array; of whole answers only */
	struct model_usage usage;
	char error_type[64]; /* "overloaded_error"; empty without an error */
};

/* Reads a whole body. 0, or -EINVAL when it is neither a message nor an API error. */
int model_reply_read(struct model_reply *r, struct str body)
	__attribute__((warn_unused_result));
/* Takes one event of a stream. Unknown ones are ignored. */
void model_reply_event(struct model_reply *r, struct str event, struct str data);
/* The type in an error body, "" when there is none: "not_found_error". */
void model_error_type(struct str body, char out[64]);
/* True for an error that may go away by itself. */
bool model_error_is_transient(const char *error_type);
void model_reply_fini(struct model_reply *r);

/*
 * json_slice.h - the raw text of one member of a JSON object, so that it can be forwarded
 * unread.
 *
 * Called by ws_message.c and the MCP dispatcher after proto_parse has accepted the text,
 * and by guard_watch.c for what a worker has encoded: only valid JSON may be given, which
 * is what lets this be short and fast. Pure.
 */
#pragma once

#include "common/base/str.h"

/*
 * The value of the first member called `name` of the object in `text`. Absent when there
 * is none; a key that is written with escapes is not found.
 */
struct str json_slice_member(struct str text, const char *name);
/* The same for a member that is known to be the last of the object: its value, which may be
 * long, is not looked through. */
struct str json_slice_last_member(struct str text, const char *name);

/*
 * mcp_fit.h - keeps the answer of a tool below what a client shows its model.
 *
 * Claude Code accepts answers of 25,000 tokens or 50,000 characters; it writes a longer one to
 * a file that the model does not see. So every answer is kept below that: its longest strings
 * and arrays are cut, and the answer says which ones and how to ask for less.
 */
#pragma once

#include "common/base/buf.h"
#include <stdbool.h>

/* Bytes of JSON. In dense text a token is less than two bytes. */
#define MCP_FIT_BYTES 40000

/*
 * Appends `json`, an object, unchanged if it has at most `max` bytes. Otherwise a cut string
 * ends with how much was left out ("... [12000 bytes left out]"), arrays are shorter, and a
 * member leftOut names both and ends with `more`, which says how to ask for less (may be "").
 * False, with nothing appended, when `json` is no object or cannot be cut that far.
 */
bool mcp_fit(struct str json, size_t max, const char *more, struct buf *out)
	__attribute__((warn_unused_result));

/*
 * solicitation.h - does a message of the interviewer ask for code, offer it or hint at it
 * (SG-FR-001)?
 *
 * Pure, over the table config/solicitation.def. Talk about code that was written in the
 * past passes. The verdict is kept with the message in the stream, so the table may grow
 * without changing old streams.
 */
#pragma once

#include "common/base/str.h"

/* Name of the first phrasing that is found (static), NULL for none. */
const char *solicitation_find(struct str text);

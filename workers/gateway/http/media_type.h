/*
 * media_type.h - reading Content-Type and Accept (RFC 9110 sections 8.3 and 12.5.1).
 *
 * Pure. Liberal where clients differ: order, case, blanks, parameters and weights are
 * understood.
 */
#pragma once

#include "common/base/str.h"

/* Whether a Content-Type is `type`, with or without parameters. */
bool media_type_is(struct str content_type, const char *type);

/* Whether an Accept header lets `type` be sent: it is absent, or has the type, its range
 * or the full range with a weight above zero. */
bool media_type_accepted(struct str accept, const char *type);

/* Whether an Accept header names `type` itself, with a weight above zero. */
bool media_type_named(struct str accept, const char *type);

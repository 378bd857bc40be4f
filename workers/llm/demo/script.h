/*
 * script.h - what the scripted Claude answers. Pure.
 *
 * It knows which kind of call it is by the schema that is asked for, and makes an answer
 * of the right form out of the request itself. Every text says that it comes from a
 * script.
 */
#pragma once

#include "common/base/buf.h"
#include <yyjson.h>

/* Appends the text of the answer to a request that api_check let pass. */
void script_answer(yyjson_val *request, struct buf *out);

/* log_json.h - a line of a log (common/base/log.h) as JSON. */
#pragma once

#include "common/base/buf.h"

/* Appends an object with the fields of the line as strings, in their order; of a line that has no such fields {"text": the line}.
 * Escapes of what would act on a terminal stay as they are in the log. */
void log_json_line(struct str line, struct buf *out);

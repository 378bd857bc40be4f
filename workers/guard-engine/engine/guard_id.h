/* guard_id.h - valid ids of guard machines. */
#pragma once

#include "common/base/str.h"
#include <stddef.h>

/* An id of the longest kind, and its end. */
#define GUARD_ID_SIZE 129
#define GUARD_ID_PROBLEM_SIZE 320

/* Ids stand in paths and are kept as C strings: nothing that one of the two does not
 * take. True, or false with what is wrong. */
bool guard_id_valid(struct str id, char problem[GUARD_ID_PROBLEM_SIZE]);

/* query.h - parameters of the query of an address. Pure. */
#pragma once

#include "common/base/str.h"
#include <stdbool.h>

/* The value of a parameter, as written; absent when it is not there. */
struct str query_value(struct str query, const char *name);
/* Whether it is a number of JSON, without sign, of at most 15 digits. */
bool query_is_number(struct str value);

/*
 * errors.h - the codes of errors, errors.def, as an enumeration with a table.
 *
 * On the wire a code is its name. bus_answer_error takes
 * error_code_infos[ERROR_NOT_FOUND].name or the same literal.
 */
#pragma once

#include "common/base/str.h"

enum error_code {
#define ERROR_CODE(symbol, ...) ERROR_##symbol,
#include "proto/catalogue/errors.def"
#undef ERROR_CODE
	ERROR_CODE_COUNT
};

struct error_code_info {
	const char *name; /* "NOT_FOUND" */
	int http_status;
	const char *doc;
};

extern const struct error_code_info error_code_infos[ERROR_CODE_COUNT];

/* The code of a name, or -1. */
int error_code_by_name(struct str name);

/*
 * statements.h - what is executed on paige.db, by name (statements.def).
 */
#pragma once

#include "workers/store/db/database.h"

enum statement {
	STATEMENT_BEFORE_FIRST = STATEMENTS_OF_ALL - 1,
#define STATEMENT(name, sql) STATEMENT_##name,
#include "workers/store/db/statements.def"
#undef STATEMENT
};

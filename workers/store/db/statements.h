/*
 * statements.h - what is executed on paige.db, by name (statements.def).
 */
#ifndef PAIGE_STORE_DB_STATEMENTS_H
#define PAIGE_STORE_DB_STATEMENTS_H

#include "workers/store/db/database.h"

enum statement {
	STATEMENT_BEFORE_FIRST = STATEMENTS_OF_ALL - 1,
#define STATEMENT(name, sql) STATEMENT_##name,
#include "workers/store/db/statements.def"
#undef STATEMENT
};

#endif

/* memory_schema.c - what memory.db holds and what runs on it (memory.h). */
#include "workers/store/memory/memory.h"

#define MEMORY_APPLICATION_ID 0x5041494d /* "PAIM" */

static const struct schema_step steps[] = {
	{
#define TABLE(name, columns) "CREATE TABLE IF NOT EXISTS " #name " (" columns "); "
#define INDEX(name, covers) "CREATE INDEX IF NOT EXISTS " #name " ON " covers "; "
#define VIRTUAL(name, module)                                                            \
	"CREATE VIRTUAL TABLE IF NOT EXISTS " #name " USING " module "; "
#include "workers/store/memory/memory_schema.def"
#undef TABLE
#undef INDEX
#undef VIRTUAL
	},
};

static const char *const statements[] = {
#define STATEMENT(name, sql) (sql),
#include "workers/store/memory/memory_statements.def"
#undef STATEMENT
};

const struct schema memory_schema = {
	.what = "memory.db",
	.application_id = MEMORY_APPLICATION_ID,
	.steps = steps,
	.version = sizeof(steps) / sizeof(steps[0]),
	.statements = statements,
	.statements_count = sizeof(statements) / sizeof(statements[0]),
};

/* streams_schema.c - what guard.db holds and what runs on it (streams.h). */
#include "workers/store/streams/streams.h"

#define STREAMS_APPLICATION_ID 0x50414953 /* "PAIS" */

static const struct schema_step steps[] = {
	{
#define TABLE(name, columns) "CREATE TABLE IF NOT EXISTS " #name " (" columns "); "
#define TABLE_BY_KEY(name, columns)                                                      \
	"CREATE TABLE IF NOT EXISTS " #name " (" columns ") WITHOUT ROWID; "
#define INDEX(name, covers) "CREATE INDEX IF NOT EXISTS " #name " ON " covers "; "
#define LATER(statements)
#include "workers/store/streams/streams_schema.def"
#undef TABLE
#undef TABLE_BY_KEY
#undef INDEX
#undef LATER
	},
#define TABLE(name, columns)
#define TABLE_BY_KEY(name, columns)
#define INDEX(name, covers)
#define LATER(statements) {statements},
#include "workers/store/streams/streams_schema.def"
#undef TABLE
#undef TABLE_BY_KEY
#undef INDEX
#undef LATER
};

static const char *const statements[] = {
#define STATEMENT(name, sql) (sql),
#include "workers/store/streams/streams_statements.def"
#undef STATEMENT
};

const struct schema streams_schema = {
	.what = "guard.db",
	.application_id = STREAMS_APPLICATION_ID,
	.steps = steps,
	.version = sizeof(steps) / sizeof(steps[0]),
	.statements = statements,
	.statements_count = sizeof(statements) / sizeof(statements[0]),
};

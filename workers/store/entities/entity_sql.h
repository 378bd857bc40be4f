/*
 * entity_sql.h - SQL made from the record types: one description of a row serves the
 * message, the query and the binding. Columns have the names of the fields in snake_case.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include <sqlite3.h>
#include <stdbool.h>

struct arena;

struct entity_info {
	const char *table;
	const struct type *(*record)(void);
	const char *time; /* wire name of the field with its time, or NULL */
	bool may_create, may_delete;
	const char *changeable; /* wire names, separated by blanks */
	const char *defaults;	/* of a new row: members as JSON, each behind a comma */
};

const struct entity_info *entity_info(int entity);

/* The field of a wire name, or NULL. */
const struct field *entity_field(const struct entity_info *info, struct str wire);
bool entity_changeable(const struct entity_info *info, struct str wire);

/* Appends the column of a wire name. */
void entity_sql_column(const char *wire, struct buf *out);
/* Appends an expression that is the whole row as JSON, of the shape of the record type.
 */
void entity_sql_object(const struct entity_info *info, struct buf *out);
/* Appends "INSERT INTO … VALUES (?1, ?2, …)" with a parameter for each field, in their
 * order. */
void entity_sql_insert(const struct entity_info *info, struct buf *out);
/* Appends "UPDATE … SET … WHERE id = ?1" with the same parameters. */
void entity_sql_update(const struct entity_info *info, struct buf *out);
/* Binds all fields of a record in their order. Texts live in the arena. */
void entity_bind(sqlite3_stmt *statement, const struct type *type, const void *record,
	struct arena *arena);

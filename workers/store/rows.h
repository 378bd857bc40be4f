/*
 * rows.h - between rows and messages: lists that grow, and columns that hold JSON.
 */
#ifndef PAIGE_STORE_ROWS_H
#define PAIGE_STORE_ROWS_H

#include "proto/codec.h"
#include "workers/store/statements.h"

/* Makes room for item `count` of an array of `size` bytes each in the arena. */
void rows_grow(
	struct arena *arena, void **items, size_t *room, size_t count, size_t size);
/* A JSON array of strings as a list, and back. What is no string is left out; broken JSON
 * is an empty list. */
struct strs rows_strings(struct str json, struct arena *arena);
struct str rows_strings_text(struct strs list, struct arena *arena);
/* The one column of the one row of a statement that makes JSON text, in the arena. 0, or
 * -errno. */
int rows_json(struct database *db, enum statement which, struct str first,
	struct str second, struct arena *arena, struct str *out)
	__attribute__((warn_unused_result));

#endif

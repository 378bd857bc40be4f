/*
 * json_text.h - JSON columns: lists of strings and objects to text and back.
 */
#pragma once

#include "common/base/arena.h"
#include "proto/codec/codec.h"

/* ["a","b"] in the arena. */
struct str json_text_strings(struct arena *arena, struct strs list);
/* [{…},{…}] of `count` messages of `type`, in the arena. */
struct str json_text_objects(
	struct arena *arena, const struct type *type, const void *items, size_t count);
/* A JSON value as text, in the arena; absent for NULL. */
struct str json_text_value(struct arena *arena, yyjson_val *val);

/* The strings of a JSON array, what is no string left out; none for anything that is no
 * array. In the arena. */
struct strs json_read_strings(struct arena *arena, struct str text);
/*
 * The objects of a JSON array, decoded as `type`; one that does not decode is left out.
 * `*count` of them, in the arena with all their text.
 */
void *json_read_objects(
	struct arena *arena, const struct type *type, struct str text, size_t *count);

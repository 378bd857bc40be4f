/* type_set.c - which types something refers to (reference.h). */
#include "common/base/alloc.h"
#include "proto/codec/messages.h"
#include "proto/generate/reference.h"
#include <stdlib.h>

static size_t type_index(const struct type *type)
{
	size_t i = 0;

	while (i < message_type_count && message_types[i]() != type)
		i++;
	return i;
}

void type_set_add(struct type_set *set, const struct type *type)
{
	size_t index = type_index(type);

	if (!set->has)
		set->has = xcalloc(message_type_count, sizeof(*set->has));
	if (index == message_type_count || set->has[index])
		return;
	set->has[index] = true;
	for (size_t i = 0; i < type->count; i++)
		if (type->fields[i].type)
			type_set_add(set, type->fields[i].type());
}

bool type_set_has(const struct type_set *set, const struct type *type)
{
	size_t index = type_index(type);

	return set->has && index < message_type_count && set->has[index];
}

void type_set_fini(struct type_set *set)
{
	free(set->has);
	set->has = NULL;
}

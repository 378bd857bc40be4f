/* katas.c - katas of the model (katas.h). */
#include "workers/llm/flows/katas.h"
#include "common/base/buf.h"

#define PLAIN_LEVEL 1
#define FOLLOW_UP_LEVEL 5
#define HIGHEST_LEVEL 10

static struct kata_constraint make(
	struct str title, struct str description, int64_t level)
{
	return (struct kata_constraint){.title = title,
		.description = description,
		.min_level = level,
		.has_min_level = true};
}

/* False for what is neither a title nor an object with one. */
static bool constraint_from_model(yyjson_val *val, struct kata_constraint *out)
{
	struct str title =
		proto_str(yyjson_is_obj(val) ? yyjson_obj_get(val, "title") : val);
	struct str description = proto_str(yyjson_obj_get(val, "description"));
	yyjson_val *level = yyjson_obj_get(val, "minLevel");
	int64_t number = PLAIN_LEVEL;

	if (title.len == 0)
		return false;
	if (yyjson_is_num(level)) {
		number = (int64_t)yyjson_get_num(level);
		number = number < PLAIN_LEVEL ? PLAIN_LEVEL : number;
		number = number > HIGHEST_LEVEL ? HIGHEST_LEVEL : number;
	}
	*out = make(title, description.ptr ? description : title, number);
	return true;
}

static struct str notes_from(const struct found_kata *found, struct arena *arena)
{
	AUTO_BUF list = {0};

	if (found->instructor_notes.len > 0)
		return found->instructor_notes;
	for (size_t i = 0; i < found->test_cases.count; i++) {
		buf_add_str(&list, i ? STR_LIT("\n- ") : STR_LIT("- "));
		buf_add_str(&list, found->test_cases.items[i]);
	}
	return arena_str(arena, buf_str(&list));
}

struct kata_store kata_from_model(const struct found_kata *found, struct arena *arena)
{
	struct kata_store kata = {.title = found->title,
		.description = found->description,
		.scaffolding_code = found->scaffolding_code,
		.instructor_notes = notes_from(found, arena),
		.topic = found->knowledge_gap_topic};
	size_t i, max, n = 0;
	yyjson_val *one;

	kata.constraints.items =
		arena_array(arena, yyjson_arr_size(found->constraints.val) + 1,
			sizeof(*kata.constraints.items));
	yyjson_arr_foreach(found->constraints.val, i, max, one) n +=
		constraint_from_model(one, &kata.constraints.items[n]);
	if (found->follow_up_constraint.len > 0)
		kata.constraints.items[n++] = make(found->follow_up_constraint,
			found->follow_up_constraint, FOLLOW_UP_LEVEL);
	kata.constraints.count = n;
	return kata;
}

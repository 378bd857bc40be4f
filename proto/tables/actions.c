/* actions.c - the table behind actions.h. */
#include "proto/tables/actions.h"
#include "proto/codec/messages.h"
#include "proto/tables/methods.h"

const struct action_info action_infos[ACTION_COUNT] = {
#define ACTION(symbol, name_, loggers_, user, observer_, data_)                          \
	[ACTION_##symbol] = {.name = name_,                                              \
		.loggers = loggers_,                                                     \
		.user_activity = user,                                                   \
		.observer = observer_,                                                   \
		.data = data_##_type},
#include "proto/catalogue/actions.def"
#undef ACTION
};

int action_by_name(struct str name)
{
	for (int i = 0; i < ACTION_COUNT; i++)
		if (str_is(name, action_infos[i].name))
			return i;
	return -1;
}

void action_row_make(struct arena *arena, enum action action, struct str id,
	struct wall at, const void *data, struct action_row *out)
{
	char *created_at = arena_alloc(arena, WALL_ISO_SIZE);
	AUTO_BUF json = {0};

	wall_iso(at, created_at);
	proto_encode(action_infos[action].data(), data, &json);
	*out = (struct action_row){.id = id,
		.type = str_of(action_infos[action].name),
		.data = {.raw = arena_str(arena, buf_str(&json))},
		.created_at = str_of(created_at)};
}

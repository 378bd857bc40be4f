/* actions.c - the table behind actions.h. */
#include "proto/actions.h"
#include "proto/messages.h"
#include "proto/methods.h"

const struct action_info action_infos[ACTION_COUNT] = {
#define ACTION(symbol, name_, loggers_, user, observer_, data_)                          \
	[ACTION_##symbol] = {.name = name_,                                              \
		.loggers = loggers_,                                                     \
		.user_activity = user,                                                   \
		.observer = observer_,                                                   \
		.data = data_##_type},
#include "proto/actions.def"
#undef ACTION
};

int action_by_name(struct str name)
{
	for (int i = 0; i < ACTION_COUNT; i++)
		if (str_is(name, action_infos[i].name))
			return i;
	return -1;
}

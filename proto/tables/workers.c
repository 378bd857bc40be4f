/* workers.c - the table behind workers.h. */
#include "proto/tables/workers.h"

const struct worker_info worker_infos[WORKER_COUNT] = {
#define WORKER(symbol, name_, start_ms, grace_ms, stage, key, setting_, does_)           \
	[WORKER_##symbol] = {.name = name_,                                              \
		.start_deadline_ms = start_ms,                                           \
		.stop_grace_ms = grace_ms,                                               \
		.stop_stage = stage,                                                     \
		.needs_api_key = key,                                                    \
		.needs_setting = setting_,                                               \
		.does = does_},
#include "proto/catalogue/workers.def"
#undef WORKER
};

int worker_by_name(struct str name)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		if (str_is(name, worker_infos[i].name))
			return i;
	return -1;
}

/* methods.c - the table behind methods.h. */
#include "proto/tables/methods.h"
#include "proto/codec/messages.h"

#define NONE_type NULL

const struct method_info method_infos[METHOD_COUNT] = {
#define METHOD(                                                                          \
	symbol, name_, owner_, callers_, flags_, deadline, request_, reply_, doc_)       \
	[METHOD_##symbol] = {.name = name_,                                              \
		.owner = WORKER_##owner_,                                                \
		.callers = (callers_),                                                   \
		.flags = flags_,                                                         \
		.deadline_ms = deadline,                                                 \
		.request = request_##_type,                                              \
		.reply = reply_##_type,                                                  \
		.doc = doc_},
#include "proto/catalogue/methods.def"
};

int method_by_name(struct str name)
{
	for (int i = 0; i < METHOD_COUNT; i++)
		if (str_is(name, method_infos[i].name))
			return i;
	return -1;
}

bool method_called_by(enum worker_id worker, enum worker_id owner)
{
	for (int i = 0; i < METHOD_COUNT; i++)
		if (method_infos[i].owner == owner &&
			method_infos[i].callers & 1u << worker)
			return true;
	return false;
}

/* topics.c - the table behind topics.h. */
#include "proto/topics.h"
#include "proto/messages.h"

#define NONE_type NULL

const struct topic_info topic_infos[TOPIC_COUNT] = {
#define TOPIC(symbol, prefix_, publisher_, body_, doc_)                                  \
	[TOPIC_##symbol] = {.prefix = prefix_,                                           \
		.publisher = WORKER_##publisher_,                                        \
		.body = body_##_type,                                                    \
		.doc = doc_},
#include "proto/topics.def"
#undef TOPIC
};

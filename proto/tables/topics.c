/* topics.c - the table behind topics.h. */
#include "proto/tables/topics.h"
#include "proto/codec/messages.h"

#define NONE_type NULL

const struct topic_info topic_infos[TOPIC_COUNT] = {
#define TOPIC(symbol, prefix_, publisher_, body_, doc_)                                  \
	[TOPIC_##symbol] = {.prefix = prefix_,                                           \
		.publisher = WORKER_##publisher_,                                        \
		.body = body_##_type,                                                    \
		.doc = doc_},
#include "proto/catalogue/topics.def"
#undef TOPIC
};

bool topic_owned_by(struct str topic, enum worker_id worker)
{
	for (int i = 0; i < TOPIC_COUNT; i++) {
		struct str prefix = str_of(topic_infos[i].prefix);

		if (topic_infos[i].publisher == worker && topic.len >= prefix.len &&
			memcmp(topic.ptr, prefix.ptr, prefix.len) == 0)
			return true;
	}
	return false;
}

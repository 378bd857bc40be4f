/* topics.c - the table behind topics.h. */
#include "proto/tables/topics.h"
#include "proto/codec/messages.h"
#include "proto/tables/methods.h"

#define NONE_type NULL

const struct topic_info topic_infos[TOPIC_COUNT] = {
#define TOPIC(symbol, prefix_, publisher_, subscribers_, body_, doc_)                    \
	[TOPIC_##symbol] = {.prefix = prefix_,                                           \
		.publisher = WORKER_##publisher_,                                        \
		.subscribers = subscribers_,                                             \
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

bool topic_heard_by(enum worker_id worker, enum worker_id publisher, const char *prefix)
{
	for (int i = 0; i < TOPIC_COUNT; i++) {
		const char *topic = topic_infos[i].prefix;

		if (topic_infos[i].publisher == publisher &&
			topic_infos[i].subscribers & 1u << worker &&
			(str_starts(str_of(prefix), topic) ||
				str_starts(str_of(topic), prefix)))
			return true;
	}
	return false;
}

/* topics.c - the table behind topics.h. */
#include "proto/topics.h"

const struct topic_info topic_infos[TOPIC_COUNT] = {
#define TOPIC(symbol, prefix_, publisher_, doc_)                                         \
	[TOPIC_##symbol] = {                                                             \
		.prefix = prefix_, .publisher = WORKER_##publisher_, .doc = doc_},
#include "proto/topics.def"
#undef TOPIC
};

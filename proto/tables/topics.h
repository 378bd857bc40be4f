/* topics.h - what is published on the bus, topics.def, as an enumeration with a table. */
#pragma once

#include "proto/codec/codec.h"
#include "proto/tables/workers.h"

enum topic {
#define TOPIC(symbol, ...) TOPIC_##symbol,
#include "proto/catalogue/topics.def"
#undef TOPIC
	TOPIC_COUNT
};

/* First byte of an event agent/ that is a piece of a long message, and of its last piece; a
 * message begins with a brace. */
#define TOPIC_AGENT_PIECE '+'
#define TOPIC_AGENT_LAST_PIECE '='

struct topic_info {
	const char *prefix; /* the topic itself, or its beginning where it ends in "/" */
	enum worker_id publisher;
	unsigned subscribers;		  /* BY_... (methods.h) */
	const struct type *(*body)(void); /* NULL: it depends on the rest of the topic */
	const char *doc;
};

extern const struct topic_info topic_infos[TOPIC_COUNT];

/* Whether topics.def says that this worker publishes the topic. */
bool topic_owned_by(struct str topic, enum worker_id worker);
/* Whether topics.def says that `worker` hears something that `publisher` publishes under
 * `prefix`; an empty one is that of everything. */
bool topic_heard_by(enum worker_id worker, enum worker_id publisher, const char *prefix);

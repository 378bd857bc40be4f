/* follow.c - see follow.h. */
#include "workers/gateway/routes/follow.h"
#include "proto/codec/messages.h"
#include "workers/gateway/routes/ws_message.h"

/* By the type of the message that turns it on. */
static const struct {
	const char *type;
	enum ws_feed feed;
} feeds[] = {
	{"log:follow", WS_FEED_LOG},
	{"guard:follow", WS_FEED_GUARDS},
};

void follow_set(struct ws_client *client, enum ws_feed feed, bool on)
{
	if (on)
		client->follows |= 1u << feed;
	else
		client->follows &= ~(1u << feed);
}

void follow_on_message(const struct ws_message *message)
{
	const struct follow *payload = message->decoded;

	for (size_t i = 0; i < sizeof(feeds) / sizeof(feeds[0]); i++)
		if (str_is(message->type, feeds[i].type))
			follow_set(message->client, feeds[i].feed, payload->follow);
}

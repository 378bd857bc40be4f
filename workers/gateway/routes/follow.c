/* follow.c - see follow.h. */
#include "workers/gateway/routes/follow.h"
#include "proto/codec/messages.h"
#include "workers/gateway/routes/supervisor.h"
#include "workers/gateway/routes/ws_message.h"

/* By the type of the message that turns it on. */
static const struct {
	const char *type;
	enum ws_feed feed;
	/* What must be so for the window to follow it; NULL: nothing. It answers when not. */
	bool (*may)(const struct ws_message *message);
} feeds[] = {
	{"log:follow", WS_FEED_LOG, NULL},
	{"guard:follow", WS_FEED_GUARDS, NULL},
	{"status:follow", WS_FEED_STATUS, supervisor_may_follow},
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
		if (str_is(message->type, feeds[i].type) &&
			(!feeds[i].may || feeds[i].may(message)))
			follow_set(message->client, feeds[i].feed, payload->follow);
}

/* ping.c - see ping.h. */
#include "workers/gateway/routes/ping.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/ws/ws_server.h"

void ping_on_message(const struct ws_message *message)
{
	ws_answer_text(
		message->client, STR_LIT("connection:pong"), STR_LIT("{}"), message->id);
}

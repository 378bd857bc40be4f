/* terminal.c - see terminal.h. */
#include "workers/gateway/routes/terminal.h"
#include "proto/codec/messages.h"
#include "workers/gateway/routes/ws_message.h"

void terminal_on_size(const struct ws_message *message)
{
	const struct terminal_size *size = message->decoded;

	if (size->has_cols)
		message->client->cols = (int)size->cols;
	if (size->has_rows)
		message->client->rows = (int)size->rows;
}

/* ping.h - "are you there" from a window that cannot send pings of WebSocket: a page. */
#pragma once

struct ws_message;

void ping_on_message(const struct ws_message *message);

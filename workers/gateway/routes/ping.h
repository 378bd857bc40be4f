/* ping.h - "are you there" from a window that cannot send pings of WebSocket: a page. */
#ifndef PAIGE_GATEWAY_ROUTES_PING_H
#define PAIGE_GATEWAY_ROUTES_PING_H

struct ws_message;

void ping_on_message(const struct ws_message *message);

#endif

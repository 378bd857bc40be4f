/*
 * agent_sessions.h - agents:request of a window: the agent sessions and when they are looked
 * at next. Where no agent worker is, that is said at once instead of waiting for one.
 */
#ifndef PAIGE_GATEWAY_ROUTES_AGENT_SESSIONS_H
#define PAIGE_GATEWAY_ROUTES_AGENT_SESSIONS_H

struct ws_message;

void agent_sessions_on_request(const struct ws_message *message);

#endif

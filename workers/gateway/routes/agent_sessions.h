/*
 * agent_sessions.h - the agent sessions and when they are looked at next, for the window that
 * asks (agents:request) and, after changes, for those that follow (agents:follow). Where no
 * agent worker is, that is said at once instead of waiting for one.
 */
#ifndef PAIGE_GATEWAY_ROUTES_AGENT_SESSIONS_H
#define PAIGE_GATEWAY_ROUTES_AGENT_SESSIONS_H

struct gateway;
struct ws_message;

/* Where there is an agent worker; before the loop runs. */
void agent_sessions_start(struct gateway *g);
void agent_sessions_on_request(const struct ws_message *message);

#endif

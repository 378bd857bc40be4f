/* agent_sessions.h - agents:state for windows that follow the agent sessions (agents:follow). */
#ifndef PAIGE_GATEWAY_ROUTES_AGENT_SESSIONS_H
#define PAIGE_GATEWAY_ROUTES_AGENT_SESSIONS_H

struct gateway;

/* Where there is an agent worker; before the loop runs. */
void agent_sessions_start(struct gateway *g);

#endif

/* agent_sessions.h - agents:state for windows that follow the agent sessions (agents:follow). */
#pragma once

struct gateway;

/* Where there is an agent worker; before the loop runs. */
void agent_sessions_start(struct gateway *g);

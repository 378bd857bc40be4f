/* sessions.h - GET /sessions: the coaching sessions, the newest first, as the store has them. */
#ifndef PAIGE_GATEWAY_WEB_SESSIONS_H
#define PAIGE_GATEWAY_WEB_SESSIONS_H

struct gateway;
struct http_request;

/* Handles /sessions?limit=N. */
void sessions_handle(struct gateway *g, struct http_request *request);

#endif

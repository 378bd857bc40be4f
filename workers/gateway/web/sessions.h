/* sessions.h - coaching sessions for programs: GET /sessions, /session and /unsaved. */
#pragma once

struct gateway;
struct http_request;

/* /sessions?limit=N: the sessions, the newest first, as the store has them. */
void sessions_handle(struct gateway *g, struct http_request *request);
/* /session: the active one and its phase; 404 when there is none. */
void session_handle(struct gateway *g, struct http_request *request);
/* /unsaved: the buffers of the editor, without long texts. */
void unsaved_handle(struct gateway *g, struct http_request *request);

/*
 * panel.h - GET /: one static page, compiled in.
 *
 * The page shows what /health says. Its Content-Security-Policy allows exactly its own
 * script and style, by their hashes, and connections to this daemon; everything it shows
 * is text (R24).
 */
#ifndef PAIGE_GATEWAY_WEB_PANEL_H
#define PAIGE_GATEWAY_WEB_PANEL_H

struct gateway;
struct http_request;

/* Computes the policy. 0, or -EINVAL when the page is not what the policy needs. */
int panel_init(void) __attribute__((warn_unused_result));
void panel_answer(struct gateway *g, struct http_request *request);
/* The page that asks for the token (login.h). */
void panel_answer_login(struct http_request *request, int status);

#endif

/*
 * login.h - how a browser is let in: it shows the token once and gets a cookie.
 *
 * A page cannot send the token as a header with what the browser itself asks for. The
 * cookie is HttpOnly and SameSite=Strict; Host, Origin and Sec-Fetch-Site are checked as
 * ever. Called by the table of paths, and by http.c for a page that is refused for want
 * of the token.
 */
#ifndef PAIGE_GATEWAY_LOGIN_H
#define PAIGE_GATEWAY_LOGIN_H

#include <stdbool.h>

struct gateway;
struct http_request;

/* More in a minute are answered 429 unread; the right one is still taken. */
#define LOGIN_WRONG_A_MINUTE 10
#define LOGIN_MAX_BODY_BYTES 4096
#define LOGIN_COOKIE_SECONDS (30 * 24 * 3600)

/* GET: the page. POST {"token"}: 204 with the cookie, or 403. */
void login_handle(struct gateway *g, struct http_request *request);
/* Whether a person at a browser asked: show him the page instead of an error. */
bool login_is_for(const struct http_request *request);
void login_show(struct http_request *request, int status);

#endif

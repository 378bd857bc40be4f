/*
 * login.h - logs a browser in: it sends the token once and gets a cookie.
 *
 * A page cannot send the token as a header with what the browser itself asks for. The
 * cookie is HttpOnly and SameSite=Strict; Host, Origin and Sec-Fetch-Site are checked as
 * ever. Called through the table of paths, also for a page that is refused for want of
 * the token.
 */
#pragma once

#include <stdbool.h>

struct gateway;
struct http_request;

/* More in a minute are answered 429 unread; the right one is still taken. */
#define LOGIN_WRONG_A_MINUTE 10
#define LOGIN_COOKIE_SECONDS (30 * 24 * 3600)

/* GET: the page. POST {"token"}: 204 with the cookie, or 403. */
void login_handle(struct gateway *g, struct http_request *request);
/* Refuses with the page, if a person at a browser asked; false: nothing was answered. */
bool login_ask_for_token(struct http_request *request);

/*
 * login_page.h - the page that asks for the token, for those who have not shown it.
 *
 * The one page that has its script and its style inline, since nothing else is served to
 * a stranger: its Content-Security-Policy allows exactly these, by their hashes.
 */
#pragma once

struct http_request;

/* Computes the policy. 0, or -EINVAL when the page is not what the policy needs. */
int login_page_init(void) __attribute__((warn_unused_result));
void login_page_answer(struct http_request *request, int status);

/* login.c - see login.h. */
#include "workers/gateway/web/login.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "proto/codec/codec.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_call.h"
#include "workers/gateway/http/media_type.h"
#include "workers/gateway/web/login_page.h"
#include <stdio.h>

/* Wrong tokens since `minute` began. Static: there is one port in a process. */
static struct mono minute;
static unsigned wrong;

/* Counts a wrong one; false when there were too many. */
static bool note_wrong(void)
{
	struct mono now = clock_mono();

	if (wrong == 0 || mono_diff_ms(now, minute) > 60000) {
		minute = now;
		wrong = 0;
	}
	if (wrong >= LOGIN_WRONG_A_MINUTE)
		return false;
	wrong++;
	return true;
}

/* Over TLS the browser never sends it without. */
static bool is_https(const struct http_request *r)
{
	return str_starts_nocase(r->headers.origin, "https://");
}

static void give_cookie(struct gateway *g, struct http_request *r)
{
	char cookie[256];

	snprintf(cookie, sizeof(cookie),
		"%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s",
		g->access.cookie_name, g->access.cookie, LOGIN_COOKIE_SECONDS,
		is_https(r) ? "; Secure" : "");
	evhttp_add_header(evhttp_request_get_output_headers(r->ev), "Set-Cookie", cookie);
	http_reply(r, 204, NULL, STR_LIT(""));
}

static void take_token(struct gateway *g, struct http_request *r)
{
	struct proto_error error;
	AUTO_DOC *doc = proto_parse(http_body(r->ev), &error);
	const char *token =
		yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "token"));

	if (token && access_is_token(&g->access, str_of(token))) {
		log_info("a browser logged in", NULL);
		give_cookie(g, r);
	} else if (!token) {
		http_reply_error(r, 400, "token: expected a string");
	} else if (note_wrong()) {
		http_reply_error(
			r, 403, "This is not the token: `paigectl token` prints it");
	} else {
		evhttp_add_header(
			evhttp_request_get_output_headers(r->ev), "Retry-After", "60");
		http_reply_error(r, 429, "Too many wrong tokens: try again in a minute");
	}
}

void login_handle(struct gateway *g, struct http_request *request)
{
	if (request->method != EVHTTP_REQ_POST)
		login_page_answer(request, 200);
	else if (http_call_may_post(request))
		take_token(g, request);
}

bool login_ask_for_token(struct http_request *request)
{
	if (request->method != EVHTTP_REQ_GET ||
		!media_type_named(request->headers.accept, "text/html"))
		return false;
	login_page_answer(request, 403);
	return true;
}

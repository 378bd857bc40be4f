/* panel.c - see panel.h. */
#include "workers/gateway/panel.h"
#include "workers/gateway/gateway.h"
#include "workers/gateway/http.h"
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>

#define HASH_BYTES 32
#define HASH_BASE64_SIZE 48

/* panel.html, made part of the program at build time. */
extern const char panel_html[];
extern const size_t panel_html_len;

static char policy[512];

/* The text between two marks of the page; absent when they are not there. */
static struct str between(const char *open, const char *close)
{
	const char *start = memmem(panel_html, panel_html_len, open, strlen(open)), *end;
	size_t left;

	if (!start)
		return (struct str){NULL, 0};
	start += strlen(open);
	left = panel_html_len - (size_t)(start - panel_html);
	end = memmem(start, left, close, strlen(close));
	return end ? (struct str){start, (size_t)(end - start)} : (struct str){NULL, 0};
}

static int hash_base64(struct str text, char out[HASH_BASE64_SIZE])
{
	unsigned char hash[HASH_BYTES];

	if (!text.ptr || !EVP_Digest(text.ptr, text.len, hash, NULL, EVP_sha256(), NULL))
		return -EINVAL;
	EVP_EncodeBlock((unsigned char *)out, hash, HASH_BYTES);
	return 0;
}

int panel_init(void)
{
	char script[HASH_BASE64_SIZE], style[HASH_BASE64_SIZE];

	if (hash_base64(between("<script>", "</script>"), script) < 0 ||
		hash_base64(between("<style>", "</style>"), style) < 0)
		return -EINVAL;
	snprintf(policy, sizeof(policy),
		"default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
		"connect-src 'self'; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'",
		script, style);
	return 0;
}

void panel_answer(struct gateway *g, struct http_request *request)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request->ev);

	(void)g;
	evhttp_add_header(headers, "Content-Security-Policy", policy);
	evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
	http_reply(request, 200, "text/html; charset=utf-8",
		(struct str){panel_html, panel_html_len});
}

/* login_page.c - see login_page.h. */
#include "workers/gateway/web/login_page.h"
#include "workers/gateway/http/http.h"
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>

#define HASH_BYTES 32
#define HASH_BASE64_SIZE 48

/* The page, made part of the program at build time. */
extern const char login_html[];
extern const size_t login_html_len;

#define POLICY_SIZE 512

static char policy[POLICY_SIZE];

/* The text between two marks of the page; absent when they are not there. */
static struct str between(struct str html, const char *open, const char *close)
{
	const char *start = memmem(html.ptr, html.len, open, strlen(open)), *end;
	size_t left;

	if (!start)
		return (struct str){NULL, 0};
	start += strlen(open);
	left = html.len - (size_t)(start - html.ptr);
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

/* Lets the page's own script and style pass, and nothing else. */
static int write_policy(struct str html)
{
	char script[HASH_BASE64_SIZE], style[HASH_BASE64_SIZE];

	if (hash_base64(between(html, "<script>", "</script>"), script) < 0 ||
		hash_base64(between(html, "<style>", "</style>"), style) < 0)
		return -EINVAL;
	snprintf(policy, POLICY_SIZE,
		"default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
		"connect-src 'self'; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'",
		script, style);
	return 0;
}

int login_page_init(void)
{
	return write_policy((struct str){login_html, login_html_len});
}

void login_page_answer(struct http_request *request, int status)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request->ev);

	evhttp_add_header(headers, "Content-Security-Policy", policy);
	evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
	http_reply(request, status, "text/html; charset=utf-8",
		(struct str){login_html, login_html_len});
}

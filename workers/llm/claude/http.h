/*
 * http.h - HTTP requests of flows over one pool of connections (libcurl's multi handle on the
 * loop).
 *
 * http_perform blocks the calling flow's thread. The transfer runs on the loop, so that flows
 * share connections and a stop ends every transfer at once.
 */
#pragma once

#include "common/base/buf.h"
#include "common/loop/loop_post.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct http;

enum http_outcome {
	HTTP_ANSWERED,	/* the answer is complete; see status */
	HTTP_NO_ANSWER, /* no connection, or it ended before one byte came */
	HTTP_CUT,	/* the answer ended too early */
	HTTP_TIMEOUT,	/* not within timeout_ms */
	HTTP_UNTRUSTED, /* the server's certificate, or the file with those that are trusted */
	HTTP_TOO_BIG,	/* more than max_bytes */
	HTTP_CANCELLED, /* http_cancel_all, or the request's own flag */
};

struct http_request {
	const char *method; /* "GET", "POST", "DELETE" */
	const char *url;
	const char *const *headers; /* "name: value", NULL at the end */
	struct str body;	    /* absent for none */
	int64_t timeout_ms;	    /* for the whole transfer */
	size_t max_bytes;	    /* of the answer's body */
	/* Optional: called on the loop with each piece of a body of status 200 whose
	 * content type is an event stream, instead of collecting it. */
	void (*on_stream)(void *arg, struct str piece);
	void *arg;
	/* Optional: becoming true ends the transfer within a second. */
	const atomic_bool *cancelled;
};

/* Zero is an empty response. */
struct http_response {
	enum http_outcome outcome;
	int status;
	bool streamed; /* the body went to on_stream */
	struct buf body;
	struct buf should_retry, retry_after,
		retry_after_ms; /* headers of the Claude API; empty without */
	char detail[128]; /* for the log: what libcurl says; no addresses, no secrets */
};

/*
 * Uses the proxies of the environment, except for addresses of this machine. Trusts the
 * system's certificates, or those of the file in CURL_CA_BUNDLE or else SSL_CERT_FILE, and
 * also those of NODE_EXTRA_CA_CERTS. Reads these files now.
 */
struct http *http_new(struct event_base *base, struct loop_post *post);
/* Call on a thread other than the loop's. Blocks. Borrows the request until it returns. */
void http_perform(struct http *h, const struct http_request *request,
	struct http_response *response);
/* On the loop: ends every transfer, including those that start later. */
void http_cancel_all(struct http *h);
void http_response_fini(struct http_response *r);

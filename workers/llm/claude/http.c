/*
 * http.c - HTTP requests of flows (http.h).
 *
 * A transfer belongs to the loop from http_perform's task until it is done; the thread
 * sleeps on the transfer's condition meanwhile and touches nothing.
 */
#include "workers/llm/claude/http.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/settings/no_proxy.h"
#include "workers/llm/claude/trusted.h"
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CONNECT_TIMEOUT_MS 10000L
#define KEPT_CONNECTIONS 16L
#define CANCEL_CHECK_MS 200

struct transfer {
	struct loop_task task;
	LIST_ENTRY(transfer) link;
	struct http *http;
	const struct http_request *request;
	struct http_response *response;
	CURL *easy;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	bool stream, too_big;
	size_t sent; /* bytes of the request's body */
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
};

struct http {
	struct event_base *base;
	struct loop_post *post;
	CURLM *multi;
	struct buf no_proxy;	/* ends with NUL */
	struct trusted trusted; /* certificates */
	struct event *timer;	/* libcurl's */
	struct event *cancel; /* looks at the requests' flags while there are transfers */
	LIST_HEAD(, transfer) transfers;
	bool cancelled;
};

/* ---- a transfer's end ---- */

static void finish(struct transfer *t, enum http_outcome outcome, const char *detail)
{
	long status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	t->response->status = (int)status;
	t->response->outcome = outcome;
	t->response->streamed = t->stream;
	snprintf(t->response->detail, sizeof(t->response->detail), "%s", detail);
	curl_multi_remove_handle(t->http->multi, t->easy);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->headers);
	LIST_REMOVE(t, link);
	if (LIST_EMPTY(&t->http->transfers))
		event_del(t->http->cancel);
	pthread_mutex_lock(&t->lock);
	t->is_done = true;
	pthread_cond_signal(&t->done);
	pthread_mutex_unlock(&t->lock);
	/* The thread may free the transfer from here on. */
}

static enum http_outcome outcome_of(const struct transfer *t, CURLcode code)
{
	long status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (t->too_big)
		return HTTP_TOO_BIG;
	switch ((int)code) {
	case CURLE_OK:
		return HTTP_ANSWERED;
	case CURLE_OPERATION_TIMEDOUT:
		return HTTP_TIMEOUT;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return HTTP_UNTRUSTED;
	default:
		return status ? HTTP_CUT : HTTP_NO_ANSWER;
	}
}

static void collect_finished(struct http *h)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(h->multi, &left)) != NULL) {
		CURLcode code = message->data.result;
		char *private_data = NULL;
		enum http_outcome outcome;
		struct transfer *t;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private_data);
		t = (struct transfer *)(void *)private_data;
		outcome = outcome_of(t, code);
		/* Of a certificate libcurl says what is wrong with it; elsewhere its
		 * words hold addresses. */
		finish(t, outcome,
			code == CURLE_OK ? ""
			: outcome == HTTP_UNTRUSTED && t->error[0]
				? t->error
				: curl_easy_strerror(code));
	}
}

/* ---- libcurl on libevent ---- */

static void on_socket_event(evutil_socket_t fd, short events, void *arg)
{
	struct http *h = arg;
	int action = ((events & EV_READ) ? CURL_CSELECT_IN : 0) |
		     ((events & EV_WRITE) ? CURL_CSELECT_OUT : 0);
	int running;

	curl_multi_socket_action(h->multi, fd, action, &running);
	collect_finished(h);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *assigned)
{
	struct http *h = arg;
	struct event *event = assigned;
	short events = EV_PERSIST;

	(void)easy;
	if (event)
		event_free(event);
	if (what == CURL_POLL_REMOVE) {
		curl_multi_assign(h->multi, fd, NULL);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EV_READ;
	if (what & CURL_POLL_OUT)
		events |= EV_WRITE;
	event = event_new(h->base, fd, events, on_socket_event, h);
	if (!event || event_add(event, NULL) < 0)
		abort();
	curl_multi_assign(h->multi, fd, event);
	return 0;
}

static void on_timer_event(EVENT_UNUSED, void *arg)
{
	struct http *h = arg;
	int running;

	curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect_finished(h);
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct http *h = arg;

	(void)multi;
	if (timeout_ms < 0)
		event_del(h->timer);
	else
		event_add_ms(h->timer, timeout_ms);
	return 0;
}

/* ---- the answer ---- */

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	size_t n = size * count;

	if (t->response->body.len + n > t->request->max_bytes) {
		t->too_big = true;
		return 0;
	}
	if (t->stream)
		t->request->on_stream(t->request->arg, (struct str){data, n});
	else
		buf_add(&t->response->body, data, n);
	return n;
}

static bool header_is(struct str line, const char *name, struct str *value)
{
	size_t n = strlen(name);

	if (line.len <= n || line.ptr[n] != ':' || strncasecmp(line.ptr, name, n) != 0)
		return false;
	*value = (struct str){line.ptr + n + 1, line.len - n - 1};
	while (value->len > 0 && strchr(" \t", value->ptr[0])) {
		value->ptr++;
		value->len--;
	}
	while (value->len > 0 && strchr(" \t\r\n", value->ptr[value->len - 1]))
		value->len--;
	return true;
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	struct http_response *r = t->response;
	struct str line = {data, size * count}, value;
	long status = 0;

	if (str_starts(line, "HTTP/")) { /* a new answer, perhaps behind a 100 Continue */
		buf_clear(&r->should_retry);
		buf_clear(&r->retry_after);
		buf_clear(&r->retry_after_ms);
		t->stream = false;
	} else if (header_is(line, "x-should-retry", &value)) {
		buf_add_str(&r->should_retry, value);
	} else if (header_is(line, "retry-after-ms", &value)) {
		buf_add_str(&r->retry_after_ms, value);
	} else if (header_is(line, "retry-after", &value)) {
		buf_add_str(&r->retry_after, value);
	} else if (header_is(line, "content-type", &value)) {
		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
		t->stream = t->request->on_stream && status == 200 &&
			    str_starts(value, "text/event-stream");
	}
	return line.len;
}

/* ---- the request ---- */

static size_t on_send(char *to, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	size_t n = t->request->body.len - t->sent, room = size * count;

	if (n > room)
		n = room;
	memcpy(to, t->request->body.ptr + t->sent, n);
	t->sent += n;
	return n;
}

/* libcurl sends a request again by itself when a kept connection ends under it. A request
 * that was sent may have been carried out and is paid for: whether to repeat it, and
 * after how long, is the caller's (FR-159). */
static int on_send_again(void *arg, curl_off_t offset, int origin)
{
	(void)arg;
	(void)offset;
	(void)origin;
	return CURL_SEEKFUNC_FAIL;
}

static void set_options(struct transfer *t)
{
	const struct http_request *r = t->request;
	CURL *easy = t->easy;

	for (const char *const *header = r->headers; header && *header; header++)
		t->headers = curl_slist_append(t->headers, *header);
	/* libcurl would wait for leave to send a long body. */
	t->headers = curl_slist_append(t->headers, "Expect:");
	curl_easy_setopt(easy, CURLOPT_URL, r->url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
	if (r->body.ptr) {
		curl_easy_setopt(
			easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
		curl_easy_setopt(easy, CURLOPT_POST, 1L);
		curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_send);
		curl_easy_setopt(easy, CURLOPT_READDATA, t);
		curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_send_again);
	}
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
	curl_easy_setopt(easy, CURLOPT_NOPROXY, t->http->no_proxy.data);
	trusted_apply(&t->http->trusted, easy);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
}

static void start(struct loop_task *task)
{
	struct transfer *t = CONTAINER_OF(task, struct transfer, task);
	struct http *h = t->http;

	t->easy = alloc_checked(curl_easy_init());
	set_options(t);
	if (LIST_EMPTY(&h->transfers))
		event_add_ms(h->cancel, CANCEL_CHECK_MS);
	LIST_INSERT_HEAD(&h->transfers, t, link);
	if (h->cancelled)
		finish(t, HTTP_CANCELLED, "the daemon stops");
	else if (curl_multi_add_handle(h->multi, t->easy) != CURLM_OK)
		finish(t, HTTP_NO_ANSWER, "libcurl refused the request");
}

void http_perform(struct http *h, const struct http_request *request,
	struct http_response *response)
{
	struct transfer t = {
		.task.run = start, .http = h, .request = request, .response = response};

	pthread_mutex_init(&t.lock, NULL);
	pthread_cond_init(&t.done, NULL);
	loop_post(h->post, &t.task);
	pthread_mutex_lock(&t.lock);
	/* Bounded: libcurl ends every transfer within timeout_ms. */
	while (!t.is_done)
		pthread_cond_wait(&t.done, &t.lock);
	pthread_mutex_unlock(&t.lock);
	pthread_cond_destroy(&t.done);
	pthread_mutex_destroy(&t.lock);
}

/* ---- the whole ---- */

static void on_cancel_check(EVENT_UNUSED, void *arg)
{
	struct http *h = arg;
	struct transfer *t, *next;

	for (t = LIST_FIRST(&h->transfers); t; t = next) {
		next = LIST_NEXT(t, link);
		if (t->request->cancelled && *t->request->cancelled)
			finish(t, HTTP_CANCELLED, "cancelled");
	}
}

void http_cancel_all(struct http *h)
{
	h->cancelled = true;
	while (!LIST_EMPTY(&h->transfers))
		finish(LIST_FIRST(&h->transfers), HTTP_CANCELLED, "the daemon stops");
}

struct http *http_new(struct event_base *base, struct loop_post *post)
{
	struct http *h = xcalloc(1, sizeof(*h));

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		abort();
	h->base = base;
	h->post = post;
	no_proxy_list(&h->no_proxy);
	buf_add_char(&h->no_proxy, '\0');
	trusted_read(&h->trusted);
	h->multi = alloc_checked(curl_multi_init());
	h->timer = alloc_checked(event_new(base, -1, 0, on_timer_event, h));
	h->cancel = alloc_checked(event_new(base, -1, EV_PERSIST, on_cancel_check, h));
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, KEPT_CONNECTIONS);
	return h;
}

void http_response_fini(struct http_response *r)
{
	buf_free(&r->body);
	buf_free(&r->should_retry);
	buf_free(&r->retry_after);
	buf_free(&r->retry_after_ms);
}

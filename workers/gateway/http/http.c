/* http.c - see http.h. */
#include "workers/gateway/http/http.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/metrics.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http_refusals.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_CONNECTIONS 4096
/* Descriptors that are not client connections: bus, listeners, log. */
#define OTHER_DESCRIPTORS 64
#define MAX_LISTENERS 8
#define ALL_METHODS                                                                      \
	(EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |           \
		EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |              \
		EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH)

struct http_server {
	const struct http_site *site;
	struct evhttp *ev;
	struct http_conns *conns;
	struct evhttp_bound_socket *bound[MAX_LISTENERS];
	size_t bound_count;
};

/* ---- headers ---- */

enum { HEADER_ONE, HEADER_LIST };

/* Joined values live until the next request is read. */
static struct arena joined;

static void take_header(struct http_headers *h, struct str key, struct str value)
{
#define HEADER(member, name, kind)                                                       \
	if (str_eq_nocase(key, STR_LIT(name))) {                                         \
		if (!h->member.ptr)                                                      \
			h->member = value;                                               \
		else if (HEADER_##kind == HEADER_ONE)                                    \
			h->repeated = true;                                              \
		else                                                                     \
			h->member = arena_printf(&joined, "%.*s, %.*s",                  \
				STR_ARG(h->member), STR_ARG(value));                     \
		return;                                                                  \
	}
	HTTP_HEADERS(HEADER)
#undef HEADER
}

static void read_headers(struct evhttp_request *ev, struct http_headers *out)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(ev);
	struct evkeyval *header;

	*out = (struct http_headers){0};
	arena_reset(&joined);
	for (header = headers->tqh_first; header; header = header->next.tqe_next)
		take_header(out, str_of(header->key), str_of(header->value));
	if (out->content_length.ptr && out->transfer_encoding.ptr)
		out->repeated = true; /* two lengths of one body */
}

/* ---- answers ---- */

struct str http_body(struct evhttp_request *ev)
{
	struct evbuffer *input = evhttp_request_get_input_buffer(ev);
	size_t len = evbuffer_get_length(input);
	unsigned char *data = len ? evbuffer_pullup(input, -1) : NULL;

	return data ? (struct str){(const char *)data, len} : STR_LIT("");
}

/* evhttp would write it for each answer anew. */
static const char *date(void)
{
	static char text[sizeof("Sun, 06 Nov 1994 08:49:37 GMT")];
	static time_t of;
	const time_t now = (time_t)(wall_ms(clock_wall()) / 1000);

	if (now != of)
		evutil_date_rfc1123(text, sizeof(text), gmtime(&now));
	of = now;
	return text;
}

/* evhttp would send the body of an answer to HEAD, too. */
static void keep_length_alone(struct evkeyvalq *headers, struct evbuffer *out)
{
	char length[32];

	snprintf(length, sizeof(length), "%zu", evbuffer_get_length(out));
	evhttp_add_header(headers, "Content-Length", length);
	evbuffer_drain(out, evbuffer_get_length(out));
}

void http_count_answer(const char *path, int status)
{
	struct metric_labels labels = {.len = 0};
	char code[16];

	snprintf(code, sizeof(code), "%d", status);
	metric_label(&labels, "code", code);
	metric_label(&labels, "path", path ? path : "other");
	metric_add(METRIC_HTTP_ANSWERS, &labels, 1);
}

void http_reply_later(
	struct evhttp_request *ev, int status, const char *content_type, struct str body)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(ev);
	struct evbuffer *out = evhttp_request_get_output_buffer(ev);
	struct http_conn *conn = http_conns_of(ev);

	evhttp_add_header(headers, "Date", date());
	if (content_type) {
		evhttp_add_header(headers, "Content-Type", content_type);
		evhttp_add_header(headers, "Cache-Control", "no-store");
		evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	}
	if (body.len)
		evbuffer_add(out, body.ptr, body.len);
	if (evhttp_request_get_command(ev) == EVHTTP_REQ_HEAD)
		keep_length_alone(headers, out);
	http_count_answer(conn ? conn->path : NULL, status);
	evhttp_send_reply(ev, status, NULL, NULL);
	if (conn)
		http_conn_handed_over(conn);
}

void http_reply(struct http_request *request, int status, const char *content_type,
	struct str body)
{
	http_reply_later(request->ev, status, content_type, body);
}

void http_reply_error(struct http_request *request, int status, const char *format, ...)
{
	AUTO_ARENA arena = {0};
	AUTO_BUF out = {0};
	va_list args;

	va_start(args, format);
	buf_add_str(&out, STR_LIT("{\"error\":"));
	buf_add_json_string(&out, arena_vprintf(&arena, format, args));
	buf_add_char(&out, '}');
	va_end(args);
	http_reply(request, status, "application/json", buf_str(&out));
}

/* ---- the way to a handler ---- */

/* Any of these says that another program handed the request on. */
static bool is_proxied(const struct http_headers *h)
{
	return h->forwarded.ptr || h->forwarded_for.ptr || h->forwarded_host.ptr ||
	       h->forwarded_proto.ptr || h->real_ip.ptr || h->via.ptr;
}

static enum access_rules rules_of(const struct http_route *route)
{
	return route ? route->rules : ACCESS_RULES_ALL;
}

static struct access_request facts_of(const struct http_request *r)
{
	return (struct access_request){
		.host = r->headers.host,
		.origin = r->headers.origin,
		.fetch_site = r->headers.fetch_site,
		.authorization = r->headers.authorization,
		.cookie = r->headers.cookie,
		.proxied = is_proxied(&r->headers),
		.protocols = r->headers.ws_protocol,
		.repeated = r->headers.repeated,
		.peer = r->conn ? r->conn->peer : (struct access_peer){0},
	};
}

bool http_is_operator(const struct http_request *request)
{
	const struct access_request facts = facts_of(request);

	return access_is_operator(&request->gateway->access, &facts);
}

static enum access_verdict judge(const struct http_request *r, enum access_rules rules)
{
	const struct access_request facts = facts_of(r);

	return access_judge(&r->gateway->access, &facts, rules);
}

/* Whom the proxy that we trust had before it: the last one that it added. */
static struct str visitor_of(const struct http_request *r)
{
	struct str list = r->headers.forwarded_for, visitor = {NULL, 0};

	if (r->conn && access_is_proxy(&r->gateway->access, &r->conn->peer))
		while (list_next(&list, &visitor))
			;
	return visitor;
}

static void note_refusal(const struct http_request *r, const char *reason)
{
	r->gateway->metrics.http_refused++;
	refusals_note(r->gateway->base, reason, r->path, r->headers.host,
		r->headers.origin, visitor_of(r));
}

static void refuse(struct http_request *r, enum access_verdict verdict)
{
	note_refusal(r, access_reason(verdict));
	if (verdict == ACCESS_NO_TOKEN && r->gateway->http->site->ask_for_token(r))
		return;
	http_reply_error(r, verdict == ACCESS_BAD_REQUEST ? 400 : 403, "%s",
		access_reason(verdict));
}

/* Whoever may not connect is refused before he sends a body. */
static void on_head(void *arg, struct http_conn *conn)
{
	struct gateway *g = arg;
	struct http_request r = {.gateway = g, .conn = conn};
	enum access_rules rules;
	const struct http_head_facts *facts = &conn->head.facts;
	struct str lines, name, value;
	enum access_verdict verdict;

	if (facts->length == 0 && !facts->chunked)
		return;
	r.path = facts->path;
	arena_reset(&joined);
	lines = http_head_fields(&conn->head);
	while (http_head_next_field(&lines, &name, &value))
		take_header(&r.headers, name, value);
	rules = rules_of(g->http->site->route_of(r.path));
	verdict = judge(&r, rules);
	if (verdict == ACCESS_GRANTED && rules == ACCESS_RULES_ALL) {
		http_conn_prove(g->http->conns, conn);
	} else if (rules != ACCESS_RULES_ALL &&
		   (facts->chunked || facts->length > HTTP_OPEN_BODY_MAX)) {
		http_head_refuse(&conn->head, 413, "The body is too large for this path");
	} else if (verdict != ACCESS_GRANTED) {
		note_refusal(&r, access_reason(verdict));
		http_head_refuse(&conn->head, verdict == ACCESS_BAD_REQUEST ? 400 : 403,
			access_reason(verdict));
	}
}

static void refuse_method(struct http_request *r, const struct http_route *route)
{
	evhttp_add_header(
		evhttp_request_get_output_headers(r->ev), "Allow", route->allow);
	http_reply_error(r, 405, "This path answers %s only", route->allow);
}

static void split_target(struct http_request *r)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(r->ev);

	r->path = str_of(uri ? evhttp_uri_get_path(uri) : NULL);
	r->query = str_of(uri ? evhttp_uri_get_query(uri) : NULL);
	if (!r->path.ptr)
		r->path = STR_LIT("");
}

void http_request_of(
	struct gateway *g, struct evhttp_request *ev, struct http_request *out)
{
	*out = (struct http_request){
		.gateway = g,
		.ev = ev,
		.conn = http_conns_of(ev),
		.method = evhttp_request_get_command(ev),
	};
	split_target(out);
	read_headers(ev, &out->headers);
}

static void on_request(struct evhttp_request *ev, void *arg)
{
	struct gateway *g = arg;
	struct http_request r;
	const struct http_route *route;
	enum access_verdict verdict;

	g->metrics.http_requests++;
	http_request_of(g, ev, &r);
	if (r.conn)
		http_conn_begin_serving(r.conn, ev);
	route = g->http->site->route_of(r.path);
	if (r.conn)
		r.conn->path = route ? route->path : NULL;
	verdict = judge(&r, rules_of(route));
	if (r.conn && verdict == ACCESS_GRANTED && rules_of(route) == ACCESS_RULES_ALL)
		http_conn_prove(g->http->conns, r.conn);
	if (verdict != ACCESS_GRANTED)
		refuse(&r, verdict);
	else if (!route)
		http_reply_error(&r, 404, "There is nothing at this path");
	else if (!(route->methods & (unsigned)r.method))
		refuse_method(&r, route);
	else
		route->handle(g, &r);
}

/* ---- start and stop ---- */

/* As many descriptors as the limit of the system lets us have, up to what we want. */
static int descriptor_limit(void)
{
	struct rlimit limit;
	rlim_t want = MAX_CONNECTIONS + OTHER_DESCRIPTORS;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	if (limit.rlim_cur < want) {
		limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			log_warn("the limit of descriptors was not raised", "error", "%s",
				strerror(errno), NULL);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur > want)
		limit.rlim_cur = want;
	return (int)limit.rlim_cur - OTHER_DESCRIPTORS / 2;
}

int http_listening_port(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return -errno;
	if (address.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&address)->sin_port);
	if (address.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
	return -EAFNOSUPPORT;
}

int http_take_socket(struct http_request *request, struct evhttp_connection **remains)
{
	if (!request->conn)
		return -ENOTCONN;
	return http_conn_take_socket(
		request->gateway->http->conns, request->conn, remains);
}

static int add_listener(struct http_server *http, int fd)
{
	const int on = 1;
	struct evhttp_bound_socket *bound;

	/* Accepted sockets inherit it. */
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		return -errno;
	if (evutil_make_socket_nonblocking(fd) < 0)
		return -errno;
	bound = evhttp_accept_socket_with_handle(http->ev, fd);
	if (!bound)
		return -ENOMEM;
	http_conns_add_listener(http->conns, evhttp_bound_socket_get_listener(bound));
	http->bound[http->bound_count++] = bound;
	return 0;
}

int http_start(struct gateway *g, const struct http_site *site, int first_fd, int count)
{
	struct http_server *http = xcalloc(1, sizeof(*http));
	int rc = 0;

	g->http = http;
	http->site = site;
	http->ev = alloc_checked(evhttp_new(g->base));
	http->conns = http_conns_new(g->base, descriptor_limit(), g->diag_fd, &g->access,
		&g->metrics.http_connections, &g->metrics.http_slow);
	evhttp_set_allowed_methods(http->ev, ALL_METHODS);
	evhttp_set_max_headers_size(http->ev, HTTP_MAX_HEAD_BYTES);
	evhttp_set_max_body_size(http->ev, HTTP_MAX_BODY_BYTES);
	evhttp_set_timeout(http->ev, HTTP_IDLE_SECONDS);
	evhttp_set_default_content_type(http->ev, NULL);
	evhttp_set_flags(http->ev, EVHTTP_SERVER_LINGERING_CLOSE);
	evhttp_set_bevcb(http->ev, http_conns_make_bufferevent, http->conns);
	http_conns_on_head(http->conns, on_head, g);
	evhttp_set_gencb(http->ev, on_request, g);
	for (int i = 0; i < count && i < MAX_LISTENERS && rc == 0; i++)
		rc = add_listener(http, first_fd + i);
	return rc;
}

static void close_listeners(EVENT_UNUSED, void *arg)
{
	struct http_server *http = arg;

	for (size_t i = 0; i < http->bound_count; i++)
		evhttp_del_accept_socket(http->ev, http->bound[i]);
	http->bound_count = 0;
}

/* They are closed in the next turn, because the supervisor has them, too (struct
 * worker_spec, changelist). */
void http_stop_accepting(struct gateway *g)
{
	struct http_server *http = g->http;

	http_conns_stop_accepting(http->conns);
	event_once_ms(g->base, close_listeners, http, 0);
}

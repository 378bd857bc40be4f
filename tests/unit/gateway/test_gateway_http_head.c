/* Tests of what is ambiguous in a request (workers/gateway/http/http_head.h; RFC 9112). */
#include "tests/check_run.h"
#include "workers/gateway/http/http_head.h"
#include <stdlib.h>

#define MAX_BODY 1000
#define HOST "Host: localhost:3000\r\n"
#define GET(target) "GET " target " HTTP/1.1\r\n" HOST "\r\n"
#define POST(fields) "POST /mcp HTTP/1.1\r\n" HOST fields "\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

struct sample {
	const char *text;
	size_t len;
	int status; /* 0: a whole request */
	size_t rest;
};

/* A literal, which may hold NULs. */
#define S(literal) (literal), sizeof(literal) - 1

static const struct sample samples[] = {
	{S(GET("/")), 0, 0},
	{S(GET("/") "GET"), 0, 3},
	{S(GET("/guards/idle/a%20b?since=1")), 0, 0},
	{S("GET / HTTP/1.0\r\n\r\n"), 0, 0},
	{S(GET("http://localhost:3000/ws")), 0, 0},
	{S(GET("HTTP://LOCALHOST:3000/ws")), 0, 0},
	{S(GET("http://evil.example/ws")), 400, 0},
	{S(GET("http://localhost:3000@evil.example/ws")), 400, 0},
	{S(GET("http://localhost:3000")), 400, 0},
	{S(GET("https://localhost:3000/")), 400, 0},
	{S(GET("//localhost:3000/ws")), 400, 0},
	{S(GET("//evil.example/ws")), 400, 0},
	{S(GET("http://localhost:3000//x")), 400, 0},
	{S(GET("*")), 400, 0},
	{S(GET("ws")), 400, 0},
	{S(GET("/a#b")), 400, 0},
	{S(GET("/a%00b")), 400, 0},
	{S(GET("/a%1fb")), 400, 0},
	{S(GET("/a%7Fb")), 400, 0},
	{S(GET("/?x=%0a")), 400, 0},
	{S(GET("/a%2")), 400, 0},
	{S(GET("/a%zz")), 400, 0},
	{S(GET("/a\x01"
	       "b")),
		400, 0},
	{S(GET("/a b")), 400, 0},
	{S("hello\r\n\r\n"), 400, 0},
	{S("\r\n"), 400, 0},
	{S("GET /\r\n" HOST "\r\n"), 400, 0},
	{S("GET  / HTTP/1.1\r\n" HOST "\r\n"), 400, 0},
	{S("GET / HTTP/2.0\r\n" HOST "\r\n"), 505, 0},
	{S("GET / HTTP/1.1 \r\n" HOST "\r\n"), 505, 0},
	{S("G(T / HTTP/1.1\r\n" HOST "\r\n"), 400, 0},
	{S("GET / HTTP/1.1\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n" HOST HOST "\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\nHost: localhost\0\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\nHost: \0localhost\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n" HOST "Origin: http://localhost\0.evil.example\r\n\r\n"),
		400, 0},
	{S("GET / HTTP/1.1\r\n" HOST "X\0: a\r\n\r\n"), 400, 0},
	{S("GET /a\0b HTTP/1.1\r\n" HOST "\r\n"), 400, 0},
	{S("GET /a\0 HTTP/1.1\r\n" HOST "\r\n"), 400, 0},
	{S("GET /?x=\0 HTTP/1.1\r\n" HOST "\r\n"), 400, 0},
	{S("GET\0 / HTTP/1.1\r\n" HOST "\r\n"), 400, 0},
	{S("GET / HTTP/1.1\0\r\n" HOST "\r\n"), 505, 0},
	{S("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n Host: localhost\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n" HOST "nonsense\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n"), 400, 0},
	{S("GET / HTTP/1.1\r\n" HOST "X:\ty\t\r\n\r\n"), 0, 0},

	{S(POST("Content-Length: 2\r\n") "{}GET"), 0, 3},
	{S(POST("Content-Length: 0\r\n")), 0, 0},
	{S(POST("") "x"), 0, 1},
	{S(POST("Content-Length: +2\r\n") "{}"), 400, 2},
	{S(POST("Content-Length: -1\r\n")), 400, 0},
	{S(POST("Content-Length: 2\0\r\n") "{}"), 400, 2},
	{S(POST("Content-Length: 0x2\r\n") "{}"), 400, 2},
	{S(POST("Content-Length: 2 2\r\n") "{}"), 400, 2},
	{S(POST("Content-Length: 2, 2\r\n") "{}"), 400, 2},
	{S(POST("Content-Length:\r\n")), 400, 0},
	{S(POST("Content-Length: 99999999999999999999\r\n")), 400, 0},
	{S(POST("Content-Length: 1001\r\n")), 413, 0},
	{S(POST("Content-Length: 2\r\nContent-Length: 2\r\n") "{}"), 400, 2},
	{S(POST("Content-Length: 2\r\nContent-Length: 40\r\n") "{}"), 400, 2},
	{S(POST("Content-Length : 2\r\n") "{}"), 400, 2},
	{S(POST("Content-Length: 2\r\n" CHUNKED) "0\r\n\r\n"), 400, 5},
	{S(POST("Transfer-Encoding: gzip, chunked\r\n") "0\r\n\r\n"), 400, 5},
	{S(POST("Transfer-Encoding: identity\r\n")), 400, 0},
	{S(POST("Transfer-Encoding: chunked\0\r\n") "0\r\n\r\n"), 400, 5},
	{S(POST("Transfer-Encoding: xchunked\r\n") "0\r\n\r\n"), 400, 5},
	{S(POST(CHUNKED CHUNKED) "0\r\n\r\n"), 400, 5},
	{S("POST / HTTP/1.0\r\n" HOST CHUNKED "\r\n0\r\n\r\n"), 400, 5},
	{S("GET / HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}"), 400, 2},
	{S("DELETE /mcp HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"), 0, 0},
	{S("DELETE /mcp HTTP/1.1\r\n" HOST CHUNKED "\r\n0\r\n\r\n"), 400, 5},

	{S(POST(CHUNKED) "0\r\n\r\nGET"), 0, 3},
	{S(POST("TRANSFER-ENCODING: CHUNKED\r\n") "2\r\n{}\r\n0\r\n\r\n"), 0, 0},
	{S(POST(CHUNKED) "2;a=b;c=\"d\"\r\n{}\r\n0\r\n\r\n"), 0, 0},
	{S(POST(CHUNKED) "02 ;a\r\n{}\r\n0;x\r\nHost: evil\r\n\r\nG"), 0, 1},
	{S(POST(CHUNKED) "xyz\r\n"), 400, 4},
	{S(POST(CHUNKED) "+2\r\n{}\r\n"), 400, 7},
	{S(POST(CHUNKED) "0x2\r\n{}\r\n"), 400, 7},
	{S(POST(CHUNKED) "\r\n"), 400, 1},
	{S(POST(CHUNKED) "10000000000000000\r\n"), 400, 3},
	{S(POST(CHUNKED) "3e9\r\n"), 413, 0},
	{S(POST(CHUNKED) "2\r\n{}x\r\n0\r\n\r\n"), 400, 7},
	{S(POST(CHUNKED) "2\n{}\r\n0\r\n\r\n"), 400, 9},
	{S(POST(CHUNKED) "2;a\0\r\n{}\r\n0\r\n\r\n"), 400, 11},
	{S(POST(CHUNKED) "0\r\n x\r\n\r\n"), 400, 5},
};

/* Feeds it in pieces of `piece` bytes; gives how much is left of the text. */
static size_t feed(struct http_head *h, char *text, size_t len, size_t piece)
{
	size_t at = 0;

	while (at < len && h->state != HTTP_HEAD_DONE && h->state != HTTP_HEAD_FAULTY) {
		size_t n = len - at < piece ? len - at : piece;

		at += http_head_take(h, text + at, n, MAX_BODY);
	}
	return len - at;
}

START_TEST(finds_the_end_or_the_fault)
{
	const struct sample *s = &samples[_i];

	for (size_t piece = 1; piece <= s->len; piece += piece < 8 ? 1 : s->len) {
		struct http_head h = {0};
		char *text = malloc(s->len);
		size_t rest;

		memcpy(text, s->text, s->len);
		rest = feed(&h, text, s->len, piece);
		ck_assert_msg(h.state == (s->status ? HTTP_HEAD_FAULTY : HTTP_HEAD_DONE),
			"%s: state %d", s->text, h.state);
		ck_assert_msg(h.status == s->status, "%s: %d", s->text, h.status);
		ck_assert_msg(!s->status == !h.reason, "%s", s->text);
		ck_assert_msg(rest == s->rest, "%s: %zu left", s->text, rest);
		http_head_free(&h);
		free(text);
	}
}
END_TEST

START_TEST(takes_extensions_and_trailers_away)
{
	char text[] = POST(CHUNKED) "2;a=b\r\n{}\r\n0;c\r\nHost: evil\r\n\r\n";
	struct http_head h = {0};

	ck_assert_uint_eq(feed(&h, text, sizeof(text) - 1, 1000), 0);
	ck_assert_str_eq(text, POST(CHUNKED) "2    \r\n{}\r\n0  \r\nxxxx:xxxxx\r\n\r\n");
	http_head_free(&h);
}
END_TEST

START_TEST(stops_at_the_end_of_the_header)
{
	char text[] = "POST /guards/idle?a=b HTTP/1.1\r\n" HOST "Content-Length: 2\r\n"
		      "X: y \r\n\r\n{}";
	struct http_head h = {0};
	const struct http_head_facts *facts = &h.facts;
	struct str lines, name, value;
	int fields = 0;

	ck_assert_uint_eq(
		http_head_take(&h, text, sizeof(text) - 1, MAX_BODY), sizeof(text) - 3);
	ck_assert(h.complete && h.state == HTTP_HEAD_BODY);
	ck_assert(str_is(facts->path, "/guards/idle") && str_is(facts->query, "a=b"));
	ck_assert(str_is(facts->host, "localhost:3000") && facts->length == 2);
	for (lines = http_head_fields(&h); http_head_next_field(&lines, &name, &value);)
		fields++;
	ck_assert_int_eq(fields, 3);
	ck_assert_uint_eq(http_head_take(&h, text, 2, MAX_BODY), 2);
	ck_assert(h.state == HTTP_HEAD_DONE);
	http_head_restart(&h);
	ck_assert(h.state == HTTP_HEAD_READING && h.text.len == 0);
	http_head_free(&h);
}
END_TEST

START_TEST(bounds_the_header)
{
	struct http_head h = {0};
	char line[] = "GET / HTTP/1.1\r\n",
	     field[] = "X-Y: 0123456789012345678901234567890\r\n";

	feed(&h, line, sizeof(line) - 1, 1000);
	for (int i = 0; i < 3000 && h.state != HTTP_HEAD_FAULTY; i++)
		feed(&h, field, sizeof(field) - 1, 1000);
	ck_assert_int_eq(h.status, 431);
	ck_assert_uint_le(h.text.len, HTTP_MAX_HEAD_BYTES);
	http_head_free(&h);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("http_head");

	check_add_table(tc, finds_the_end_or_the_fault, samples);
	tcase_add_test(tc, takes_extensions_and_trailers_away);
	tcase_add_test(tc, stops_at_the_end_of_the_header);
	tcase_add_test(tc, bounds_the_header);
	return check_run(tc);
}

/* http_head.c - see http_head.h. */
#include "workers/gateway/http/http_head.h"
#include <openssl/crypto.h>

#define KEPT_BYTES 1024
/* 2^60 is larger than any bound. */
#define MAX_SIZE_DIGITS 15

void http_head_refuse(struct http_head *h, int status, const char *reason)
{
	h->state = HTTP_HEAD_FAULTY;
	h->status = status;
	h->reason = reason;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || char_is_in(c, "!#$%&'*+-.^_`|~");
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_name_char(s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool is_value(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		if ((c < ' ' && c != '\t') || c == 0x7F)
			return false;
	}
	return true;
}

static struct str trimmed(struct str s)
{
	while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
		s = (struct str){s.ptr + 1, s.len - 1};
	while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* ---- lines ---- */

/* The next line of the header, without CR LF, with which every one ends; empty at the
 * end. */
static struct str take_line(struct str *rest)
{
	struct str line;

	if (!str_take_line(rest, &line))
		return (struct str){NULL, 0};
	line.len--;
	return line;
}

static struct str before(struct str s, char c, struct str *rest)
{
	const char *end = s.len ? memchr(s.ptr, c, s.len) : NULL;
	size_t n = end ? (size_t)(end - s.ptr) : s.len;

	*rest = end ? (struct str){end + 1, s.len - n - 1} : (struct str){NULL, 0};
	return (struct str){s.ptr, n};
}

struct str http_head_fields(const struct http_head *h)
{
	struct str rest = buf_str(&h->text);

	take_line(&rest);
	return rest;
}

bool http_head_next_field(struct str *lines, struct str *name, struct str *value)
{
	struct str line = take_line(lines), rest;

	if (line.len == 0)
		return false;
	*name = before(line, ':', &rest);
	*value = rest.ptr ? trimmed(rest) : rest;
	return true;
}

/* ---- the request line ---- */

/* Neither as it is nor decoded a control; no half escape. */
static bool is_clean(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		int high, low;

		if (c <= ' ' || c == 0x7F || c == '#')
			return false;
		if (c != '%')
			continue;
		high = i + 2 < s.len ? OPENSSL_hexchar2int((unsigned char)s.ptr[i + 1])
				     : -1;
		low = i + 2 < s.len ? OPENSSL_hexchar2int((unsigned char)s.ptr[i + 2])
				    : -1;
		if (high < 0 || low < 0 || high < 2 || (high == 7 && low == 15))
			return false;
	}
	return true;
}

/* The authority of a target in absolute form; absent in origin form. *rest is the path
 * with the query. */
static struct str authority_of(struct str target, struct str *rest)
{
	static const char http[] = "http://";
	const size_t n = sizeof(http) - 1;
	size_t end = n;

	*rest = target;
	if (!str_starts_nocase(target, http))
		return (struct str){NULL, 0};
	while (end < target.len && target.ptr[end] != '/' && target.ptr[end] != '?')
		end++;
	*rest = (struct str){target.ptr + end, target.len - end};
	return (struct str){target.ptr + n, end - n};
}

static void check_target(struct http_head *h)
{
	const struct http_head_facts *facts = &h->facts;
	struct str rest, authority = authority_of(facts->target, &rest);

	if (facts->target.len > HTTP_MAX_TARGET_BYTES)
		http_head_refuse(h, 414, "The request target is too long");
	else if (!is_clean(facts->target))
		http_head_refuse(h, 400,
			"The request target holds a control character, a # or a % "
			"without "
			"two hexadecimal digits");
	else if (rest.len == 0 || rest.ptr[0] != '/' ||
		 (rest.len > 1 && rest.ptr[1] == '/'))
		http_head_refuse(h, 400,
			"The request target must be a path that begins with one slash");
	else if (authority.ptr && !str_eq_nocase(authority, facts->host))
		http_head_refuse(
			h, 400, "Host and the authority of the request target differ");
}

/* Method, target, version; *http_1_0 of an old one. */
static bool read_request_line(struct http_head *h, struct str line, bool *http_1_0)
{
	struct http_head_facts *facts = &h->facts;
	struct str rest;

	facts->method = before(line, ' ', &rest);
	facts->target = before(rest, ' ', &rest);
	*http_1_0 = rest.ptr && str_is(rest, "HTTP/1.0");
	if (!is_name(facts->method) || facts->target.len == 0 || !rest.ptr ||
		!str_starts(rest, "HTTP/")) {
		http_head_refuse(
			h, 400, "The request line must be METHOD TARGET HTTP/1.1");
		return false;
	}
	if (!*http_1_0 && !str_is(rest, "HTTP/1.1")) {
		http_head_refuse(h, 505, "Only HTTP/1.1 and HTTP/1.0 are spoken");
		return false;
	}
	return true;
}

/* ---- the fields ---- */

static bool read_length(struct str value, uint64_t *length)
{
	*length = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (value.ptr[i] < '0' || value.ptr[i] > '9')
			return false;
		*length = *length * 10 + (uint64_t)(value.ptr[i] - '0');
	}
	return value.len > 0 && value.len < 19;
}

static bool may_have_body(struct str method)
{
	return str_is(method, "POST") || str_is(method, "PUT") || str_is(method, "PATCH");
}

/* How often each that decides where a request goes and ends stands there. */
struct counts {
	unsigned host, length, coding;
};

static void read_field(
	struct http_head *h, struct str name, struct str value, struct counts *n)
{
	struct http_head_facts *facts = &h->facts;

	if (str_is_nocase(name, "Host")) {
		facts->host = value;
		n->host++;
	} else if (str_is_nocase(name, "Content-Length")) {
		n->length++;
		if (!read_length(value, &facts->length))
			http_head_refuse(h, 400,
				"Content-Length must be a number of digits alone");
	} else if (str_is_nocase(name, "Transfer-Encoding")) {
		n->coding++;
		facts->chunked = true;
		if (!str_is_nocase(value, "chunked"))
			http_head_refuse(h, 400,
				"The only Transfer-Encoding that is known is chunked");
	}
}

static void check_counts(struct http_head *h, const struct counts *n, bool http_1_0)
{
	const struct http_head_facts *facts = &h->facts;

	if (n->host > 1 || n->length > 1 || n->coding > 1)
		http_head_refuse(
			h, 400, "A header that may stand only once was sent twice");
	else if (n->host == 0 && !http_1_0)
		http_head_refuse(h, 400, "A request of HTTP/1.1 needs a Host");
	else if (n->coding && (n->length || http_1_0))
		http_head_refuse(h, 400,
			"Transfer-Encoding may not stand beside Content-Length, nor in "
			"HTTP/1.0");
	else if ((facts->length > 0 || facts->chunked) && !may_have_body(facts->method))
		http_head_refuse(h, 400, "This method has no body");
}

static void read_fields(struct http_head *h, struct str lines, bool http_1_0)
{
	struct counts n = {0};

	while (h->state != HTTP_HEAD_FAULTY) {
		struct str line = take_line(&lines), name, value;

		if (line.len == 0)
			break;
		name = before(line, ':', &value);
		if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
			http_head_refuse(
				h, 400, "A header may not go on in the next line");
		else if (!value.ptr || !is_name(name))
			http_head_refuse(h, 400,
				"A header must be NAME: VALUE, without a blank before "
				"the colon");
		else if (!is_value(value))
			http_head_refuse(h, 400, "A header holds a control character");
		else
			read_field(h, name, trimmed(value), &n);
	}
	if (h->state != HTTP_HEAD_FAULTY)
		check_counts(h, &n, http_1_0);
}

/* The header of a request into its facts; h gets the fault when there is one. */
static void read_head(struct http_head *h)
{
	struct http_head_facts *facts = &h->facts;
	struct str rest = buf_str(&h->text), path_and_query;
	bool http_1_0;

	*facts = (struct http_head_facts){.host = STR_LIT("")};
	if (!read_request_line(h, take_line(&rest), &http_1_0))
		return;
	read_fields(h, rest, http_1_0);
	if (h->state != HTTP_HEAD_FAULTY)
		check_target(h);
	authority_of(facts->target, &path_and_query);
	facts->path = before(path_and_query, '?', &facts->query);
}

/* ---- bytes ---- */

static void finish_head(struct http_head *h, uint64_t max_body)
{
	const struct http_head_facts *facts = &h->facts;

	h->complete = true;
	read_head(h);
	if (h->state == HTTP_HEAD_FAULTY)
		return;
	h->left = facts->length;
	if (facts->length > max_body)
		http_head_refuse(h, 413, "The body is too large");
	else if (facts->chunked)
		h->state = HTTP_HEAD_CHUNK_SIZE;
	else
		h->state = facts->length > 0 ? HTTP_HEAD_BODY : HTTP_HEAD_DONE;
}

/* To the end of the line; a line that is empty ends the header. */
static size_t take_head(
	struct http_head *h, const char *data, size_t len, uint64_t max_body)
{
	const char *newline = memchr(data, '\n', len);
	size_t n = newline ? (size_t)(newline - data) + 1 : len;

	if (h->text.len + n > HTTP_MAX_HEAD_BYTES) {
		if (memchr(h->text.len ? h->text.data : data, '\n',
			    h->text.len ? h->text.len : n))
			http_head_refuse(h, 431, "The header is too large");
		else
			http_head_refuse(h, 414, "The request target is too long");
		return n;
	}
	buf_add(&h->text, data, n);
	if (!newline)
		return n;
	if (h->text.len < 2 || h->text.data[h->text.len - 2] != '\r')
		http_head_refuse(h, 400, "A line of the header must end with CR LF");
	else if (h->text.len == 2)
		http_head_refuse(
			h, 400, "The request line must be METHOD TARGET HTTP/1.1");
	else if (h->text.data[h->text.len - 3] == '\n')
		finish_head(h, max_body);
	return n;
}

static void end_chunk_size(struct http_head *h, uint64_t max_body)
{
	h->body += h->left;
	h->digits = 0;
	h->line = 0;
	if (h->body > max_body)
		http_head_refuse(h, 413, "The body is too large");
	else
		h->state = h->left > 0 ? HTTP_HEAD_CHUNK_DATA : HTTP_HEAD_TRAILER;
}

static void take_size_char(struct http_head *h, char c)
{
	int value = OPENSSL_hexchar2int((unsigned char)c);

	if (value >= 0 && h->digits < MAX_SIZE_DIGITS) {
		h->left = (h->digits ? h->left << 4 : 0) | (uint64_t)value;
		h->digits++;
	} else if (value >= 0 || h->digits == 0) {
		http_head_refuse(
			h, 400, "The size of a chunk must be a hexadecimal number");
	} else if (c == '\r') {
		h->state = HTTP_HEAD_CHUNK_SIZE_LF;
	} else if (c == ';' || c == ' ' || c == '\t') {
		h->state = HTTP_HEAD_CHUNK_EXTENSION;
	} else {
		http_head_refuse(
			h, 400, "The size of a chunk must be a hexadecimal number");
	}
}

/* evhttp ignores blanks behind the size. */
static void take_extension_char(struct http_head *h, char *c)
{
	if (*c == '\r')
		h->state = HTTP_HEAD_CHUNK_SIZE_LF;
	else if (!is_value((struct str){c, 1}) || ++h->trailers > HTTP_MAX_HEAD_BYTES)
		http_head_refuse(
			h, 400, "An extension of a chunk is no text, or too long");
	else
		*c = ' ';
}

/* Trailers are not looked at: no name in them is one that matters. */
static void take_trailer_char(struct http_head *h, char *c)
{
	if (*c == '\r')
		h->state = HTTP_HEAD_TRAILER_LF;
	else if (!is_value((struct str){c, 1}) || ++h->trailers > HTTP_MAX_HEAD_BYTES ||
		 (h->line == 0 && !is_name_char(*c)))
		http_head_refuse(h, 400, "A trailer is no header, or too long");
	else if (*c != ':')
		*c = 'x';
	h->line++;
}

static void expect(struct http_head *h, char c, char wanted, enum http_head_state next)
{
	if (c != wanted)
		http_head_refuse(h, 400, "A chunk is not as long as its size says");
	else
		h->state = next;
}

/* One byte of a chunked body that is not data. */
static void take_framing(struct http_head *h, char *c, uint64_t max_body)
{
	switch (h->state) {
	case HTTP_HEAD_CHUNK_SIZE:
		take_size_char(h, *c);
		if (h->state == HTTP_HEAD_CHUNK_EXTENSION)
			*c = ' ';
		break;
	case HTTP_HEAD_CHUNK_EXTENSION:
		take_extension_char(h, c);
		break;
	case HTTP_HEAD_CHUNK_SIZE_LF:
		expect(h, *c, '\n', HTTP_HEAD_CHUNK_DATA);
		if (h->state != HTTP_HEAD_FAULTY)
			end_chunk_size(h, max_body);
		break;
	case HTTP_HEAD_CHUNK_CR:
		expect(h, *c, '\r', HTTP_HEAD_CHUNK_LF);
		break;
	case HTTP_HEAD_CHUNK_LF:
		expect(h, *c, '\n', HTTP_HEAD_CHUNK_SIZE);
		break;
	case HTTP_HEAD_TRAILER:
		take_trailer_char(h, c);
		break;
	case HTTP_HEAD_TRAILER_LF:
		/* `line` counts the CR, too. */
		expect(h, *c, '\n', h->line == 1 ? HTTP_HEAD_DONE : HTTP_HEAD_TRAILER);
		h->line = 0;
		break;
	case HTTP_HEAD_READING:
	case HTTP_HEAD_BODY:
	case HTTP_HEAD_CHUNK_DATA:
	case HTTP_HEAD_DONE:
	case HTTP_HEAD_FAULTY:
		break;
	}
}

static size_t take_data(struct http_head *h, size_t len, enum http_head_state next)
{
	size_t n = len < h->left ? len : (size_t)h->left;

	h->left -= n;
	if (h->left == 0)
		h->state = next;
	return n;
}

size_t http_head_take(struct http_head *h, char *data, size_t len, uint64_t max_body)
{
	bool was_complete = h->complete;
	size_t n = 0;

	while (n < len && h->state != HTTP_HEAD_DONE && h->state != HTTP_HEAD_FAULTY &&
		h->complete == was_complete) {
		if (h->state == HTTP_HEAD_READING)
			n += take_head(h, data + n, len - n, max_body);
		else if (h->state == HTTP_HEAD_BODY)
			n += take_data(h, len - n, HTTP_HEAD_DONE);
		else if (h->state == HTTP_HEAD_CHUNK_DATA)
			n += take_data(h, len - n, HTTP_HEAD_CHUNK_CR);
		else
			take_framing(h, data + n++, max_body);
	}
	return n;
}

void http_head_restart(struct http_head *h)
{
	struct buf text = h->text;

	buf_empty(&text, KEPT_BYTES);
	*h = (struct http_head){.text = text};
}

void http_head_free(struct http_head *h)
{
	buf_free(&h->text);
}

/*
 * http_head.h - looks at a request before evhttp does, byte by byte as it comes (RFC
 * 9112).
 *
 * evhttp takes much that two programs can read in two ways: signs in lengths, blanks
 * before a colon, codings that it does not know, bodies of methods that have none, an
 * authority in the target. Whatever is ambiguous is a fault here; the caller answers and
 * closes. It also tells the caller when the header is complete, so that he can refuse
 * before the body comes. Chunk extensions and trailers are made harmless in place. Pure:
 * no socket, no clock.
 */
#pragma once

#include "common/base/buf.h"
#include <stdint.h>

#define HTTP_MAX_HEAD_BYTES (64 * 1024)
#define HTTP_MAX_TARGET_BYTES (32 * 1024)

enum http_head_state {
	HTTP_HEAD_READING,
	HTTP_HEAD_BODY, /* `left` bytes of it are to come */
	HTTP_HEAD_CHUNK_SIZE,
	HTTP_HEAD_CHUNK_EXTENSION,
	HTTP_HEAD_CHUNK_SIZE_LF,
	HTTP_HEAD_CHUNK_DATA,
	HTTP_HEAD_CHUNK_CR,
	HTTP_HEAD_CHUNK_LF,
	HTTP_HEAD_TRAILER,
	HTTP_HEAD_TRAILER_LF,
	HTTP_HEAD_DONE, /* what follows is another request */
	HTTP_HEAD_FAULTY,
};

/* What a complete header says, borrowed from its text. */
struct http_head_facts {
	struct str method, target;
	struct str path, query; /* of the target; query may be absent */
	struct str host;
	uint64_t length; /* Content-Length */
	bool chunked;
};

/* Zero is the state before a request. */
struct http_head {
	enum http_head_state state;
	struct buf text;	      /* the header, until http_head_restart */
	uint64_t left;		      /* of the body or the chunk */
	uint64_t body;		      /* all chunks so far */
	unsigned digits;	      /* of the chunk's size */
	size_t line;		      /* length of the trailer's line */
	size_t trailers;	      /* bytes of all of them */
	bool complete;		      /* text is the whole header */
	struct http_head_facts facts; /* of a complete header without a fault */
	int status;		      /* of a fault */
	const char *reason;	      /* of a fault; static */
};

/*
 * Takes bytes of the connection, up to the end of the header, then up to the end of the
 * request. Returns how many; fewer than `len` when the header has just been completed,
 * the request has ended, or it is faulty. `max_body` bounds the body in bytes (413).
 */
size_t http_head_take(struct http_head *h, char *data, size_t len, uint64_t max_body);
/* Cuts the next field off the header's lines: start with http_head_fields. False at the
 * end. */
struct str http_head_fields(const struct http_head *h);
bool http_head_next_field(struct str *lines, struct str *name, struct str *value);
/* The caller's own fault with a complete header. `reason` is static. */
void http_head_refuse(struct http_head *h, int status, const char *reason);
/* The next request begins. Keeps little memory. */
void http_head_restart(struct http_head *h);
void http_head_free(struct http_head *h);

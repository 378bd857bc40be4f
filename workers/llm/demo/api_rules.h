/*
 * api_rules.h - what the Claude API refuses before any model runs. Pure.
 *
 * The scripted Claude keeps to these rules so that a request which works with it works
 * with the real one: headers, known keys, no sampling parameters, roles, the dialect of
 * response schemas, and search and format never in one request.
 */
#pragma once

#include "common/base/str.h"
#include <yyjson.h>

struct api_refusal {
	int status;	  /* 0: nothing to refuse */
	const char *type; /* of the API's error object */
	char message[256];
};

/* Headers of a request; absent ones have a null pointer. */
struct api_headers {
	const char *key, *version, *content_type;
};

/* `body` is NULL when it is no JSON. */
struct api_refusal api_check(const struct api_headers *headers, yyjson_val *body);

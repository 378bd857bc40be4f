/*
 * codec_parse.c - JSON text to a document: well-formed, UTF-8, not nested too deeply.
 *
 * yyjson reads without recursion, so depth is checked on the values it has read: they lie
 * one after another, each container knows where it ends, and brackets inside strings are
 * no values. That costs a step per value instead of a look at every byte.
 */
#include "proto/codec/codec.h"
#include <stdio.h>

static bool too_deep(yyjson_doc *doc)
{
	yyjson_val *val = yyjson_doc_get_root(doc);
	yyjson_val *const end = val + yyjson_doc_get_val_count(doc);
	yyjson_val *ends[PROTO_MAX_NESTING]; /* of the containers around val */
	int depth = 0;

	for (; val < end; val++) {
		while (depth > 0 && val >= ends[depth - 1])
			depth--;
		if (!yyjson_is_ctn(val))
			continue;
		if (depth == PROTO_MAX_NESTING)
			return true;
		ends[depth++] = unsafe_yyjson_get_next(val);
	}
	return false;
}

yyjson_doc *proto_parse(struct str text, struct proto_error *error)
{
	yyjson_read_err problem = {0};
	yyjson_doc *doc;

	if (text.len == 0) {
		snprintf(error->text, sizeof(error->text), "not valid JSON: no text");
		return NULL;
	}
	/* Without YYJSON_READ_INSITU the text is only read. */
	doc = yyjson_read_opts((char *)(uintptr_t)text.ptr, text.len, YYJSON_READ_NOFLAG,
		NULL, &problem);
	if (!doc) {
		snprintf(error->text, sizeof(error->text),
			"not valid JSON: %s at byte %zu", problem.msg, problem.pos);
		return NULL;
	}
	if (too_deep(doc)) {
		yyjson_doc_free(doc);
		snprintf(error->text, sizeof(error->text), "nested deeper than %d levels",
			PROTO_MAX_NESTING);
		return NULL;
	}
	return doc;
}

/* model_reply.c - what the Claude API answered (model_reply.h). */
#include "workers/llm/claude/model_reply.h"
#include "common/base/alloc.h"
#include "proto/codec/codec.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

static const struct {
	const char *name;
	enum stop_reason reason;
} stop_reasons[] = {
	{"end_turn", STOP_END_TURN},
	{"max_tokens", STOP_MAX_TOKENS},
	{"stop_sequence", STOP_SEQUENCE},
	{"tool_use", STOP_TOOL_USE},
	{"pause_turn", STOP_PAUSE_TURN},
	{"refusal", STOP_REFUSAL},
	{"model_context_window_exceeded", STOP_CONTEXT_EXCEEDED},
};

static enum stop_reason stop_of(yyjson_val *val)
{
	if (!yyjson_is_str(val))
		return STOP_NONE;
	for (size_t i = 0; i < sizeof(stop_reasons) / sizeof(stop_reasons[0]); i++)
		if (yyjson_equals_str(val, stop_reasons[i].name))
			return stop_reasons[i].reason;
	return STOP_OTHER;
}

/* Every count may be missing or null; what is there replaces what was (streams count up).
 */
static void take_usage(struct model_usage *u, yyjson_val *val)
{
	static const struct {
		const char *name;
		size_t offset;
	} counts[] = {
		{"input_tokens", offsetof(struct model_usage, input)},
		{"output_tokens", offsetof(struct model_usage, output)},
		{"cache_creation_input_tokens",
			offsetof(struct model_usage, cache_write)},
		{"cache_read_input_tokens", offsetof(struct model_usage, cache_read)},
	};
	yyjson_val *searches;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		yyjson_val *n = yyjson_obj_get(val, counts[i].name);

		if (yyjson_is_num(n))
			*(int64_t *)(void *)((char *)u + counts[i].offset) =
				(int64_t)yyjson_get_num(n);
	}
	searches = yyjson_obj_get(
		yyjson_obj_get(val, "server_tool_use"), "web_search_requests");
	if (yyjson_is_num(searches))
		u->web_searches = (int64_t)yyjson_get_num(searches);
}

static bool is_tool_result(yyjson_val *block)
{
	static const char end[] = "_tool_result";
	yyjson_val *type = yyjson_obj_get(block, "type");
	size_t n = yyjson_get_len(type), m = sizeof(end) - 1;

	return yyjson_is_str(type) && n >= m &&
	       strcmp(yyjson_get_str(type) + n - m, end) == 0;
}

static void add_text(struct model_reply *r, yyjson_val *text)
{
	if (yyjson_is_str(text))
		buf_add(&r->text, yyjson_get_str(text), yyjson_get_len(text));
}

static void take_error(struct model_reply *r, yyjson_val *root)
{
	const char *type =
		yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "error"), "type"));

	snprintf(r->error_type, sizeof(r->error_type), "%s",
		type ? type : "unknown_error");
}

static int take_message(struct model_reply *r, yyjson_val *root)
{
	yyjson_val *content = yyjson_obj_get(root, "content"), *block;
	AUTO_FREE char *text = NULL;
	size_t i, max, len;

	if (!yyjson_is_arr(content))
		return -EINVAL;
	yyjson_arr_foreach(content, i, max, block)
	{
		if (is_tool_result(block))
			buf_clear(&r->text);
		else if (yyjson_equals_str(yyjson_obj_get(block, "type"), "text"))
			add_text(r, yyjson_obj_get(block, "text"));
	}
	text = yyjson_val_write(content, 0, &len);
	if (text)
		buf_add(&r->content, text, len);
	take_usage(&r->usage, yyjson_obj_get(root, "usage"));
	r->stop = stop_of(yyjson_obj_get(root, "stop_reason"));
	r->complete = true;
	return 0;
}

int model_reply_read(struct model_reply *r, struct str body)
{
	AUTO_DOC *doc = yyjson_read(body.ptr, body.len, 0);
	yyjson_val *root = yyjson_doc_get_root(doc), *type = yyjson_obj_get(root, "type");
	int result = -EINVAL;

	if (yyjson_equals_str(type, "error")) {
		take_error(r, root);
		result = 0;
	} else if (yyjson_equals_str(type, "message")) {
		result = take_message(r, root);
	}
	return result;
}

void model_reply_event(struct model_reply *r, struct str event, struct str data)
{
	AUTO_DOC *doc = yyjson_read(data.ptr, data.len, 0);
	yyjson_val *root = yyjson_doc_get_root(doc), *part;

	if (str_is(event, "message_start")) {
		take_usage(&r->usage,
			yyjson_obj_get(yyjson_obj_get(root, "message"), "usage"));
	} else if (str_is(event, "content_block_start")) {
		part = yyjson_obj_get(root, "content_block");
		if (is_tool_result(part))
			buf_clear(&r->text);
		else if (yyjson_equals_str(yyjson_obj_get(part, "type"), "text"))
			add_text(r, yyjson_obj_get(part, "text"));
	} else if (str_is(event, "content_block_delta")) {
		part = yyjson_obj_get(root, "delta");
		if (yyjson_equals_str(yyjson_obj_get(part, "type"), "text_delta"))
			add_text(r, yyjson_obj_get(part, "text"));
	} else if (str_is(event, "message_delta")) {
		take_usage(&r->usage, yyjson_obj_get(root, "usage"));
		r->stop = stop_of(
			yyjson_obj_get(yyjson_obj_get(root, "delta"), "stop_reason"));
	} else if (str_is(event, "message_stop")) {
		r->complete = true;
	} else if (str_is(event, "error")) {
		take_error(r, root);
	}
}

void model_error_type(struct str body, char out[64])
{
	struct model_reply r = {0};

	if (model_reply_read(&r, body) < 0)
		r.error_type[0] = '\0';
	memcpy(out, r.error_type, sizeof(r.error_type));
	model_reply_fini(&r);
}

bool model_error_is_transient(const char *error_type)
{
	static const char *const passing[] = {
		"overloaded_error", "api_error", "rate_limit_error", "timeout_error"};

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (strcmp(error_type, passing[i]) == 0)
			return true;
	return false;
}

void model_reply_fini(struct model_reply *r)
{
	buf_free(&r->text);
	buf_free(&r->content);
}

/* api_rules.c - what the Claude API refuses (api_rules.h). */
#include "workers/llm/demo/api_rules.h"
#include <stdarg.h>
#include <stdio.h>

#define MAX_TOKENS 64000
#define NESTING_MAX 32

static const char *const request_keys[] = {"model", "max_tokens", "messages", "system",
	"output_config", "tools", "tool_choice", "metadata", "stop_sequences", "stream",
	"thinking", "service_tier", "cache_control", "container", "inference_geo",
	"speed", "diagnostics", NULL};
static const char *const schema_keys[] = {"$schema", "$id", "title", "description",
	"default", "type", "enum", "const", "anyOf", "allOf", "properties", "required",
	"additionalProperties", "items", "minItems", "format", "pattern", NULL};
static const char *const tool_keys[] = {"type", "name", "max_uses", "allowed_domains",
	"blocked_domains", "user_location", "cache_control", NULL};
static const char *const output_keys[] = {"format", "effort", NULL};
static const char *const format_keys[] = {"type", "schema", NULL};

static struct api_refusal refuse(int status, const char *type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static struct api_refusal refuse(int status, const char *type, const char *format, ...)
{
	struct api_refusal r = {.status = status, .type = type};
	va_list args;

	va_start(args, format);
	vsnprintf(r.message, sizeof(r.message), format, args);
	va_end(args);
	return r;
}

#define REFUSE(...) return refuse(400, "invalid_request_error", __VA_ARGS__)

/* The first key of an object that is not in the list, or NULL. */
static const char *unknown_key(yyjson_val *object, const char *const *known)
{
	size_t i, max;
	yyjson_val *key, *value;

	yyjson_obj_foreach(object, i, max, key, value)
	{
		const char *const *name = known;

		while (*name && !yyjson_equals_str(key, *name))
			name++;
		if (!*name)
			return yyjson_get_str(key);
	}
	return NULL;
}

/* ---- response schemas ---- */

static struct api_refusal check_schema(yyjson_val *schema, int depth);

static struct api_refusal check_list(yyjson_val *list, int depth)
{
	size_t i, max;
	yyjson_val *one;

	yyjson_arr_foreach(list, i, max, one)
	{
		struct api_refusal r = check_schema(one, depth + 1);

		if (r.status)
			return r;
	}
	return (struct api_refusal){0};
}

static struct api_refusal check_object(yyjson_val *schema, int depth)
{
	yyjson_val *properties = yyjson_obj_get(schema, "properties"), *key, *value,
		   *name;
	size_t i, max;

	if (!yyjson_is_false(yyjson_obj_get(schema, "additionalProperties")))
		REFUSE("output_config.format.schema: additionalProperties must be false "
		       "for every object");
	yyjson_arr_foreach(yyjson_obj_get(schema, "required"), i, max,
		name) if (!yyjson_obj_getn(properties, yyjson_get_str(name),
				  yyjson_get_len(name)))
		REFUSE("output_config.format.schema: required property '%s' is not "
		       "defined",
			yyjson_get_str(name));
	yyjson_obj_foreach(properties, i, max, key, value)
	{
		struct api_refusal r = check_schema(value, depth + 1);

		if (r.status)
			return r;
	}
	return (struct api_refusal){0};
}

static bool has_type(yyjson_val *schema, const char *type)
{
	yyjson_val *types = yyjson_obj_get(schema, "type"), *one;
	size_t i, max;

	if (yyjson_equals_str(types, type))
		return true;
	yyjson_arr_foreach(
		types, i, max, one) if (yyjson_equals_str(one, type)) return true;
	return false;
}

static struct api_refusal check_schema(yyjson_val *schema, int depth)
{
	struct api_refusal r = {0};
	yyjson_val *least, *items;
	const char *unknown;

	if (!yyjson_is_obj(schema) || depth > NESTING_MAX)
		REFUSE("output_config.format.schema: every schema must be an object");
	unknown = unknown_key(schema, schema_keys);
	if (unknown)
		REFUSE("output_config.format.schema: '%s' is not supported", unknown);
	least = yyjson_obj_get(schema, "minItems");
	if (least && yyjson_get_sint(least) != 0 && yyjson_get_sint(least) != 1)
		REFUSE("output_config.format.schema: minItems other than 0 or 1 is not "
		       "supported");
	items = yyjson_obj_get(schema, "items");
	if (has_type(schema, "array") && !items)
		REFUSE("output_config.format.schema: an array needs items");
	if (has_type(schema, "object") || yyjson_obj_get(schema, "properties"))
		r = check_object(schema, depth);
	if (!r.status && items)
		r = check_schema(items, depth + 1);
	if (!r.status)
		r = check_list(yyjson_obj_get(schema, "anyOf"), depth);
	if (!r.status)
		r = check_list(yyjson_obj_get(schema, "allOf"), depth);
	return r;
}

static struct api_refusal check_output(yyjson_val *body)
{
	yyjson_val *output = yyjson_obj_get(body, "output_config");
	yyjson_val *format = yyjson_obj_get(output, "format");
	const char *unknown = unknown_key(output, output_keys);

	if (!output)
		return (struct api_refusal){0};
	if (!unknown)
		unknown = unknown_key(format, format_keys);
	if (unknown)
		REFUSE("output_config: '%s' is not permitted", unknown);
	if (!format)
		return (struct api_refusal){0};
	if (!yyjson_equals_str(yyjson_obj_get(format, "type"), "json_schema"))
		REFUSE("output_config.format.type: must be json_schema");
	if (yyjson_arr_size(yyjson_obj_get(body, "tools")) > 0)
		REFUSE("Citations are not compatible with structured outputs");
	return check_schema(yyjson_obj_get(format, "schema"), 0);
}

/* ---- the rest of the request ---- */

static struct api_refusal check_messages(yyjson_val *messages)
{
	size_t i, max;
	yyjson_val *one;

	if (yyjson_arr_size(messages) == 0)
		REFUSE("messages: at least one message is required");
	yyjson_arr_foreach(messages, i, max, one)
	{
		yyjson_val *role = yyjson_obj_get(one, "role"),
			   *content = yyjson_obj_get(one, "content");

		if (!yyjson_equals_str(role, "user") &&
			!yyjson_equals_str(role, "assistant"))
			REFUSE("messages.%zu.role: must be user or assistant", i);
		if (yyjson_get_len(content) == 0 && yyjson_arr_size(content) == 0)
			REFUSE("messages.%zu.content: must not be empty", i);
	}
	if (!yyjson_equals_str(
		    yyjson_obj_get(yyjson_arr_get_first(messages), "role"), "user"))
		REFUSE("messages: the first message must be the user's");
	return (struct api_refusal){0};
}

static struct api_refusal check_tools(yyjson_val *tools)
{
	size_t i, max;
	yyjson_val *tool;

	yyjson_arr_foreach(tools, i, max, tool)
	{
		const char *unknown = unknown_key(tool, tool_keys);

		if (!yyjson_equals_str(
			    yyjson_obj_get(tool, "type"), "web_search_20250305") ||
			!yyjson_equals_str(yyjson_obj_get(tool, "name"), "web_search"))
			REFUSE("tools.%zu: only web_search_20250305 is known here", i);
		if (unknown)
			REFUSE("tools.%zu.%s: not permitted", i, unknown);
	}
	return (struct api_refusal){0};
}

static struct api_refusal check_body(yyjson_val *body)
{
	yyjson_val *tokens = yyjson_obj_get(body, "max_tokens");
	const char *unknown;
	struct api_refusal r;

	if (!yyjson_is_obj(body))
		REFUSE("The request body is not a JSON object");
	unknown = unknown_key(body, request_keys);
	if (unknown)
		REFUSE("%s: not permitted", unknown);
	if (yyjson_get_len(yyjson_obj_get(body, "model")) == 0)
		REFUSE("model: required");
	if (!yyjson_is_int(tokens) || yyjson_get_sint(tokens) < 1 ||
		yyjson_get_sint(tokens) > MAX_TOKENS)
		REFUSE("max_tokens: must be a whole number from 1 to %d", MAX_TOKENS);
	r = check_messages(yyjson_obj_get(body, "messages"));
	if (!r.status)
		r = check_tools(yyjson_obj_get(body, "tools"));
	if (!r.status)
		r = check_output(body);
	return r;
}

struct api_refusal api_check(const struct api_headers *headers, yyjson_val *body)
{
	if (!headers->key || !*headers->key)
		return refuse(
			401, "authentication_error", "x-api-key header is required");
	if (!headers->version || strcmp(headers->version, "2023-06-01") != 0)
		REFUSE("anthropic-version: must be 2023-06-01");
	if (!headers->content_type ||
		strncmp(headers->content_type, "application/json", 16) != 0)
		REFUSE("content-type: must be application/json");
	return check_body(body);
}

/* fixture_content.c - the suite's resources, prompts and completions. */
#include "tests/mcp/fixture.h"
#include "workers/gateway/mcp/message.h"
#include <stdlib.h>

void fixture_empty(struct mcp_call *call, void *arg)
{
	(void)arg;
	mcp_call_result(call, STR_LIT("{}"));
}

void fixture_complete(struct mcp_call *call, void *arg)
{
	(void)arg;
	mcp_call_result(call, STR_LIT("{\"completion\":{\"values\":[],\"total\":0,"
				      "\"hasMore\":false}}"));
}

/* ---- resources ---- */

void fixture_resources_list(struct mcp_call *call, void *arg)
{
	(void)arg;
	mcp_call_result(call,
		STR_LIT("{\"resources\":["
			"{\"uri\":\"test://"
			"static-text\",\"name\":\"static-text\",\"description\":"
			"\"Text\",\"mimeType\":\"text/plain\"},"
			"{\"uri\":\"test://"
			"static-binary\",\"name\":\"static-binary\",\"description\":"
			"\"An image\",\"mimeType\":\"image/png\"},"
			"{\"uri\":\"test://"
			"watched-resource\",\"name\":\"watched-resource\","
			"\"description\":\"Watched\",\"mimeType\":\"text/plain\"},"
			"{\"uri\":\"test://"
			"stateless-static-text\",\"name\":\"stateless-static-text\","
			"\"description\":\"Text\",\"mimeType\":\"text/plain\"}]}"));
}

void fixture_templates_list(struct mcp_call *call, void *arg)
{
	(void)arg;
	mcp_call_result(call,
		STR_LIT("{\"resourceTemplates\":[{\"uriTemplate\":\"test://template/{id}/"
			"data\","
			"\"name\":\"template\",\"description\":\"By id\",\"mimeType\":"
			"\"application/json\"}]}"));
}

static void content(struct mcp_call *call, struct str uri, const char *type,
	const char *member, struct str value)
{
	struct buf out = {0};

	buf_add_str(&out, STR_LIT("{\"contents\":[{\"uri\":"));
	buf_add_json_string(&out, uri);
	buf_printf(&out, ",\"mimeType\":\"%s\",\"%s\":", type, member);
	buf_add_json_string(&out, value);
	buf_add_str(&out, STR_LIT("}]}"));
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
}

static void no_resource(struct mcp_call *call, struct str uri)
{
	struct buf data = {0};

	buf_add_str(&data, STR_LIT("{\"uri\":"));
	buf_add_json_string(&data, uri);
	buf_add_char(&data, '}');
	mcp_call_fail_with(call, 200, MCP_INVALID_PARAMS, buf_str(&data),
		"There is no such resource");
	buf_free(&data);
}

void fixture_resources_read(struct mcp_call *call, void *arg)
{
	static const char open[] = "test://template/", close[] = "/data";
	struct str uri = mcp_text(mcp_call_params(call), "uri");
	size_t around = sizeof(open) + sizeof(close) - 2;

	(void)arg;
	if (str_is(uri, "test://static-binary")) {
		content(call, uri, "image/png", "blob", STR_LIT(PNG));
	} else if (str_is(uri, "test://static-text") ||
		   str_is(uri, "test://watched-resource") ||
		   str_is(uri, "test://stateless-static-text")) {
		content(call, uri, "text/plain", "text",
			STR_LIT("This is the content of the static text resource."));
	} else if (uri.len > around && str_starts(uri, open) &&
		   memcmp(uri.ptr + uri.len - sizeof(close) + 1, close,
			   sizeof(close) - 1) == 0) {
		struct str id = {uri.ptr + sizeof(open) - 1, uri.len - around};

		content(call, uri, "application/json", "text",
			arena_printf(mcp_call_arena(call),
				"{\"id\":\"%.*s\",\"templateTest\":true,\"data\":\"Data "
				"for ID: %.*s\"}",
				STR_ARG(id), STR_ARG(id)));
	} else {
		no_resource(call, uri);
	}
}

/* ---- prompts ---- */

void fixture_prompts_list(struct mcp_call *call, void *arg)
{
	struct buf out = {0};

	(void)arg;
	buf_add_str(&out,
		STR_LIT("{\"prompts\":["
			"{\"name\":\"test_simple_prompt\",\"description\":\"Simple\"},"
			"{\"name\":\"test_prompt_with_arguments\",\"description\":"
			"\"Arguments\","
			"\"arguments\":[{\"name\":\"arg1\",\"description\":\"First\","
			"\"required\":true},"
			"{\"name\":\"arg2\",\"description\":\"Second\",\"required\":true}"
			"]},"
			"{\"name\":\"test_prompt_with_embedded_resource\","
			"\"description\":"
			"\"Resource\",\"arguments\":[{\"name\":\"resourceUri\","
			"\"description\":\"URI\","
			"\"required\":true}]},"
			"{\"name\":\"test_prompt_with_image\",\"description\":"
			"\"Image\"}"));
	if (mcp_call_is_modern(call))
		buf_add_str(&out, STR_LIT(",{\"name\":\"test_input_required_result_"
					  "prompt\",\"description\":"
					  "\"Needs input\"}"));
	buf_add_str(&out, STR_LIT("]}"));
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
}

static void prompt_text(struct mcp_call *call, const char *before, struct str text)
{
	struct buf out = {0};

	buf_printf(&out,
		"{\"messages\":[%s{\"role\":\"user\",\"content\":{\"type\":\"text\","
		"\"text\":",
		before);
	buf_add_json_string(&out, text);
	buf_add_str(&out, STR_LIT("}}]}"));
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
}

static void prompt_with_resource(struct mcp_call *call, struct str uri)
{
	struct buf before = {0};

	buf_add_str(&before, STR_LIT("{\"role\":\"user\",\"content\":{\"type\":"
				     "\"resource\",\"resource\":{\"uri\":"));
	buf_add_json_string(&before, uri);
	buf_add_str(&before, STR_LIT(",\"mimeType\":\"text/plain\",\"text\":\"Embedded "
				     "resource content for "
				     "testing.\"}}},"));
	buf_add_char(&before, '\0');
	prompt_text(call, before.data,
		STR_LIT("Please process the embedded resource above."));
	buf_free(&before);
}

void fixture_prompts_get(struct mcp_call *call, void *arg)
{
	yyjson_val *params = mcp_call_params(call);
	yyjson_val *arguments = yyjson_obj_get(params, "arguments");
	struct str name = mcp_text(params, "name");

	(void)arg;
	if (str_is(name, "test_simple_prompt"))
		prompt_text(call, "", STR_LIT("This is a simple prompt for testing."));
	else if (str_is(name, "test_prompt_with_arguments"))
		prompt_text(call, "",
			arena_printf(mcp_call_arena(call),
				"Prompt with arguments: arg1='%.*s', arg2='%.*s'",
				STR_ARG(mcp_text(arguments, "arg1")),
				STR_ARG(mcp_text(arguments, "arg2"))));
	else if (str_is(name, "test_prompt_with_embedded_resource"))
		prompt_with_resource(call, mcp_text(arguments, "resourceUri"));
	else if (str_is(name, "test_prompt_with_image"))
		prompt_text(call,
			"{\"role\":\"user\",\"content\":{\"type\":\"image\",\"data\":"
			"\"" PNG "\",\"mimeType\":\"image/png\"}},",
			STR_LIT("Please analyze the image above."));
	else if (str_is(name, "test_input_required_result_prompt") &&
		 mcp_call_is_modern(call))
		fixture_input_prompt(call);
	else
		mcp_call_fail(call, MCP_INVALID_PARAMS, "There is no such prompt");
}

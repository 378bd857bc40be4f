/* fixture_tools.c - the suite's tools that answer by themselves, or ask the client on
 * their stream. */
#include "tests/mcp/fixture.h"
#include <stdlib.h>

#define STEP_MS 50

/* ---- fixed results ---- */

static void simple_text(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	fixture_text(call, "This is a simple text response for testing.");
}

static void image(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	mcp_call_result(call, STR_LIT("{\"content\":[{\"type\":\"image\",\"data\":\"" PNG
				      "\",\"mimeType\":\"image/png\"}]}"));
}

static void audio(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	mcp_call_result(call, STR_LIT("{\"content\":[{\"type\":\"audio\",\"data\":\"" WAV
				      "\",\"mimeType\":\"audio/wav\"}]}"));
}

static void embedded_resource(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	mcp_call_result(call, STR_LIT("{\"content\":[{\"type\":\"resource\",\"resource\":"
				      "{\"uri\":\"test://"
				      "embedded-resource\",\"mimeType\":\"text/"
				      "plain\",\"text\":\"This is an "
				      "embedded resource content.\"}}]}"));
}

static void mixed_content(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	mcp_call_result(call,
		STR_LIT("{\"content\":[{\"type\":\"text\",\"text\":\"Multiple content "
			"types "
			"test:\"},{\"type\":\"image\",\"data\":\"" PNG
			"\",\"mimeType\":\"image/"
			"png\"},{\"type\":\"resource\",\"resource\":{\"uri\":"
			"\"test://mixed-content-resource\",\"mimeType\":\"application/"
			"json\","
			"\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}]"
			"}"));
}

static void error_handling(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	mcp_call_result(
		call, STR_LIT("{\"content\":[{\"type\":\"text\",\"text\":\"This tool "
			      "intentionally "
			      "returns an error for testing\"}],\"isError\":true}"));
}

static void json_schema(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	fixture_text(call, "JSON Schema 2020-12 tool called");
}

static void missing_capability(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *capabilities = yyjson_obj_get(
		mcp_call_meta(call), "io.modelcontextprotocol/clientCapabilities");

	(void)f;
	(void)arguments;
	if (yyjson_obj_get(capabilities, "sampling"))
		fixture_text(call, "Success");
	else
		mcp_call_fail_with(call, 400, MCP_MISSING_CAPABILITY,
			STR_LIT("{\"requiredCapabilities\":{\"sampling\":{}}}"),
			"The client must be able to sample");
}

static void trigger_tools(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)arguments;
	mcp_server_list_changed(f->mcp, MCP_LIST_TOOLS);
	fixture_text(call, "Tools changed");
}

static void trigger_prompts(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)arguments;
	mcp_server_list_changed(f->mcp, MCP_LIST_PROMPTS);
	fixture_text(call, "Prompts changed");
}

static void logging_tool(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	if (yyjson_obj_get(mcp_call_meta(call), "io.modelcontextprotocol/logLevel"))
		mcp_call_notify(call, "notifications/message",
			STR_LIT("{\"level\":\"info\",\"data\":\"Diagnostic trace\"}"));
	fixture_text(call, "Logging evaluated");
}

/* ---- in steps ---- */

struct steps {
	struct fixture *f;
	struct mcp_call *call;
	int step;
	void (*next)(struct steps *s);
};

static void on_step(evutil_socket_t fd, short what, void *arg)
{
	struct steps *s = arg;

	(void)fd;
	(void)what;
	s->step++;
	s->next(s);
}

static void later(struct steps *s, int ms)
{
	const struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	event_base_once(s->f->base, -1, EV_TIMEOUT, on_step, s, &tv);
}

static void in_steps(
	struct mcp_call *call, struct fixture *f, void (*next)(struct steps *s))
{
	struct steps *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	*s = (struct steps){.f = f, .call = call, .next = next};
	next(s);
}

static void log_step(struct steps *s)
{
	static const char *const texts[] = {"Tool execution started",
		"Tool processing data", "Tool execution completed"};
	struct buf params = {0};

	buf_printf(&params, "{\"level\":\"info\",\"data\":\"%s\"}", texts[s->step]);
	mcp_call_notify(s->call, "notifications/message", buf_str(&params));
	buf_free(&params);
	if (s->step < 2) {
		later(s, STEP_MS);
		return;
	}
	fixture_text(s->call, "Tool with logging executed successfully");
	free(s);
}

static void with_logging(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)arguments;
	in_steps(call, f, log_step);
}

static void progress_step(struct steps *s)
{
	mcp_call_progress(s->call, s->step * 50, 100, STR_LIT("A step of the way"));
	if (s->step < 2) {
		later(s, STEP_MS);
		return;
	}
	fixture_text(s->call, "Done");
	free(s);
}

static void with_progress(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)arguments;
	in_steps(call, f, progress_step);
}

static void reconnection_step(struct steps *s)
{
	if (s->step == 0) {
		mcp_call_takes_long(s->call);
		mcp_call_break_off(s->call);
		later(s, 2 * STEP_MS);
		return;
	}
	fixture_text(s->call, "Reconnection test completed successfully");
	free(s);
}

static void reconnection(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)arguments;
	in_steps(call, f, reconnection_step);
}

/* Answers after `seconds`, silently: what the library does about long calls can be
 * watched. */
static void wait_step(struct steps *s)
{
	if (s->step == 0)
		return;
	fixture_text(s->call, "Waited");
	free(s);
}

static void wait_tool(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	int seconds = (int)yyjson_get_int(yyjson_obj_get(arguments, "seconds"));
	struct steps *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	*s = (struct steps){.f = f, .call = call, .next = wait_step};
	later(s, seconds * 1000);
}

static void streaming_step(struct steps *s)
{
	mcp_call_progress(s->call, 50, 100, (struct str){NULL, 0});
	fixture_text(s->call, "Streaming complete");
	free(s);
}

static void streaming(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)arguments;
	mcp_call_takes_long(call);
	in_steps(call, f, streaming_step);
}

/* ---- asking the client ---- */

static void on_sampled(void *arg, yyjson_val *result, yyjson_val *error)
{
	yyjson_val *text = yyjson_obj_get(yyjson_obj_get(result, "content"), "text");

	(void)error;
	fixture_text(
		arg, "LLM response: %s", text ? yyjson_get_str(text) : "No response");
}

static void sampling(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *prompt = yyjson_obj_get(arguments, "prompt");
	struct buf params = {0};

	(void)f;
	buf_add_str(&params, STR_LIT("{\"maxTokens\":100,\"messages\":[{\"role\":"
				     "\"user\",\"content\":{"
				     "\"type\":\"text\",\"text\":"));
	buf_add_json_string(&params, str_of(prompt ? yyjson_get_str(prompt) : ""));
	buf_add_str(&params, STR_LIT("}}]}"));
	if (!mcp_call_ask(
		    call, "sampling/createMessage", buf_str(&params), on_sampled, call))
		fixture_text(call, "Sampling not supported");
	buf_free(&params);
}

static void on_elicited(void *arg, yyjson_val *result, yyjson_val *error)
{
	const char *action = yyjson_get_str(yyjson_obj_get(result, "action"));
	char *content = yyjson_val_write(yyjson_obj_get(result, "content"), 0, NULL);

	(void)error;
	fixture_text(arg, "User response: action=%s, content=%s",
		action ? action : "none", content ? content : "{}");
	free(content);
}

static void ask_form(struct mcp_call *call, struct str message, const char *schema)
{
	struct buf params = {0};

	buf_add_str(&params, STR_LIT("{\"message\":"));
	buf_add_json_string(&params, message);
	buf_printf(&params, ",\"requestedSchema\":%s}", schema);
	if (!mcp_call_ask(
		    call, "elicitation/create", buf_str(&params), on_elicited, call))
		fixture_text(call, "Elicitation not supported");
	buf_free(&params);
}

static void elicitation(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *message = yyjson_obj_get(arguments, "message");

	(void)f;
	ask_form(call, str_of(message ? yyjson_get_str(message) : "?"),
		"{\"type\":\"object\",\"properties\":{\"response\":{\"type\":\"string\","
		"\"description\":\"User's response\"}},\"required\":[\"response\"]}");
}

static void elicitation_defaults(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	ask_form(call, STR_LIT("Please review and update the form fields with defaults"),
		"{\"type\":\"object\",\"properties\":{"
		"\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
		"\"age\":{\"type\":\"integer\",\"default\":30},"
		"\"score\":{\"type\":\"number\",\"default\":95.5},"
		"\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\","
		"\"pending\"],"
		"\"default\":\"active\"},"
		"\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}");
}

static void elicitation_enums(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	ask_form(call, STR_LIT("Please select options from the enum fields"),
		"{\"type\":\"object\",\"properties\":{"
		"\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\","
		"\"option2\","
		"\"option3\"]},"
		"\"titledSingle\":{\"type\":\"string\",\"oneOf\":["
		"{\"const\":\"value1\",\"title\":\"First Option\"},"
		"{\"const\":\"value2\",\"title\":\"Second Option\"},"
		"{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
		"\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\","
		"\"opt3\"],"
		"\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
		"\"untitledMulti\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
		"\"items\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\","
		"\"option3\"]}},"
		"\"titledMulti\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
		"\"items\":{\"anyOf\":[{\"const\":\"value1\",\"title\":\"First Choice\"},"
		"{\"const\":\"value2\",\"title\":\"Second Choice\"},"
		"{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}},\"required\":[]}");
}

/* ---- the table ---- */

#define STRING_ARGUMENT(name)                                                            \
	"{\"type\":\"object\",\"properties\":{\"" name                                   \
	"\":{\"type\":\"string\"}},\"required\":[\"" name "\"]}"

static const char schema_2020_12[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/"
	"schema\",\"type\":\"object\","
	"\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\","
	"\"properties\":{"
	"\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
	"\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/"
	"address\"},"
	"\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
	"\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
	"\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
	"\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":["
	"\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":["
	"\"email\"]},"
	"\"additionalProperties\":false}";

const struct fixture_tool fixture_plain_tools[] = {
	{"test_simple_text", "Simple text", NULL, false, simple_text},
	{"test_image_content", "An image", NULL, false, image},
	{"test_audio_content", "Audio", NULL, false, audio},
	{"test_embedded_resource", "An embedded resource", NULL, false,
		embedded_resource},
	{"test_multiple_content_types", "Several kinds of content", NULL, false,
		mixed_content},
	{"test_tool_with_logging", "Logs while it runs", NULL, false, with_logging},
	{"test_tool_with_progress", "Reports progress", NULL, false, with_progress},
	{"test_error_handling", "Fails", NULL, false, error_handling},
	{"test_reconnection", "Breaks its stream off", NULL, false, reconnection},
	{"test_sampling", "Asks the client's model", STRING_ARGUMENT("prompt"), false,
		sampling},
	{"test_elicitation", "Asks the user", STRING_ARGUMENT("message"), false,
		elicitation},
	{"test_elicitation_sep1034_defaults", "Asks with defaults", NULL, false,
		elicitation_defaults},
	{"test_elicitation_sep1330_enums", "Asks with choices", NULL, false,
		elicitation_enums},
	{"json_schema_2020_12_tool", "A rich schema", schema_2020_12, false, json_schema},
	{"test_wait", "Answers after some seconds",
		"{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":\"integer\"}}"
		"}",
		false, wait_tool},
	{"test_missing_capability", "Needs sampling", NULL, true, missing_capability},
	{"test_streaming_elicitation", "Streams", NULL, true, streaming},
	{"test_logging_tool", "Logs when asked to", NULL, true, logging_tool},
	{"test_trigger_tool_change", "Changes the tools", NULL, false, trigger_tools},
	{"test_trigger_prompt_change", "Changes the prompts", NULL, false,
		trigger_prompts},
};
const size_t fixture_plain_tool_count =
	sizeof(fixture_plain_tools) / sizeof(fixture_plain_tools[0]);

/*
 * fixture_inputs.c - the suite's tools of the modern era that need input: they answer
 * with resultType input_required, and are called again with inputResponses and the
 * requestState they gave.
 */
#include "common/base/ids.h"
#include "tests/mcp/fixture.h"
#include "workers/gateway/mcp/message.h"
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

#define ASK(message, member, type)                                                       \
	"{\"method\":\"elicitation/"                                                     \
	"create\",\"params\":{\"mode\":\"form\",\"message\":\"" message                  \
	"\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" member          \
	"\":{\"type\":\"" type "\"}},\"required\":[\"" member "\"]}}}"
#define SAMPLE(text)                                                                     \
	"{\"method\":\"sampling/"                                                        \
	"createMessage\",\"params\":{\"messages\":[{\"role\":\"user\",\"content\":"      \
	"{\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":100}}"
#define ROOTS "{\"method\":\"roots/list\",\"params\":{}}"
#define NAME_ASKED "\"user_name\":" ASK("What is your name?", "name", "string")
#define GREETING_ASKED "\"greeting\":" SAMPLE("Generate a greeting")
#define ROOTS_ASKED "\"client_roots\":" ROOTS

static yyjson_val *response(struct mcp_call *call, const char *name)
{
	yyjson_val *responses = yyjson_obj_get(mcp_call_params(call), "inputResponses");

	return yyjson_obj_get(responses, name);
}

static struct str state_of(struct mcp_call *call)
{
	return mcp_text(mcp_call_params(call), "requestState");
}

/* A member of the content of a form that was filled in. */
static yyjson_val *filled(struct mcp_call *call, const char *name, const char *member)
{
	return yyjson_obj_get(yyjson_obj_get(response(call, name), "content"), member);
}

static const char *text_or(yyjson_val *val, const char *otherwise)
{
	return yyjson_is_str(val) ? yyjson_get_str(val) : otherwise;
}

/* `state` may be absent. */
static void require(struct mcp_call *call, const char *requests, struct str state)
{
	struct buf out = {0};

	buf_printf(&out, "{\"resultType\":\"input_required\",\"inputRequests\":{%s}",
		requests);
	if (state.ptr) {
		buf_add_str(&out, STR_LIT(",\"requestState\":"));
		buf_add_json_string(&out, state);
	}
	buf_add_char(&out, '}');
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
}

/* ---- states that cannot be forged: <claim>.<hex of an HMAC> ---- */

static struct str sign(struct mcp_call *call, const char *claim)
{
	static unsigned char key[32];
	static bool made;
	unsigned char mac[EVP_MAX_MD_SIZE];
	char hex[2 * 32 + 1];
	unsigned len = 0;

	if (!made)
		random_bytes(key, sizeof(key));
	made = true;
	HMAC(EVP_sha256(), key, sizeof(key), (const unsigned char *)claim, strlen(claim),
		mac, &len);
	for (unsigned i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", mac[i]);
	return arena_printf(mcp_call_arena(call), "%s.%s", claim, hex);
}

static bool verify(struct mcp_call *call, struct str state, const char *claim)
{
	return str_eq(state, sign(call, claim));
}

/* ---- tools ---- */

static void elicitation(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *name = filled(call, "user_name", "name");

	(void)f;
	(void)arguments;
	if (yyjson_is_str(name))
		fixture_text(call, "Hello, %s!", yyjson_get_str(name));
	else
		require(call, NAME_ASKED, (struct str){NULL, 0});
}

static void sampling(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *answer = response(call, "sample_request");

	(void)f;
	(void)arguments;
	if (answer)
		fixture_text(call, "Sampling result: %s",
			text_or(yyjson_obj_get(yyjson_obj_get(answer, "content"), "text"),
				"no response"));
	else
		require(call,
			"\"sample_request\":" SAMPLE("What is the capital of France?"),
			(struct str){NULL, 0});
}

static void list_roots(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *answer = response(call, "roots_request");

	(void)f;
	(void)arguments;
	if (answer)
		fixture_text(call, "Found %zu root(s)",
			yyjson_arr_size(yyjson_obj_get(answer, "roots")));
	else
		require(call, "\"roots_request\":" ROOTS, (struct str){NULL, 0});
}

static void request_state(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	(void)f;
	(void)arguments;
	if (verify(call, state_of(call), "request-state") &&
		yyjson_is_true(filled(call, "confirm", "ok")))
		fixture_text(call, "state-ok: requestState validated");
	else
		require(call, "\"confirm\":" ASK("Please confirm", "ok", "boolean"),
			sign(call, "request-state"));
}

static void multiple_inputs(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *roots = response(call, "client_roots"),
		   *greeting = response(call, "greeting");

	(void)f;
	(void)arguments;
	if (verify(call, state_of(call), "multiple-inputs") && roots && greeting &&
		response(call, "user_name"))
		fixture_text(call, "Name: %s; Greeting: %s; Roots: %zu",
			text_or(filled(call, "user_name", "name"), "unknown"),
			text_or(yyjson_obj_get(
					yyjson_obj_get(greeting, "content"), "text"),
				"Hello"),
			yyjson_arr_size(yyjson_obj_get(roots, "roots")));
	else
		require(call, NAME_ASKED "," GREETING_ASKED "," ROOTS_ASKED,
			sign(call, "multiple-inputs"));
}

static void multi_round(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	struct str state = state_of(call);

	(void)f;
	(void)arguments;
	if (verify(call, state, "round-2") && response(call, "step2"))
		fixture_text(call, "Multi-round complete, favourite colour %s",
			text_or(filled(call, "step2", "color"), "unknown"));
	else if (verify(call, state, "round-1") && response(call, "step1"))
		require(call,
			"\"step2\":" ASK("Step 2: What is your favorite color?", "color",
				"string"),
			sign(call, "round-2"));
	else
		require(call,
			"\"step1\":" ASK("Step 1: What is your name?", "name", "string"),
			sign(call, "round-1"));
}

static void tampered_state(
	struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	struct str state = state_of(call);

	(void)f;
	(void)arguments;
	if (state.ptr && !verify(call, state, "tamper-test"))
		mcp_call_fail(
			call, MCP_INVALID_PARAMS, "requestState integrity check failed");
	else if (state.ptr && response(call, "confirm"))
		fixture_text(call, "integrity-ok: state verified");
	else
		require(call, "\"confirm\":" ASK("Please confirm", "ok", "boolean"),
			sign(call, "tamper-test"));
}

static void capabilities(struct mcp_call *call, struct fixture *f, yyjson_val *arguments)
{
	yyjson_val *can = yyjson_obj_get(
		mcp_call_meta(call), "io.modelcontextprotocol/clientCapabilities");
	bool elicit = yyjson_obj_get(can, "elicitation"),
	     sample = yyjson_obj_get(can, "sampling");
	struct str requests;

	(void)f;
	(void)arguments;
	if (yyjson_obj_size(yyjson_obj_get(mcp_call_params(call), "inputResponses")) >
		0) {
		fixture_text(call, "capabilities-ok");
		return;
	}
	if (!elicit && !sample) {
		fixture_text(call, "No supported capabilities declared");
		return;
	}
	requests = arena_printf(mcp_call_arena(call), "%s%s%s",
		elicit ? "\"elicit_input\":" ASK("Elicitation input", "value", "string")
		       : "",
		elicit && sample ? "," : "",
		sample ? "\"sample_input\":" SAMPLE("Sample request") : "");
	require(call, arena_cstr(mcp_call_arena(call), requests),
		sign(call, "capabilities"));
}

void fixture_input_prompt(struct mcp_call *call)
{
	yyjson_val *context = filled(call, "user_context", "context");
	struct buf out = {0};

	if (!yyjson_is_str(context)) {
		require(call,
			"\"user_context\":" ASK("What context should the prompt use?",
				"context", "string"),
			(struct str){NULL, 0});
		return;
	}
	buf_add_str(&out, STR_LIT("{\"messages\":[{\"role\":\"user\",\"content\":{"
				  "\"type\":\"text\",\"text\":"));
	buf_add_json_string(
		&out, arena_printf(mcp_call_arena(call), "Prompt with context: %s",
			      yyjson_get_str(context)));
	buf_add_str(&out, STR_LIT("}}]}"));
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
}

const struct fixture_tool fixture_input_tools[] = {
	{"test_input_required_result_elicitation", "Asks the user", NULL, true,
		elicitation},
	{"test_input_required_result_sampling", "Asks the client's model", NULL, true,
		sampling},
	{"test_input_required_result_list_roots", "Asks for the roots", NULL, true,
		list_roots},
	{"test_input_required_result_request_state", "Gives a state", NULL, true,
		request_state},
	{"test_input_required_result_multiple_inputs", "Asks for several things", NULL,
		true, multiple_inputs},
	{"test_input_required_result_multi_round", "Asks twice", NULL, true, multi_round},
	{"test_input_required_result_tampered_state", "Checks its state", NULL, true,
		tampered_state},
	{"test_input_required_result_capabilities", "Asks what the client can", NULL,
		true, capabilities},
};
const size_t fixture_input_tool_count =
	sizeof(fixture_input_tools) / sizeof(fixture_input_tools[0]);

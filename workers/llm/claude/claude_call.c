/*
 * claude_call.c - one call to Claude (claude_call.h).
 *
 * Layers, from the inside: attempt (one HTTP request), exchange (attempts until one
 * counts, with retries and another model), call (one exchange, or search and format), and
 * around it budget and log.
 */
#include "workers/llm/claude/claude_call.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/worker/metrics.h"
#include "proto/codec/messages.h"
#include "workers/llm/claude/model_reply.h"
#include "workers/llm/claude/paid_work.h"
#include "workers/llm/claude/retry.h"
#include "workers/llm/claude/sse.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#define ANSWER_MAX_BYTES (10u * 1024 * 1024)
#define PAUSES_MAX 5
#define SEARCHES_MAX 5
/* Of the SHA-256, as many as tell one input from another in the log. */
#define INPUT_HASH_BYTES 8

/* Shortest prompt that the API caches, in tokens, by tier; about four bytes make a token.
 */
static const size_t cacheable_tokens[MODEL_TIERS] = {
	[MODEL_HAIKU] = 4096, [MODEL_SONNET] = 1024};

static const struct {
	const char *name;
	bool transient;
	const char *text;
} outcomes[] = {
#define CALL_OUTCOME(symbol, name_, transient_, text_) {name_, transient_, text_},
#include "workers/llm/claude/call_outcomes.def"
#undef CALL_OUTCOME
};

/* One call while it runs. */
struct call {
	struct flow *flow;
	struct call_client *client;
	const struct call_request *request;
	const struct call_info *info;
	struct str system; /* with everything filled in */
	struct str user;   /* the JSON of the message */
	struct str answer; /* its text, once it has the form that was asked for */
	const char *model; /* the one that is asked */
	struct model_usage usage;
	enum call_outcome outcome;
	int64_t asked_ms; /* for so long the API will not be asked; 0 for any time */
};

void call_client_init(struct call_client *c)
{
	pthread_mutex_init(&c->lock, NULL);
}

void call_client_reload(struct call_client *c)
{
	pthread_mutex_lock(&c->lock);
	c->gone = (struct models_gone){0};
	pthread_mutex_unlock(&c->lock);
}

static const struct settings *settings_of(const struct flow *flow)
{
	return flow->snapshot->settings;
}

/* With the client's lock held. */
static void choose_model(struct call *c)
{
	const struct settings *settings = settings_of(c->flow);
	const char *const preferred[MODEL_TIERS] = {[MODEL_HAIKU] = settings->model_haiku,
		[MODEL_SONNET] = settings->model_sonnet};
	enum model_tier tier = c->info->tier;

	c->model = model_choose(&c->client->gone, tier, preferred[tier], clock_wall());
}

/* ---- the request's body ---- */

static void add_key(struct buf *b, const char *key)
{
	buf_printf(b, ",\"%s\":", key);
}

static void add_system(struct buf *b, const struct call *c)
{
	add_key(b, "system");
	if (c->system.len / 4 < cacheable_tokens[c->info->tier]) {
		buf_add_json_string(b, c->system);
		return;
	}
	buf_add_str(b, STR_LIT("[{\"type\":\"text\",\"text\":"));
	buf_add_json_string(b, c->system);
	buf_add_str(b, STR_LIT(",\"cache_control\":{\"type\":\"ephemeral\"}}]"));
}

static void add_head(struct buf *b, const struct call *c)
{
	buf_add_str(b, STR_LIT("{\"model\":"));
	buf_add_json_string(b, str_of(c->model));
	buf_printf(b, ",\"max_tokens\":%d", CALL_MAX_TOKENS);
	add_system(b, c);
}

/* A request for the answer in its final form; `user` is the text of the one user turn. */
static void build_format_request(struct buf *b, const struct call *c, struct str user)
{
	add_head(b, c);
	buf_add_str(b, STR_LIT(",\"messages\":[{\"role\":\"user\",\"content\":"));
	buf_add_json_string(b, user);
	buf_add_str(b, STR_LIT("}],\"output_config\":{\"format\":{\"type\":\"json_"
			       "schema\",\"schema\":"));
	proto_schema_for_model(c->info->response(), b);
	buf_add_str(b, STR_LIT("}},\"stream\":true}"));
}

/* A request that searches the web; `paused` are the contents of turns that were paused so
 * far. */
static void build_search_request(
	struct buf *b, const struct call *c, const struct buf *paused, size_t count)
{
	add_head(b, c);
	buf_add_str(b, STR_LIT(",\"messages\":[{\"role\":\"user\",\"content\":"));
	buf_add_json_string(b, c->user);
	buf_add_char(b, '}');
	for (size_t i = 0; i < count; i++) {
		buf_add_str(b, STR_LIT(",{\"role\":\"assistant\",\"content\":"));
		buf_add_str(b, buf_str(&paused[i]));
		buf_add_char(b, '}');
	}
	buf_printf(b,
		"],\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\","
		"\"max_uses\":%d}]}",
		SEARCHES_MAX);
}

/* ---- one attempt ---- */

struct stream {
	struct sse sse;
	struct model_reply *reply;
};

static void on_event(void *arg, struct str event, struct str data)
{
	model_reply_event(arg, event, data);
}

static void on_stream(void *arg, struct str piece)
{
	struct stream *s = arg;

	sse_feed(&s->sse, piece, on_event, s->reply);
}

static void perform(struct call *c, struct str body, struct model_reply *reply,
	struct http_response *response)
{
	const struct settings *settings = settings_of(c->flow);
	struct arena *arena = &c->flow->arena;
	struct stream stream = {.reply = reply};
	const char *headers[] = {
		"content-type: application/json",
		arena_printf(arena, "x-api-key: %s", settings->anthropic_api_key).ptr,
		arena_printf(arena, "anthropic-version: %s", settings->anthropic_version)
			.ptr,
		NULL,
	};
	struct http_request request = {
		.method = "POST",
		.url = arena_printf(arena, "%s/v1/messages", settings->anthropic_base_url)
			       .ptr,
		.headers = headers,
		.body = body,
		.timeout_ms = settings->llm_timeout_ms,
		.max_bytes = ANSWER_MAX_BYTES,
		.on_stream = on_stream,
		.arg = &stream,
		.cancelled = flow_cancelled(c->flow),
	};

	http_perform(c->flow->http, &request, response);
	sse_fini(&stream.sse);
}

/* Reads what came back into `reply` and says how the attempt ended. */
static struct attempt judge(struct model_reply *reply, const struct http_response *r)
{
	struct attempt a = {.status = r->status,
		.should_retry = buf_str(&r->should_retry),
		.retry_after = buf_str(&r->retry_after),
		.retry_after_ms = buf_str(&r->retry_after_ms)};

	if (r->outcome == HTTP_NO_ANSWER ||
		(r->outcome == HTTP_TIMEOUT && r->status == 0))
		a.status = 0;
	else if (r->outcome != HTTP_ANSWERED)
		a.cut = true;
	else if (r->status != 200)
		model_error_type(buf_str(&r->body), reply->error_type);
	else if (!r->streamed && model_reply_read(reply, buf_str(&r->body)) < 0)
		a.cut = true; /* a body that is no message: HTML of a proxy, or the half
				 of one */
	else if (reply->error_type[0])
		a.overloaded = model_error_is_transient(reply->error_type);
	else if (!reply->complete)
		a.cut = true;
	return a;
}

static enum call_outcome outcome_of(const struct attempt *a,
	const struct http_response *r, const struct model_reply *reply)
{
	if (r->outcome == HTTP_CANCELLED)
		return CALL_OUTCOME_CANCELLED;
	if (r->outcome == HTTP_TIMEOUT)
		return CALL_OUTCOME_TIMEOUT;
	if (r->outcome == HTTP_UNTRUSTED)
		return CALL_OUTCOME_UNTRUSTED;
	if (r->outcome == HTTP_TOO_BIG)
		return CALL_OUTCOME_INVALID_OUTPUT;
	if (a->status == 0 || a->cut)
		return CALL_OUTCOME_NETWORK;
	if (a->status == 401 || a->status == 403)
		return CALL_OUTCOME_AUTH;
	if (a->status == 429)
		return CALL_OUTCOME_RATE_LIMIT;
	if (a->status >= 500 || a->status == 408 || a->status == 409 || a->overloaded)
		return CALL_OUTCOME_SERVER;
	if (a->status != 200 || reply->error_type[0])
		return CALL_OUTCOME_BAD_REQUEST;
	return CALL_OUTCOME_OK;
}

/* ---- one exchange ---- */

/* True when the API says that the model is gone and another one is asked from now on. */
static bool change_model(
	struct call *c, const struct attempt *a, const struct model_reply *reply)
{
	enum model_tier tier = c->info->tier;
	const char *old = c->model;
	bool news;

	if (a->status != 404 || strcmp(reply->error_type, "not_found_error") != 0)
		return false;
	pthread_mutex_lock(&c->client->lock);
	news = model_gone(&c->client->gone, tier, old);
	choose_model(c);
	pthread_mutex_unlock(&c->client->lock);
	if (news && strcmp(old, c->model) != 0)
		log_warn("model is gone, the next one is used; set the setting to choose "
			 "another",
			"model", "%s", old, "next", "%s", c->model, "setting", "%s",
			model_settings[tier], NULL);
	return strcmp(old, c->model) != 0;
}

static double chance(void)
{
	unsigned value;

	random_bytes(&value, sizeof(value));
	return (double)value / 4294967296.0;
}

typedef void build_fn(struct buf *body, const struct call *c, const void *arg);

/* Asks until an answer counts or there is no hope. The reply is the caller's to free. */
static enum call_outcome exchange(
	struct call *c, build_fn *build, const void *arg, struct model_reply *reply)
{
	const struct settings *settings = settings_of(c->flow);
	int repeats = 0;

	for (int tries = 0; tries < 32;
		tries++) { /* every turn ends it, counts a repeat or drops a model */
		struct http_response response = {0};
		enum call_outcome outcome;
		struct buf body = {0};
		struct attempt a;
		int64_t wait;
		bool other;

		build(&body, c, arg);
		perform(c, buf_str(&body), reply, &response);
		buf_free(&body);
		a = judge(reply, &response);
		outcome = outcome_of(&a, &response, reply);
		other = outcome == CALL_OUTCOME_BAD_REQUEST && change_model(c, &a, reply);
		wait = other ? 0
		       : outcome == CALL_OUTCOME_UNTRUSTED
			       ? -1
			       : retry_wait_ms(&a, repeats,
					 (int)settings->llm_max_retries,
					 settings->llm_retry_base_ms, chance(),
					 clock_wall());
		c->asked_ms = outcome == CALL_OUTCOME_OK
				      ? 0
				      : retry_asked_too_long_ms(&a, clock_wall());
		if (outcome != CALL_OUTCOME_OK)
			log_warn("request to Claude failed", "call", "%s", c->info->name,
				"status", "%d", response.status, "error", "%s",
				reply->error_type[0] ? reply->error_type
						     : response.detail,
				"wait_ms", "%lld", (long long)wait, NULL);
		http_response_fini(&response);
		if (outcome == CALL_OUTCOME_OK || outcome == CALL_OUTCOME_CANCELLED ||
			wait < 0)
			return outcome;
		model_reply_fini(reply);
		*reply = (struct model_reply){0};
		repeats += !other;
		flow_sleep_ms(c->flow, wait);
		if (*flow_cancelled(c->flow))
			return CALL_OUTCOME_CANCELLED;
	}
	return CALL_OUTCOME_SERVER;
}

static enum call_outcome outcome_of_stop(enum stop_reason stop)
{
	switch (stop) {
	case STOP_REFUSAL:
		return CALL_OUTCOME_REFUSAL;
	case STOP_MAX_TOKENS:
		return CALL_OUTCOME_MAX_TOKENS;
	case STOP_CONTEXT_EXCEEDED:
		return CALL_OUTCOME_CONTEXT;
	case STOP_NONE:
	case STOP_END_TURN:
	case STOP_SEQUENCE:
	case STOP_TOOL_USE:
	case STOP_PAUSE_TURN:
	case STOP_OTHER:
		break; /* the text decides (P7.8) */
	}
	return CALL_OUTCOME_OK;
}

/* ---- search, format, read ---- */

struct paused_turns {
	struct buf contents[PAUSES_MAX];
	size_t count;
};

static void build_search(struct buf *body, const struct call *c, const void *arg)
{
	const struct paused_turns *turns = arg;

	build_search_request(body, c, turns->contents, turns->count);
}

/* Searches the web; what was found is appended to `found`, also what was said before a
 * pause. */
static enum call_outcome search(struct call *c, struct buf *found)
{
	struct paused_turns turns = {0};
	enum call_outcome outcome;
	bool paused;

	do {
		struct model_reply reply = {0};

		outcome = exchange(c, build_search, &turns, &reply);
		model_usage_add(&c->usage, &reply.usage);
		if (outcome == CALL_OUTCOME_OK)
			outcome = outcome_of_stop(reply.stop);
		paused = outcome == CALL_OUTCOME_OK && reply.stop == STOP_PAUSE_TURN;
		if (paused && turns.count == PAUSES_MAX) {
			outcome = CALL_OUTCOME_UNFINISHED;
			paused = false;
		}
		if (paused)
			buf_add_str(
				&turns.contents[turns.count++], buf_str(&reply.content));
		buf_add_str(found, buf_str(&reply.text));
		model_reply_fini(&reply);
	} while (paused);
	for (size_t i = 0; i < turns.count; i++)
		buf_free(&turns.contents[i]);
	return outcome;
}

static void build_format(struct buf *body, const struct call *c, const void *arg)
{
	build_format_request(body, c, *(const struct str *)arg);
}

/* The first request of the call: model, prompt and message, and what form is asked for. */
static struct str first_request(const struct call *c)
{
	AUTO_BUF body = {0};

	if (c->info->searches)
		build_search_request(&body, c, NULL, 0);
	else
		build_format_request(&body, c, c->user);
	return arena_str(&c->flow->arena, buf_str(&body));
}

/* Parses and checks the text of an answer (P7.1). */
static enum call_outcome read_response(
	struct call *c, struct str text, const void **response)
{
	const struct type *type = c->info->response();
	struct proto_error error = {""};
	yyjson_doc *doc = proto_parse(arena_str(&c->flow->arena, text), &error);
	void *out = arena_alloc(&c->flow->arena, type->size);
	int bad = -1;

	if (doc) {
		/* Strings point into the document: it lives as long as the flow. */
		flow_keep_document(c->flow, doc);
		bad = proto_decode(type, yyjson_doc_get_root(doc), "answer",
			DECODE_LENIENT, &c->flow->arena, out, &error);
	}
	if (bad) {
		log_warn("Claude's answer does not have the required form", "call", "%s",
			c->info->name, "problem", "%s", error.text, NULL);
		return CALL_OUTCOME_INVALID_OUTPUT;
	}
	*response = out;
	return CALL_OUTCOME_OK;
}

static enum call_outcome run(struct call *c, const void **response)
{
	struct model_reply reply = {0};
	struct buf found = {0};
	enum call_outcome outcome = CALL_OUTCOME_OK;
	struct str user = c->user;

	if (c->info->searches) {
		outcome = search(c, &found);
		user = arena_printf(&c->flow->arena,
			"Put the following findings into the form that is asked for. "
			"Leave out nothing that "
			"has an address, and add nothing.\n\n%.*s",
			STR_ARG(buf_str(&found)));
		buf_free(&found);
	}
	if (outcome == CALL_OUTCOME_OK) {
		outcome = exchange(c, build_format, &user, &reply);
		model_usage_add(&c->usage, &reply.usage);
	}
	if (outcome == CALL_OUTCOME_OK)
		outcome = outcome_of_stop(reply.stop);
	if (outcome == CALL_OUTCOME_OK)
		outcome = read_response(c, buf_str(&reply.text), response);
	if (outcome == CALL_OUTCOME_OK)
		c->answer = arena_str(&c->flow->arena, buf_str(&reply.text));
	model_reply_fini(&reply);
	return outcome;
}

/* ---- budget and log ---- */

static bool within_budget(struct call *c)
{
	const struct settings *s = settings_of(c->flow);
	char now[WALL_ISO_SIZE], day[WALL_ISO_SIZE];
	struct spending_query query = {.session_id = c->request->session_id};
	struct proto_error error;
	struct bus_reply reply;
	struct spending spent;

	if (s->budget_session_usd <= 0 && s->budget_day_usd <= 0)
		return true;
	wall_iso(clock_wall(), now);
	snprintf(day, sizeof(day), "%.10sT00:00:00.000Z", now);
	query.day_start = str_of(day);
	reply = flow_call(c->flow, METHOD_API_CALL_SPENDING, &query);
	/* Not knowing is no leave to spend. */
	if (reply.status != BUS_OK || bus_reply_decode(METHOD_API_CALL_SPENDING, &reply,
					      &c->flow->arena, &spent, &error) < 0)
		return false;
	return (s->budget_session_usd <= 0 || spent.session < s->budget_session_usd) &&
	       (s->budget_day_usd <= 0 || spent.day < s->budget_day_usd);
}

static struct str hash_of(struct str text, struct arena *arena)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	char digits[2 * INPUT_HASH_BYTES + 1];
	unsigned size = 0;

	if (EVP_Digest(text.ptr, text.len, digest, &size, EVP_sha256(), NULL) != 1)
		abort();
	hex_print(digits, digest, INPUT_HASH_BYTES);
	return arena_str(arena, str_of(digits));
}

/* The row as it stands while the call runs: a failure, until it is known to have
 * succeeded. */
static struct api_call row_of(struct call *c)
{
	char *now = arena_alloc(&c->flow->arena, WALL_ISO_SIZE);

	wall_iso(clock_wall(), now);
	return (struct api_call){.session_id = c->request->session_id,
		.call_type = str_of(c->info->name),
		.model = str_of(c->model),
		.input_hash = hash_of(c->user, &c->flow->arena),
		.latency_ms = API_CALL_FAILED,
		.has_latency_ms = true,
		.has_input_tokens = true,
		.has_output_tokens = true,
		.has_cost_estimate = true,
		.created_at = str_of(now)};
}

/* For /metrics. */
static void count_call(struct call *c, const struct api_call *row, int64_t took_ms)
{
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "kind", c->info->name);
	metric_label(&labels, "model", c->model);
	metric_label(&labels, "outcome", outcomes[c->outcome].name);
	metric_add(METRIC_CLAUDE_CALLS, &labels, 1);
	metric_add(METRIC_CLAUDE_INPUT_TOKENS, &labels, (double)row->input_tokens);
	metric_add(METRIC_CLAUDE_OUTPUT_TOKENS, &labels, (double)row->output_tokens);
	metric_add(METRIC_CLAUDE_COST, &labels, row->cost_estimate);
	metric_observe(METRIC_CLAUDE_CALL_SECONDS, &labels, (double)took_ms / 1000);
}

static void log_call(
	struct call *c, struct str key, struct api_call *row, int64_t latency_ms)
{
	struct bus_reply reply;

	row->model = str_of(c->model);
	if (c->outcome == CALL_OUTCOME_OK)
		row->latency_ms = latency_ms;
	else if (c->outcome == CALL_OUTCOME_CANCELLED)
		row->latency_ms = API_CALL_CANCELLED;
	/* What was cancelled is paid for as far as it had come. */
	if (c->outcome == CALL_OUTCOME_OK || c->outcome == CALL_OUTCOME_CANCELLED) {
		row->input_tokens =
			c->usage.input + c->usage.cache_write + c->usage.cache_read;
		row->output_tokens = c->usage.output;
		row->cost_estimate = model_cost(c->info->tier, c->model, &c->usage);
	}
	reply = bus_call_wait(c->flow->worker->bus, METHOD_API_CALL_APPEND, key, row, 0,
		&c->flow->arena);
	if (reply.status != BUS_OK)
		log_error("call to Claude not logged", "call", "%s", c->info->name,
			"error", "%.*s", STR_ARG(reply.message), NULL);
}

static struct str new_key(struct arena *arena)
{
	char key[UUID_SIZE];

	uuid4(key);
	return arena_str(arena, str_of(key));
}

static void prepare(struct call *c)
{
	struct arena *arena = &c->flow->arena;
	AUTO_BUF user = {0};
	struct str prompt = prompt_text(c->flow->snapshot->prompts, c->request->kind,
		c->request->dreyfus_stage.ptr ? c->request->dreyfus_stage
					      : STR_LIT("novice"),
		arena);

	c->system = c->request->more_system.ptr
			    ? arena_printf(arena, "%.*s\n%.*s", STR_ARG(prompt),
				      STR_ARG(c->request->more_system))
			    : prompt;
	proto_encode(c->info->request(), c->request->message, &user);
	c->user = arena_str(arena, buf_str(&user));
	pthread_mutex_lock(&c->client->lock);
	choose_model(c);
	pthread_mutex_unlock(&c->client->lock);
}

/* What people are told. */
static struct str sentence(const struct call *c)
{
	struct str text = str_of(outcomes[c->outcome].text);
	int64_t minutes = (c->asked_ms + 59999) / 60000;
	char at[WALL_ISO_SIZE];

	if (c->outcome == CALL_OUTCOME_OK || minutes == 0)
		return text;
	wall_iso((struct wall){clock_wall().us + c->asked_ms * 1000}, at);
	return arena_printf(&c->flow->arena,
		"Claude asks to be left alone for %lld minutes. Try again after %.16sZ.",
		(long long)minutes, at);
}

/* Asks Claude, and logs what it has cost. */
static void pay(struct call *c, struct call_result *result)
{
	struct arena *arena = &c->flow->arena;
	struct mono begin = clock_mono();
	struct api_call row = row_of(c);
	struct str key = new_key(arena);
	int64_t took_ms;

	bus_call_wait(c->flow->worker->bus, METHOD_API_CALL_BEGIN, key, &row, 0, arena);
	c->outcome = run(c, &result->response);
	if (c->outcome == CALL_OUTCOME_OK) {
		result->latency_ms = mono_diff_ms(clock_mono(), begin);
		paid_work_keep(c->flow, c->info->name, c->answer);
		if (c->request->keep)
			paid_answer_keep(
				c->flow, c->info->name, first_request(c), c->answer);
	}
	took_ms = mono_diff_ms(clock_mono(), begin);
	log_call(c, key, &row, result->latency_ms);
	count_call(c, &row, took_ms);
}

/* True when the answer was paid for before (paid_work.h). */
static bool was_paid(struct call *c, struct call_result *result)
{
	struct str text = paid_work_found(c->flow, c->info->name);

	if (!text.ptr && c->request->reuse)
		text = paid_answer_find(c->flow, c->info->name, first_request(c));
	if (!text.ptr || read_response(c, text, &result->response) != CALL_OUTCOME_OK)
		return false;
	result->latency_ms = 0;
	return true;
}

struct call_result call_claude(struct flow *flow, const struct call_request *request)
{
	struct call c = {.flow = flow,
		.client = flow_context(flow),
		.request = request,
		.info = &call_infos[request->kind]};
	struct call_result result = {.latency_ms = -1};

	prepare(&c);
	/* Without a row where nothing is asked. */
	if (*flow_cancelled(flow))
		c.outcome = CALL_OUTCOME_CANCELLED;
	else if (was_paid(&c, &result))
		c.outcome = CALL_OUTCOME_OK;
	else if (!within_budget(&c))
		c.outcome = CALL_OUTCOME_BUDGET;
	else
		pay(&c, &result);
	result.outcome = c.outcome;
	result.model = str_of(c.model);
	result.asked_ms = c.asked_ms;
	result.text = sentence(&c);
	if (c.outcome != CALL_OUTCOME_OK)
		result.response = NULL;
	log_info("call to Claude", "call", "%s", c.info->name, "model", "%s", c.model,
		"outcome", "%s", outcomes[c.outcome].name, "ms", "%lld",
		(long long)result.latency_ms, NULL);
	return result;
}

struct call_result call_claude_with_retry(
	struct flow *flow, const struct call_request *request)
{
	struct call_result result = call_claude(flow, request);

	if (!outcomes[result.outcome].transient || result.asked_ms > 0 ||
		*flow_cancelled(flow))
		return result;
	flow_sleep_ms(flow, settings_of(flow)->llm_flow_retry_ms);
	return call_claude(flow, request);
}

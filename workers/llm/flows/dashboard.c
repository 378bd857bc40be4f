/*
 * dashboard.c - the launch screen: figures at once, then issues and learning materials
 * side by side (story 12; FR-168 to FR-186).
 *
 * A window asks at each load, and when it has reconnected. Both parts cost money, so who
 * says that an earlier answer will do gets what was answered to the same question.
 */
#include "common/base/log.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/flows/dreyfus_stage.h"
#include "workers/llm/flows/flows.h"
#include "workers/llm/flows/issues.h"
#include "workers/llm/flows/llm.h"
#include "workers/llm/flows/manifests.h"
#include "workers/llm/gh/gh.h"

/* What both slow parts start from, and what became of each. */
struct dashboard {
	struct coaching_context coaching;
	struct dashboard_context context;
	bool issues_loaded, materials_loaded;
	bool reuse; /* an earlier answer to the same question will do */
};

/* Asks, or finds the answer. Of those that would reuse an answer one asks, and the others
 * wait for it. */
static struct call_result ask_claude(struct flow *flow, const struct dashboard *d,
	pthread_mutex_t *asking, struct call_request request)
{
	struct call_result result;

	request.keep = true;
	request.reuse = d->reuse;
	if (d->reuse)
		pthread_mutex_lock(asking);
	result = call_claude_with_retry(flow, &request);
	if (d->reuse)
		pthread_mutex_unlock(asking);
	return result;
}

static struct str session_of(const struct dashboard *d)
{
	return d->coaching.has_session ? d->coaching.session.id : (struct str){NULL, 0};
}

static void tell_error(struct flow *flow, const char *topic, struct str text)
{
	flow_publish(flow, topic, dashboard_error_type(),
		&(struct dashboard_error){.error = text});
}

/* ---- issues ---- */

static yyjson_val *list_issues(struct flow *flow, const char **problem)
{
	static const char *const arguments[] = {"issue", "list", "--state", "open",
		"--json", "number,title,body,labels,assignees,comments", "--limit", "50",
		NULL};
	yyjson_val *list = gh_run_json(flow, arguments, problem);

	if (!list || yyjson_is_arr(list))
		return list;
	*problem = "GitHub's answer was not understood";
	return NULL;
}

/* The learner's name on GitHub, at best effort (P12.12). */
static struct str user_login(struct flow *flow)
{
	static const char *const arguments[] = {"api", "user", NULL};
	const char *problem;
	yyjson_val *login =
		yyjson_obj_get(gh_run_json(flow, arguments, &problem), "login");

	return (struct str){yyjson_get_str(login), yyjson_get_len(login)};
}

static struct str related_memories(struct flow *flow, struct str query)
{
	struct memory_hits hits = memory_find(
		llm_memory(flow), flow, query, MEMORY_RESULTS, (struct str){NULL, 0});
	AUTO_BUF list = {0};

	buf_add_char(&list, '[');
	for (size_t i = 0; i < hits.memories.count; i++) {
		buf_add_str(
			&list, i ? STR_LIT(",{\"content\":") : STR_LIT("{\"content\":"));
		buf_add_json_string(&list, hits.memories.items[i].content);
		buf_add_char(&list, '}');
	}
	buf_add_char(&list, ']');
	return arena_str(&flow->arena, buf_str(&list));
}

static void load_issues(struct flow *flow, void *arg)
{
	struct dashboard *d = arg;
	struct issue_assessment_request message;
	struct dashboard_issues shown;
	struct call_result result;
	const char *problem = "";
	yyjson_val *issues = list_issues(flow, &problem);

	if (!issues) {
		tell_error(flow, "ui/dashboard:issues_error", str_of(problem));
		return;
	}
	message = (struct issue_assessment_request){
		.github_issues = {.raw = issues_for_model(issues, &flow->arena)},
		.user_dreyfus_stages = d->context.dreyfus,
		.recent_sessions = d->context.recent_sessions,
		.knowledge_gaps = d->context.gaps,
		.related_memories = {.raw = related_memories(
					     flow, issues_query(issues, &flow->arena))},
		.user_login = user_login(flow)};
	result = ask_claude(flow, d, &llm_of(flow)->issues,
		(struct call_request){.kind = CALL_ISSUE_ASSESSMENT,
			.session_id = session_of(d),
			.message = &message});
	if (!result.response) {
		tell_error(flow, "ui/dashboard:issues_error", result.text);
		return;
	}
	shown = issues_shown(result.response, issues, &flow->arena);
	flow_publish(flow, "ui/dashboard:issues", dashboard_issues_type(), &shown);
	d->issues_loaded = true;
}

/* ---- materials ---- */

/* Addresses that a browser may be sent to; anything else is dropped (P12.21, R24). */
static bool is_url(struct str url)
{
	size_t scheme = str_starts(url, "https://")  ? 8
			: str_starts(url, "http://") ? 7
						     : 0;

	if (scheme == 0 || url.len == scheme)
		return false;
	for (size_t i = 0; i < url.len; i++)
		if ((unsigned char)url.ptr[i] <= ' ' || url.ptr[i] == '"' ||
			url.ptr[i] == '<')
			return false;
	return true;
}

static struct learning_recommendation shown_recommendation(
	struct flow *flow, const struct recommendation *r)
{
	struct learning_recommendation shown = {.knowledge_gap = r->knowledge_gap,
		.study_order = r->study_order,
		.practice_connection = r->practice_connection};

	shown.resources.items = arena_array(
		&flow->arena, r->resources.count + 1, sizeof(*shown.resources.items));
	for (size_t i = 0; i < r->resources.count; i++) {
		const struct resource *one = &r->resources.items[i];

		if (is_url(one->url))
			shown.resources.items[shown.resources.count++] =
				(struct learning_resource){.type = one->type,
					.has_type = true,
					.title = one->title,
					.url = one->url,
					.description = one->description,
					.relevance = one->relevance,
					.has_relevance = true,
					.estimated_time = one->estimated_time};
	}
	return shown;
}

static void show_materials(struct flow *flow, const struct learning_materials_response *r)
{
	struct dashboard_materials materials = {0};

	materials.recommendations.items = arena_array(&flow->arena,
		r->recommendations.count + 1, sizeof(*materials.recommendations.items));
	materials.recommendations.count = r->recommendations.count;
	for (size_t i = 0; i < r->recommendations.count; i++)
		materials.recommendations.items[i] =
			shown_recommendation(flow, &r->recommendations.items[i]);
	flow_publish(
		flow, "ui/dashboard:materials", dashboard_materials_type(), &materials);
}

static void load_materials(struct flow *flow, void *arg)
{
	struct dashboard *d = arg;
	struct learning_materials_request message = {
		.knowledge_gaps = d->context.top_gaps,
		.available_katas = d->context.kata_titles};
	struct call_result result;

	if (yyjson_arr_size(d->context.top_gaps.val) == 0) /* EC-85, EC-86 */
		return;
	message.tech_stack = manifests_tech_stack(flow);
	result = ask_claude(flow, d, &llm_of(flow)->materials,
		(struct call_request){.kind = CALL_LEARNING_MATERIALS,
			.session_id = session_of(d),
			.dreyfus_stage = dreyfus_stage_newest(&d->coaching),
			.message = &message});
	if (!result.response) {
		tell_error(flow, "ui/dashboard:materials_error", result.text);
		return;
	}
	show_materials(flow, result.response);
	d->materials_loaded = true;
}

/* ---- the flows ---- */

static bool prepare(struct flow *flow, struct dashboard *d)
{
	static const struct empty nothing = {0};
	struct bus_reply reply;

	if (!load_context(flow, &d->coaching))
		return false;
	if (ask(flow, METHOD_DASHBOARD_CONTEXT, &nothing, &d->context, &reply) == 0)
		return true;
	fail_with(flow, &reply);
	return false;
}

/* Shows what the store knows. False when it could not tell; the caller was told. */
static bool show_state(struct flow *flow, const struct dashboard_call *call)
{
	struct flow_turns *turns = &llm_of(flow)->dashboards;
	struct dashboard_state state;
	struct bus_reply reply;
	bool known =
		ask(flow, METHOD_DASHBOARD_STATE, call->request, &state, &reply) == 0;

	flow_turns_wait(turns, call->turn);
	if (known)
		flow_publish(flow, "ui/dashboard:state", dashboard_state_type(), &state);
	flow_turns_pass(turns);
	if (!known)
		fail_with(flow, &reply);
	return known;
}

void flow_dashboard_load(struct flow *flow)
{
	const struct dashboard_call *call = flow->message;
	const struct dashboard_request *m = call->request;
	struct dashboard_loaded_data loaded = {
		.stats_period = m->has_stats_period ? m->stats_period : STATS_ALL,
		.has_stats_period = true};
	struct flow_branch *issues;
	struct dashboard d = {.reuse = m->reuse};

	if (!show_state(flow, call) || !prepare(flow, &d))
		return;
	issues = flow_fork(flow, load_issues, &d);
	load_materials(flow, &d);
	flow_join(issues);
	loaded.issues_loaded = d.issues_loaded;
	loaded.materials_loaded = d.materials_loaded;
	loaded.has_issues_loaded = loaded.has_materials_loaded = true;
	log_action(flow, ACTION_DASHBOARD_LOADED, &loaded);
	flow_answer(flow, STR_LIT("{}"));
}

void flow_dashboard_refresh_issues(struct flow *flow)
{
	struct dashboard d = {0};

	if (!prepare(flow, &d))
		return;
	load_issues(flow, &d);
	flow_answer(flow, STR_LIT("{}"));
}

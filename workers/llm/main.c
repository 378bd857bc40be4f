/*
 * main.c - paige-llm, the worker that calls Claude, Chroma and gh.
 *
 * A table of methods, each served by a flow on a thread of its own (flows.h). The loop
 * itself only moves bytes: the bus, and libcurl's transfers.
 */
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "workers/llm/claude/trusted.h"
#include "workers/llm/flows/flows.h"
#include "workers/llm/flows/llm.h"
#include "workers/llm/gh/gh.h"
#include <stdlib.h>
#include <string.h>

#define STOP_DEADLINE_MS 4000

static const struct {
	enum method method;
	flow_fn *flow;
} served[] = {
	{METHOD_TRIAGE, flow_triage},
	{METHOD_CONTROL, flow_control},
	{METHOD_INTERVIEW_COVERAGE, flow_interview_coverage},
	{METHOD_INTERVIEW_ASSISTANT, flow_interview_assistant},
	{METHOD_DASHBOARD_REFRESH_ISSUES, flow_dashboard_refresh_issues},
};

/* What windows ask and Claude is paid for. */
static const struct {
	enum method method;
	flow_fn *flow;
} paid_for[] = {
	{METHOD_EXPLAIN, flow_explain},
	{METHOD_REVIEW, flow_review},
	{METHOD_REVIEW_SUBMIT, flow_review_submit},
};

static void serve(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;

	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		if (served[i].method == request->method) {
			flow_start(llm->flows, served[i].flow, request, message);
			return; /* it may be answered already */
		}
}

static void serve_paid(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;

	for (size_t i = 0; i < sizeof(paid_for) / sizeof(paid_for[0]); i++)
		if (paid_for[i].method == request->method) {
			paid_serve(llm->paid, paid_for[i].flow, request, message);
			return; /* it may be answered already */
		}
}

/* A window shows the state that came last, so states come in the order in which the
 * questions are served. */
static void serve_dashboard(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;
	struct dashboard_call *call = arena_alloc(&request->arena, sizeof(*call));

	*call = (struct dashboard_call){message, llm->dashboards.taken};
	llm->dashboards.taken +=
		flow_start(llm->flows, flow_dashboard_load, request, call);
}

static void serve_pipeline(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;

	paid_serve_tool(llm->paid, flow_pipeline, request, message);
}

static void serve_wrap_up(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;

	paid_serve_tool(llm->paid, flow_wrap_up, request, message);
}

static void serve_cancel(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;

	paid_cancel(llm->paid, ((const struct flow_ref *)message)->call);
	bus_answer(request, STR_LIT("{}"));
}

static void serve_lost(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;

	paid_lost(llm->paid, ((const struct flow_lost *)message)->call);
	bus_answer(request, STR_LIT("{}"));
}

static void serve_capabilities(
	void *arg, struct bus_request *request, const void *message)
{
	const struct llm *llm = arg;
	struct llm_capabilities capabilities = {
		.chromadb_available = memory_chroma_available(llm->memory),
		.has_chromadb_available = true,
		.memory_available = memory_available(llm->memory),
		.has_memory_available = true,
		.github_api_available = llm->github,
		.has_github_api_available = true};

	(void)message;
	bus_answer_message(request, &capabilities);
}

static void on_session_started(void *arg, const struct bus_event *event)
{
	struct llm *llm = arg;

	paid_forget(llm->paid);
	if (llm->github)
		flow_spawn(llm->flows, flow_fetch_title, event->body);
}

static void on_gap(void *arg, enum worker_id from, uint64_t missed)
{
	struct llm *llm = arg;

	(void)from;
	(void)missed;
	if (llm->github)
		flow_spawn(llm->flows, flow_fetch_missed_title, STR_LIT(""));
}

static void on_reconciled(void *arg, const struct bus_reply *reply)
{
	(void)arg;
	if (reply->status != BUS_OK)
		log_warn("calls that a crash cut off are not logged", "error", "%.*s",
			STR_ARG(reply->message), NULL);
}

/* What ran when the worker before this one died is logged as failed. */
static void reconcile(struct worker *w)
{
	static const struct empty nothing = {0};
	char key[UUID_SIZE];

	uuid4(key);
	bus_call_message(w->bus, METHOD_API_CALL_RECONCILE, str_of(key), &nothing, 0,
		on_reconciled, NULL);
}

static int init(struct worker *w)
{
	struct llm *llm = xcalloc(1, sizeof(*llm));
	int code = gh_start_helper(w);

	if (code != 0)
		return code;
	w->state = llm;
	llm->worker = w;
	llm->github = gh_installed();
	pthread_mutex_init(&llm->wrap_up, NULL);
	pthread_mutex_init(&llm->issues, NULL);
	pthread_mutex_init(&llm->materials, NULL);
	pthread_mutex_init(&llm->titles, NULL);
	flow_turns_init(&llm->dashboards);
	call_client_init(&llm->client);
	llm->memory = memory_new(w->settings);
	if (loop_post_init(&llm->post, w->base) < 0)
		return WORKER_EXIT_INTERNAL;
	llm->http = http_new(w->base, &llm->post);
	llm->flows = flows_new(w, llm->http, &llm->post, llm);
	flows_reload(llm->flows);
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		bus_serve(w->bus, served[i].method, serve, llm);
	bus_serve(w->bus, METHOD_DASHBOARD_LOAD, serve_dashboard, llm);
	llm->paid = paid_new(w, llm->flows, &llm->post);
	for (size_t i = 0; i < sizeof(paid_for) / sizeof(paid_for[0]); i++)
		bus_serve(w->bus, paid_for[i].method, serve_paid, llm);
	bus_serve(w->bus, METHOD_COACHING_PIPELINE, serve_pipeline, llm);
	bus_serve(w->bus, METHOD_SESSION_WRAP_UP, serve_wrap_up, llm);
	bus_serve(w->bus, METHOD_FLOW_CANCEL, serve_cancel, llm);
	bus_serve(w->bus, METHOD_FLOW_LOST, serve_lost, llm);
	bus_serve(w->bus, METHOD_LLM_CAPABILITIES, serve_capabilities, llm);
	bus_subscribe(w->bus, WORKER_STORE, "session/started", on_session_started, llm);
	bus_on_gap(w->bus, WORKER_STORE, on_gap, llm);
	reconcile(w);
	return WORKER_EXIT_OK;
}

static void begin(struct worker *w)
{
	const struct llm *llm = w->state;

	flow_spawn(llm->flows, flow_connect_memory, STR_LIT(""));
}

static void on_flows_ended(void *arg)
{
	struct worker *w = arg;
	struct llm *llm = w->state;

	paid_stop(llm->paid);
	worker_stopped(w);
}

static void stop(struct worker *w)
{
	struct llm *llm = w->state;

	flows_stop(llm->flows, STOP_DEADLINE_MS, on_flows_ended, w);
}

static void reload(struct worker *w)
{
	struct llm *llm = w->state;

	call_client_reload(&llm->client);
	flows_reload(llm->flows);
}

/*
 * The network, and what resolves names and tells whom TLS trusts: the configuration of
 * the system, its libraries (libc loads some of them for a name) and where resolv.conf
 * may lead. The sentence model and the certificates that the environment names were read
 * before. gh runs outside (gh_helper.h).
 */
static void confine(struct worker *w, struct confinement *c)
{
	static const char *const system[] = {"/etc", "/usr", "/lib", "/lib32", "/lib64",
		"/libx32", "/nix/store", "/gnu/store", "/etc/resolv.conf",
		"/run/NetworkManager", "/run/connman", "/run/netconfig",
		"/run/resolvconf", "/run/systemd/resolve"};
	size_t count = sizeof(system) / sizeof(system[0]);

	c->uses_network = true;
	c->read_write[0] = "/dev/null";
	memcpy(c->read_only, system, sizeof(system));
	count += trusted_system_paths(&c->read_only[count]);
	if (w->settings->prompts_dir[0])
		c->read_only[count] = w->settings->prompts_dir;
}

static const struct worker_spec spec = {
	.id = WORKER_LLM,
	.init = init,
	.confine = confine,
	.begin = begin,
	.stop = stop,
	.reload = reload,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}

/*
 * main.c - paige-llm, the worker that calls Claude, Chroma and gh.
 *
 * A table of methods, each served by a flow on a thread of its own (flows.h). The loop
 * itself only moves bytes: the bus, and libcurl's transfers.
 */
#include "common/ids.h"
#include "common/log.h"
#include "proto/messages.h"
#include "workers/llm/call.h"
#include "workers/llm/flows.h"
#include <stdlib.h>

#define STOP_DEADLINE_MS 4000

struct llm {
	struct call_client client; /* first: flow_context gives it to calls */
	struct mailbox *mailbox;
	struct http *http;
	struct flows *flows;
};

static const struct {
	enum method method;
	flow_fn *flow;
} served[] = {
	{METHOD_EXPLAIN, flow_explain},
	{METHOD_REVIEW, flow_review},
	{METHOD_REVIEW_SUBMIT, flow_review_submit},
	{METHOD_TRIAGE, flow_triage},
	{METHOD_CONTROL, flow_control},
};

static void serve(void *arg, struct bus_request *request, const void *message)
{
	struct llm *llm = arg;

	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		if (served[i].method == request->method)
			flow_start(llm->flows, served[i].flow, request, message);
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
	struct llm *llm = calloc(1, sizeof(*llm));

	if (!llm)
		abort();
	w->state = llm;
	prompts_load(w->settings.prompts_dir);
	call_client_init(&llm->client, &w->settings);
	llm->mailbox = mailbox_new(w->base);
	llm->http = http_new(w->base, llm->mailbox);
	llm->flows = flows_new(w, llm->http, llm->mailbox, llm);
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		bus_serve(w->bus, served[i].method, serve, llm);
	reconcile(w);
	return WORKER_EXIT_OK;
}

static void on_flows_ended(void *arg)
{
	worker_stopped(arg);
}

static void stop(struct worker *w)
{
	struct llm *llm = w->state;

	flows_stop(llm->flows, STOP_DEADLINE_MS, on_flows_ended, w);
}

static void reload(struct worker *w)
{
	prompts_load(w->settings.prompts_dir);
}

/* The network, and gh with whatever gh reads and keeps in the home directory. */
static void confine(struct worker *w, struct confinement *c)
{
	const char *home = getenv("HOME");

	(void)w;
	c->may_exec = true;
	c->read_only[0] = "/";
	c->read_write[0] = "/dev";
	c->read_write[1] = "/tmp";
	c->read_write[2] = home;
}

static const struct worker_spec spec = {
	.id = WORKER_LLM,
	.init = init,
	.confine = confine,
	.stop = stop,
	.reload = reload,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}

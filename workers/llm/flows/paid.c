/* paid.c - see paid.h. */
#include "workers/llm/flows/paid.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "proto/tables/mcp_tools.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/claude/paid_work.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#define MESSAGE_MAX_BYTES 900
/* An answer beyond this is found as long as this worker lives. */
#define ANSWER_MAX_BYTES 1000000
/* In this time what was answered has left this process. */
#define DELIVERY_MS 2000

struct work {
	TAILQ_ENTRY(work) link; /* the newest last */
	enum method method;
	struct buf asked;	     /* the arguments, as JSON */
	char call[UUID_SIZE];	     /* of who waits, or waited last */
	bool lost;		     /* nobody waits */
	struct bus_request *request; /* the flow's; NULL when it has ended */
	struct paid_work_ids ids;    /* in the store; final when the flow has ended */
	struct bus_request *joined[PAID_MAX_JOINED];
	size_t joined_count;
	int total;	   /* steps, once one was told */
	struct buf answer; /* when it has ended */
	struct mono ended;
};

struct paid {
	struct worker *worker;
	struct flows *flows;
	struct loop_post *post;
	TAILQ_HEAD(works, work) works;
	size_t count;
	LIST_HEAD(, delivery) deliveries;
	char owner[UUID_SIZE]; /* this process, to the store */
};

/* ---- the list ---- */

static void drop(struct paid *paid, struct work *work)
{
	TAILQ_REMOVE(&paid->works, work, link);
	paid->count--;
	buf_free(&work->asked);
	buf_free(&work->answer);
	free(work);
}

/* What has ended and is old or too much goes, the oldest first. */
static void make_room(struct paid *paid)
{
	struct mono now = clock_mono();
	struct work *work, *next;
	size_t kept = 0;

	TAILQ_FOREACH(work, &paid->works, link)
	kept += !work->request;
	for (work = TAILQ_FIRST(&paid->works); work; work = next) {
		next = TAILQ_NEXT(work, link);
		if (work->request ||
			(kept <= PAID_MAX_KEPT &&
				mono_diff_ms(now, work->ended) < PAID_KEEP_MS))
			continue;
		drop(paid, work);
		kept--;
	}
}

static struct work *of_request(struct paid *paid, const struct bus_request *request)
{
	struct work *work;

	TAILQ_FOREACH(work, &paid->works, link)
	if (work->request == request)
		return work;
	return NULL;
}

static struct work *of_call(struct paid *paid, struct str call)
{
	struct work *work;

	TAILQ_FOREACH(work, &paid->works, link)
	if (str_is(call, work->call))
		return work;
	return NULL;
}

static struct work *find_lost(struct paid *paid, enum method method, struct str asked)
{
	struct work *work;

	TAILQ_FOREACH(work, &paid->works, link)
	if (work->lost && work->method == method && str_eq(buf_str(&work->asked), asked))
		return work;
	return NULL;
}

/* ---- what outlives this worker ---- */

static void tell_store(struct paid *paid, enum method method, const void *message)
{
	char key[UUID_SIZE];

	uuid7(clock_wall(), key);
	bus_call_message(paid->worker->bus, method, str_of(key), message, 0, NULL, NULL);
}

/* The answer of a work that nobody got. */
static void keep_answer(struct paid *paid, const struct work *work)
{
	if (work->answer.len > ANSWER_MAX_BYTES)
		return;
	tell_store(paid, METHOD_PAID_KEEP,
		&(struct paid_keep){.owner = str_of(work->ids.owner),
			.id = str_of(work->ids.id),
			.asked = str_of(work->ids.asked),
			.step = str_of(PAID_ANSWER),
			.text = buf_str(&work->answer)});
}

static void forget(struct paid *paid, const char *id)
{
	tell_store(paid, METHOD_PAID_DROP, &(struct paid_drop){.id = str_of(id)});
}

/* An answer on its way: until it has certainly arrived the store keeps the work. */
struct delivery {
	LIST_ENTRY(delivery) link;
	struct paid *paid;
	struct event *timer;
	char id[UUID_SIZE];
};

static void delivered(struct delivery *d)
{
	const struct work *work;
	bool lost = false;

	TAILQ_FOREACH(work, &d->paid->works, link)
	lost = lost || (!work->request && work->lost && strcmp(work->ids.id, d->id) == 0);
	if (!lost)
		forget(d->paid, d->id);
	LIST_REMOVE(d, link);
	event_free(d->timer);
	free(d);
}

static void on_delivered(EVENT_UNUSED, void *arg)
{
	delivered(arg);
}

static void forget_soon(struct paid *paid, const char *id)
{
	struct delivery *d = xmalloc(sizeof(*d));

	d->paid = paid;
	snprintf(d->id, sizeof(d->id), "%s", id);
	d->timer = evtimer_new(paid->worker->base, on_delivered, d);
	if (!d->timer || event_add_ms(d->timer, DELIVERY_MS) < 0)
		abort();
	LIST_INSERT_HEAD(&paid->deliveries, d, link);
}

void paid_stop(struct paid *paid)
{
	while (!LIST_EMPTY(&paid->deliveries))
		delivered(LIST_FIRST(&paid->deliveries));
}

/* ---- telling ---- */

/* Absent for what windows ask. */
static const char *tool_of(enum method method)
{
	const struct mcp_tool_info *tool = mcp_tool_of(method);

	return tool ? tool->name : "";
}

static void tell_progress(
	struct paid *paid, struct work *work, int step, struct str message)
{
	const struct flow_progress progress = {.call = str_of(work->call),
		.step = step,
		.has_step = true,
		.total = work->total,
		.has_total = true,
		.message = message};
	const struct coaching_progress shown = {.tool = str_of(tool_of(work->method)),
		.step = step,
		.has_step = true,
		.total = work->total,
		.has_total = true,
		.message = message};
	AUTO_BUF json = {0};

	proto_encode(flow_progress_type(), &progress, &json);
	bus_publish(paid->worker->bus, "flow/progress", buf_str(&json));
	buf_clear(&json);
	proto_encode(coaching_progress_type(), &shown, &json);
	bus_publish(paid->worker->bus, "ui/coaching:progress", buf_str(&json));
}

struct step {
	struct loop_task task;
	struct paid *paid;
	const struct bus_request *request;
	int step, total;
	const char *message; /* lives for ever */
};

static void on_step(struct loop_task *task)
{
	struct step *s = CONTAINER_OF(task, struct step, task);
	struct work *work = of_request(s->paid, s->request);

	if (work) {
		work->total = s->total;
		tell_progress(s->paid, work, s->step, str_of(s->message));
	}
	free(s);
}

void paid_step(struct paid *paid, const struct flow *flow, int step, int total,
	const char *message)
{
	struct step *s = xmalloc(sizeof(*s));

	*s = (struct step){
		{.run = on_step}, paid, flow_request(flow), step, total, message};
	loop_post(paid->post, &s->task);
}

/* ---- ends ---- */

static void answer_joined(struct work *work, const struct flow_end *end)
{
	for (size_t i = 0; i < work->joined_count; i++) {
		if (end->code)
			bus_answer_error(work->joined[i], end->code,
				(struct str){NULL, 0}, "%.*s", STR_ARG(end->body));
		else
			bus_answer(work->joined[i], end->body);
	}
	work->joined_count = 0;
}

static void on_end(
	void *arg, const struct bus_request *request, const struct flow_end *end)
{
	struct paid *paid = arg;
	struct work *work = of_request(paid, request);

	if (!work)
		return;
	if (work->total > 0)
		tell_progress(paid, work, work->total,
			end->code ? utf8_cut(end->body, MESSAGE_MAX_BYTES)
				  : STR_LIT("Done"));
	answer_joined(work, end);
	work->request = NULL;
	if (end->code) {
		/* Who asks again tries again; at the next worker with what was paid for
		 * when it is not the caller who has ended it. */
		if (!flows_stopping(paid->flows))
			forget(paid, work->ids.id);
		drop(paid, work);
		return;
	}
	work->ended = clock_mono();
	buf_add_str(&work->answer, end->body);
	if (work->lost)
		keep_answer(paid, work);
	else
		forget_soon(paid, work->ids.id);
	/* A window has its answer, or it is lost together with its gateway now. */
	if (!work->call[0] && !work->lost)
		drop(paid, work);
	make_room(paid);
}

/* ---- what is asked ---- */

struct paid *paid_new(struct worker *w, struct flows *flows, struct loop_post *post)
{
	struct paid *paid = xcalloc(1, sizeof(*paid));

	*paid = (struct paid){.worker = w, .flows = flows, .post = post};
	TAILQ_INIT(&paid->works);
	LIST_INIT(&paid->deliveries);
	uuid4(paid->owner);
	flows_on_end(flows, on_end, paid);
	return paid;
}

/* A tool call that no flow is made for: whoever made the work has logged another one. */
static void log_joined(
	struct paid *paid, struct bus_request *request, const struct tool_request *tool)
{
	struct action_row row;

	row_of_tool(&request->arena, request->method, tool, &row);
	tell_store(paid, METHOD_ACTION_APPEND,
		&(struct action_append){.actions = {&row, 1}});
}

static void take_up(struct paid *paid, struct work *work, struct bus_request *request,
	const struct tool_request *tool)
{
	if (work->request && work->joined_count == PAID_MAX_JOINED) {
		bus_answer_error(request, "BUSY", (struct str){NULL, 0},
			"Too many wait for the same answer");
		return;
	}
	log_info("a call is requested again", "tool", "%s", tool_of(work->method),
		"ended", "%s", work->request ? "no" : "yes", NULL);
	work->lost = false;
	work->call[0] = '\0';
	if (tool) {
		snprintf(work->call, sizeof(work->call), "%.*s", STR_ARG(tool->call));
		log_joined(paid, request, tool);
	}
	if (work->request) {
		work->joined[work->joined_count++] = request;
	} else {
		bus_answer(request, buf_str(&work->answer));
		forget_soon(paid, work->ids.id);
	}
}

/* What the flow is given, in the arena of the request. */
struct paid_call {
	flow_fn *fn;
	enum method method;
	const struct tool_request *tool; /* NULL: a window asks */
	const void *message;
	struct paid_work_ids *ids;
};

static void run_paid(struct flow *flow)
{
	const struct paid_call *call = flow->message;
	struct str answer;

	if (call->tool && !log_tool_call(flow, call->method, call->tool))
		return;
	paid_work_begin(flow, call->ids);
	answer = paid_work_found(flow, PAID_ANSWER);
	if (answer.ptr) {
		flow_answer(flow, answer);
		return;
	}
	flow->message = call->message;
	call->fn(flow);
}

static struct work *work_new(struct paid *paid, struct bus_request *request,
	const struct tool_request *tool, struct str asked)
{
	struct work *work = xcalloc(1, sizeof(*work));

	work->method = request->method;
	work->request = request;
	buf_add_str(&work->asked, asked);
	if (tool)
		snprintf(work->call, sizeof(work->call), "%.*s", STR_ARG(tool->call));
	uuid7(clock_wall(), work->ids.id);
	memcpy(work->ids.owner, paid->owner, sizeof(paid->owner));
	paid_asked(request->method, asked, work->ids.asked);
	TAILQ_INSERT_TAIL(&paid->works, work, link);
	paid->count++;
	return work;
}

/* `asked`: the same text for the same arguments. */
static void serve(struct paid *paid, struct bus_request *request,
	const struct paid_call *call, struct str asked)
{
	struct paid_call *given;
	struct work *work;

	make_room(paid);
	work = find_lost(paid, request->method, asked);
	if (work) {
		take_up(paid, work, request, call->tool);
		return;
	}
	work = work_new(paid, request, call->tool, asked);
	given = arena_alloc(&request->arena, sizeof(*given));
	*given = *call;
	given->method = request->method;
	given->ids = &work->ids;
	if (!flow_start(paid->flows, run_paid, request, given))
		drop(paid, work);
}

void paid_serve(
	struct paid *paid, flow_fn *fn, struct bus_request *request, const void *message)
{
	serve(paid, request, &(struct paid_call){.fn = fn, .message = message},
		request->body);
}

void paid_serve_tool(struct paid *paid, flow_fn *fn, struct bus_request *request,
	const struct tool_request *tool)
{
	struct proto_error error;
	const void *input =
		mcp_tool_input(request->method, tool, &request->arena, &error);
	AUTO_BUF asked = {0};

	if (!input) {
		bus_answer_error(request, "INVALID_MESSAGE", (struct str){NULL, 0}, "%s",
			error.text);
		return;
	}
	proto_encode(mcp_tool_of(request->method)->input(), input, &asked);
	serve(paid, request,
		&(struct paid_call){.fn = fn, .tool = tool, .message = input},
		buf_str(&asked));
}

void paid_cancel(struct paid *paid, struct str call)
{
	struct work *work = of_call(paid, call);

	if (work && work->request)
		flows_cancel(paid->flows, work->request);
}

void paid_lost(struct paid *paid, struct str call)
{
	struct work *work;

	TAILQ_FOREACH(work, &paid->works, link)
	if (!work->lost && (!call.ptr || str_is(call, work->call))) {
		work->lost = true;
		if (!work->request)
			keep_answer(paid, work);
	}
}

void paid_forget(struct paid *paid)
{
	struct work *work, *next;

	for (work = TAILQ_FIRST(&paid->works); work; work = next) {
		next = TAILQ_NEXT(work, link);
		if (!work->request)
			drop(paid, work);
		else
			work->lost = false;
	}
}

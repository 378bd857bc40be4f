/* session_states.c - what windows are told of the agent sessions; see agents.h. */
#include "common/base/alloc.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "workers/agent/agents.h"

/* An agent that writes makes hundreds of changes a second. */
#define TOLD_AFTER_MS 250

static int64_t left_ms(int64_t deadline_ms, int64_t now_ms)
{
	return deadline_ms > now_ms ? deadline_ms - now_ms : 0;
}

/* The texts are those of the session and of `foreseen`. */
static struct agent_session_state describe(const struct agent_session *s,
	const struct idle_driver_outcome *foreseen, int64_t now_ms)
{
	const int64_t deadline = idle_driver_deadline(&s->driver);
	const bool counting = deadline != MACHINE_NEVER && !s->ending;

	return (struct agent_session_state){
		.session_id = str_of(s->id),
		.folder = str_of(s->folder.path),
		.running = s->process != NULL,
		.has_running = true,
		.ending = s->ending,
		.has_ending = true,
		.clients = s->driver.idle.clients,
		.has_clients = true,
		.prompts = s->driver.idle.turns,
		.has_prompts = true,
		.check_ms = counting ? left_ms(deadline, now_ms) : 0,
		.has_check_ms = counting,
		.check_ends = counting && foreseen->verdict == IDLE_DRIVER_KILL,
		.has_check_ends = true,
		.check_reason =
			counting ? str_of(foreseen->reason) : (struct str){NULL, 0},
		.latest_ms =
			counting ? left_ms(idle_driver_latest(&s->driver), now_ms) : 0,
		.has_latest_ms = counting,
	};
}

/* The states of all sessions, with what their texts are of. */
struct states {
	struct idle_driver_outcome foreseen[AGENTS_MAX_SESSIONS];
	struct agent_session_state items[AGENTS_MAX_SESSIONS];
};

static struct agents_state describe_all(const struct agents *a, struct states *states)
{
	struct agents_state out = {.sessions.items = states->items};
	const int64_t now_ms = clock_mono().us / 1000;
	const struct agent_session *s;

	LIST_FOREACH(s, &a->sessions, link)
	{
		const size_t i = out.sessions.count++;

		states->foreseen[i] = idle_driver_foresee(&s->driver);
		states->items[i] = describe(s, &states->foreseen[i], now_ms);
	}
	return out;
}

void session_states_serve(void *arg, struct bus_request *request, const void *message)
{
	struct states states;
	const struct agents_state out = describe_all(arg, &states);

	(void)message;
	bus_answer_message(request, &out);
}

static void on_states(EVENT_UNUSED, void *arg)
{
	struct agents *a = arg;
	struct states states;
	const struct agents_state out = describe_all(a, &states);
	struct buf body = {0};

	proto_encode(agents_state_type(), &out, &body);
	if (!str_eq(buf_str(&body), buf_str(&a->told)))
		bus_publish(a->worker->bus, "agents/state", buf_str(&body));
	buf_free(&a->told);
	a->told = body;
}

void session_states_changed(struct agents *a)
{
	if (!evtimer_pending(a->states, NULL))
		event_add_ms(a->states, TOLD_AFTER_MS);
}

void session_states_init(struct agents *a)
{
	a->states = alloc_checked(evtimer_new(a->worker->base, on_states, a));
}

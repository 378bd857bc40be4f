/* session_states.c - what windows are told of the agent sessions; see agents.h. */
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "workers/agent/agents.h"

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

void session_states_serve(void *arg, struct bus_request *request, const void *message)
{
	const struct agents *a = arg;
	const struct agent_session *s;
	struct idle_driver_outcome foreseen[AGENTS_MAX_SESSIONS];
	struct agent_session_state states[AGENTS_MAX_SESSIONS];
	const int64_t now_ms = clock_mono().us / 1000;
	struct agents_state out = {.sessions.items = states};

	(void)message;
	LIST_FOREACH(s, &a->sessions, link)
	{
		const size_t i = out.sessions.count++;

		foreseen[i] = idle_driver_foresee(&s->driver);
		states[i] = describe(s, &foreseen[i], now_ms);
	}
	bus_answer_message(request, &out);
}

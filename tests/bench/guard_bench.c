/*
 * guard_bench.c - how many decisions the pure machines take in a second on one core.
 *
 * Prints one line for each: events that go through machine_step, without JSON around
 * them. Usage: guard_bench [million events].
 */
#include "common/base/clock.h"
#include "common/machine/idle.h"
#include "workers/guard-engine/breakloop/breakloop.h"
#include "workers/guard-engine/interview/interview.h"
#include "workers/guard-engine/session/session_guard.h"
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define START_MS INT64_C(1767225600000)

static const struct machine_defaults defaults = {
	.timebox_ms = 86400000,
	.zero_run_limit = 2,
	.project_cap = 2,
	.idle_timeout_ms = 300000,
	.max_idle_ms = 1800000,
	.stale_output_ms = 600000,
	.timezone = {"UTC", 3},
};

static union {
	struct session_guard session;
	struct breakloop breakloop;
	struct interview interview;
	struct idle idle;
} state;

static struct machine_out out;

static void create(const struct machine *m, const char *config)
{
	struct arena arena = {0};
	struct proto_error error;
	yyjson_doc *doc = proto_parse(str_of(config), &error);
	struct machine_base *base = (struct machine_base *)&state;

	if (!doc || m->create(yyjson_doc_get_root(doc), &defaults, &arena, &state,
			    &error) < 0) {
		fprintf(stderr, "%s: %s\n", config, error.text);
		exit(1);
	}
	base->at_ms = START_MS;
	yyjson_doc_free(doc);
	arena_free(&arena);
}

/* Takes the event, a tick that is due before it included; returns how many steps that
 * were. */
static int take(const struct machine *m, struct machine_event *e)
{
	struct machine_event tick = {.type = ITEM_TICK, .facts = e->facts};
	int steps = 1;

	while ((tick.at_ms = m->deadline(&state)) <= e->at_ms) {
		steps++;
		if (machine_step(m, &state, &tick, &out) < 0)
			exit(1);
	}
	/* A refusal is a decision too. */
	if (machine_step(m, &state, e, &out) == -EINVAL)
		exit(1);
	return steps;
}

struct course {
	const char *name;
	const struct machine *machine;
	const char *config;
	int count;
	struct machine_event events[16];
	int64_t pause_ms; /* between events */
};

static void measure(const struct course *c, int64_t wanted)
{
	int64_t done = 0, at_ms = START_MS;
	size_t before, after;
	struct mono started;
	double seconds;

	create(c->machine, c->config);
	before = mallinfo2().uordblks;
	started = clock_mono();
	while (done < wanted) {
		for (int i = 0; i < c->count; i++) {
			struct machine_event e = c->events[i];

			at_ms += c->pause_ms;
			e.at_ms = at_ms;
			e.seq = done + 1;
			done += take(c->machine, &e);
		}
	}
	seconds = (double)(clock_mono().us - started.us) / 1e6;
	after = mallinfo2().uordblks;
	printf("%-14s %10.0f decisions/s  %5.0f ns each  %lld bytes allocated  state %zu "
	       "bytes\n",
		c->name, (double)done / seconds, seconds * 1e9 / (double)done,
		(long long)(after - before), c->machine->state_size);
}

int main(int argc, char **argv)
{
	int64_t wanted = (argc > 1 ? atoll(argv[1]) : 2) * 1000000;
	static struct guard_text text = {.text = {"And then?", 9}};
	static struct guard_control_result control = {
		.pillars = {.adaptability = 40, .creativity = 0, .reasoning = 20}};
	static struct breakloop_app_event feed = {.app = {"com.example.feed", 16}},
					  video = {.app = {"com.example.video", 17}},
					  mail = {.app = {"com.example.mail", 16}};
	static struct idle_output json = {.json = true};
	static struct interview_message message = {
		.text = {"We look at the data, and at the users.", 38}};
	const struct guard_facts window = {.has_wall_ms = true,
		.wall_ms = START_MS,
		.has_window_start_ms = true,
		.window_start_ms = START_MS,
		.has_window_end_ms = true,
		.window_end_ms = START_MS + 3600000};
	const struct course courses[] = {
		{"session-guard", &session_guard_machine,
			"{\"projectCap\":1000,\"tau\":1}", 6,
			{{.type = SESSION_GUARD_QUESTION_ASKED, .fields = &text},
				{.type = SESSION_GUARD_RESPONSE_STARTED},
				{.type = SESSION_GUARD_RESPONSE_DONE},
				{.type = SESSION_GUARD_SPEECH_STARTED},
				{.type = SESSION_GUARD_SPEECH_ENDED},
				{.type = SESSION_GUARD_CONTROL_RESULT,
					.fields = &control}},
			0},
		{"breakloop", &breakloop_machine,
			"{\"monitored\":[\"com.example.feed\",\"com.example.video\"],"
			"\"nQuickTask\":1000,"
			"\"quickTaskMs\":5000}",
			4,
			{{.type = BREAKLOOP_APP_ENTERED,
				 .fields = &feed,
				 .facts = window},
				{.type = BREAKLOOP_APP_ENTERED,
					.fields = &video,
					.facts = window},
				{.type = BREAKLOOP_APP_ENTERED,
					.fields = &mail,
					.facts = window},
				{.type = BREAKLOOP_APP_EXITED,
					.fields = &mail,
					.facts = window}},
			1000},
		{"interview", &interview_machine, "{}", 2,
			{{.type = INTERVIEW_ITEM_START},
				{.type = INTERVIEW_ITEM_MESSAGE, .fields = &message}},
			0},
		{"idle", &idle_machine, "{}", 6,
			{{.type = IDLE_CLIENT_CONNECTED}, {.type = IDLE_PROMPT_WRITTEN},
				{.type = IDLE_CLIENT_DISCONNECTED},
				{.type = IDLE_OUTPUT, .fields = &json},
				{.type = IDLE_RESULT}, {.type = IDLE_CLIENT_CONNECTED}},
			1000},
	};

	for (size_t i = 0; i < sizeof(courses) / sizeof(courses[0]); i++)
		measure(&courses[i], wanted);
	return 0;
}

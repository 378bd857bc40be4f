/* talk.c - what is said to the program of a session: prompts, and that a turn is to end;
 * see agents.h. */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/agent/agents.h"
#include <errno.h>
#include <stdio.h>

#define DOES_NOT_READ "The agent does not read: too much waits for it already"
#define ENDING "The agent is just ending: try again in a moment"
#define CLOSED "CC process stdin closed unexpectedly"

/* ---- a program that has closed its input ---- */

static void tell_lost(struct agent_session *s, size_t lost, const char *problem)
{
	if (lost > 0)
		session_tell_error(s, RECORD_MESSAGE, "%zu prompt%s lost: %s", lost,
			lost > 1 ? "s are" : " is", problem);
}

/* It lives on without reading. */
static void on_deadline(EVENT_UNUSED, void *arg)
{
	struct agent_session *s = arg;
	struct agent_client *client;
	struct prompt *one, *next;
	size_t lost = 0;

	/* How it ended is told in a moment; and who has ended the session asks for nothing more. */
	if (process_is_over(s->process) || s->ending)
		return;
	s->input.stays = true;
	for (one = TAILQ_FIRST(&s->prompts.list); one; one = next) {
		next = TAILQ_NEXT(one, link);
		if (!one->unwritten)
			continue;
		client = client_of(s->agents, str_of(one->from));
		if (client)
			client_say_error(client, CLOSED);
		lost += one->from[0] == '\0';
		prompts_drop(&s->prompts, one);
	}
	tell_lost(s, lost, CLOSED);
}

bool session_input_over(struct agent_session *s)
{
	const bool waited_for = s->input.unwritten > 0 && !s->input.stays;

	event_del(s->input.deadline);
	s->input.unwritten = 0;
	s->input.stays = false;
	return waited_for;
}

/* The prompt waits for the end of the program. NULL, or why it does not: then it is dropped. */
static const char *wait_for_end(
	struct agent_session *s, struct prompt *one, const struct agent_client *client)
{
	if (s->input.stays || s->input.unwritten == AGENTS_UNWRITTEN_MAX) {
		prompts_drop(&s->prompts, one);
		return s->input.stays ? CLOSED : ENDING;
	}
	one->unwritten = true;
	snprintf(one->from, sizeof(one->from), "%s", client ? client->id : "");
	if (s->input.unwritten++ == 0)
		event_add_ms(s->input.deadline, AGENTS_CLOSED_MS);
	return NULL;
}

void talk_init(struct agent_session *s)
{
	s->input.deadline =
		alloc_checked(event_new(s->agents->worker->base, -1, 0, on_deadline, s));
}

void talk_fini(struct agent_session *s)
{
	event_free(s->input.deadline);
}

/* ---- prompts ---- */

/* Prompts that the program did not take up before it was ended for an abort go to the
 * next one. Whatever else ended it, nobody knows what it has already done: that is for
 * the clients to decide. */
size_t session_keep_prompts(struct agent_session *s, const struct process_end *end)
{
	const struct prompt *one;
	size_t count = 0;

	if (s->aborted && !s->ending && !s->agents->stopping && !end->report.start_error)
		prompts_keep_unread(&s->prompts);
	else
		prompts_clear(&s->prompts);
	TAILQ_FOREACH(one, &s->prompts.list, link)
	count++;
	return count;
}

static void release_prompt(const void *content, size_t len, void *arg)
{
	(void)content;
	(void)len;
	prompt_unref(arg);
}

/* Writes a prompt and remembers it until its turn has ended; takes the content. `client`: whose it is, or
 * NULL. NULL, or why not. */
static const char *write_prompt(
	struct agent_session *s, const struct agent_client *client, struct buf *content)
{
	struct prompt *one = prompts_add(&s->prompts, content);
	AUTO_BUF line = {0};
	int r;

	if (!one)
		return DOES_NOT_READ;
	buf_printf(&line,
		"{\"type\":\"user\",\"uuid\":\"%s\",\"message\":{\"role\":\"user\","
		"\"content\":",
		one->uuid);
	r = process_write_shared(s->process, buf_str(&line), buf_str(&one->content),
		release_prompt, prompt_ref(one), STR_LIT("}}"));
	if (r == 0) {
		session_happened(s, IDLE_PROMPT_WRITTEN);
		return NULL;
	}
	if (r == -EPIPE)
		return wait_for_end(s, one, client);
	prompts_drop(&s->prompts, one);
	return DOES_NOT_READ;
}

/* Each prompt gets another uuid: the program passes over what it has seen. */
void session_send_kept(struct agent_session *s)
{
	struct prompts kept;
	struct prompt *one;
	const char *problem = session_start(s);
	size_t lost = 0;

	prompts_move(&s->prompts, &kept);
	TAILQ_FOREACH(one, &kept.list, link)
	{
		if (!problem)
			problem = write_prompt(s, NULL, &one->content);
		lost += problem != NULL;
	}
	tell_lost(s, lost, problem);
	prompts_clear(&kept);
}

const char *session_prompt(
	struct agent_session *s, const struct agent_client *client, struct buf *content)
{
	const char *problem = NULL;

	if (s->ending || s->agents->stopping ||
		(s->process && process_stage_of(s->process) > PROCESS_INTERRUPTED))
		return ENDING;
	if (!s->process)
		problem = session_start(s);
	return problem ? problem : write_prompt(s, client, content);
}

bool session_abort(struct agent_session *s)
{
	AUTO_BUF line = {0};
	char id[UUID_SIZE];

	if (!s->process || !idle_driver_in_progress(&s->driver))
		return false;
	uuid4(id);
	buf_printf(&line,
		"{\"type\":\"control_request\",\"request_id\":\"%s\","
		"\"request\":{\"subtype\":\"interrupt\"}}",
		id);
	s->aborted = true;
	prompts_abort(&s->prompts);
	if (process_write(s->process, &line, 1) < 0)
		log_info("the agent does not read; it gets a signal in a moment",
			"session", "%s", s->id, NULL);
	process_stop(s->process, PROCESS_ASKED);
	output_go_on(s);
	return true;
}

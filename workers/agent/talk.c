/* talk.c - what is said to the program of a session: prompts, and that a turn is to end;
 * see agents.h. */
#include "common/base/log.h"
#include "workers/agent/agents.h"
#include <errno.h>
#include <stdio.h>

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

/* Writes a prompt and remembers it until its turn has ended; takes the content. NULL, or why
 * not. */
static const char *write_prompt(struct agent_session *s, struct buf *content)
{
	struct prompt *one = prompts_add(&s->prompts, content);
	struct buf line = {0};
	int r;

	if (!one)
		return "The agent does not read: too much waits for it already";
	buf_printf(&line,
		"{\"type\":\"user\",\"uuid\":\"%s\",\"message\":{\"role\":\"user\","
		"\"content\":",
		one->uuid);
	r = process_write_shared(s->process, buf_str(&line), buf_str(&one->content),
		release_prompt, prompt_ref(one), STR_LIT("}}"));
	buf_free(&line);
	if (r == 0) {
		session_happened(s, IDLE_PROMPT_WRITTEN);
		return NULL;
	}
	prompts_drop(&s->prompts, one);
	return r == -ENOBUFS ? "The agent does not read: too much waits for it already"
			     : "CC process stdin closed unexpectedly";
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
			problem = write_prompt(s, &one->content);
		lost += problem != NULL;
	}
	if (lost > 0)
		session_tell_error(s, RECORD_MESSAGE, "%zu prompt%s lost: %s", lost,
			lost > 1 ? "s are" : " is", problem);
	prompts_clear(&kept);
}

const char *session_prompt(struct agent_session *s, struct buf *content)
{
	const char *problem = NULL;

	if (s->ending || s->agents->stopping ||
		(s->process && process_stage_of(s->process) > PROCESS_INTERRUPTED))
		return "The agent is just ending: try again in a moment";
	if (!s->process)
		problem = session_start(s);
	return problem ? problem : write_prompt(s, content);
}

bool session_abort(struct agent_session *s)
{
	struct buf line = {0};
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
	buf_free(&line);
	process_stop(s->process, PROCESS_ASKED);
	output_go_on(s);
	return true;
}

/* catch_up.c - see catch_up.h. */
#include "workers/observer/catch_up.h"

void catch_up_init(struct catch_up *c, int64_t now_ms)
{
	*c = (struct catch_up){.unseen_from = INT64_MAX, .since_ms = now_ms};
}

void catch_up_begin(struct catch_up *c)
{
	c->fresh = c->behind = true;
}

/* A gap of which nobody has asked yet stays one: a session may have begun in it. */
void catch_up_idle(struct catch_up *c, int64_t now_ms)
{
	c->unseen_from = INT64_MAX;
	c->since_ms = now_ms;
	c->fresh = false;
	c->behind = c->missed;
}

void catch_up_missed(struct catch_up *c)
{
	c->behind = c->missed = true;
}

enum catch_up_verdict catch_up_event(struct catch_up *c, int64_t number)
{
	if (number <= c->position)
		return CATCH_UP_COUNTED;
	if (number < c->unseen_from)
		c->unseen_from = number;
	if (number > c->heard)
		c->heard = number;
	if (c->behind)
		return CATCH_UP_LATER;
	c->position = number;
	return CATCH_UP_COUNTS;
}

enum catch_up_verdict catch_up_row(
	const struct catch_up *c, int64_t number, int64_t at_ms)
{
	if (number <= c->position)
		return c->fresh ? CATCH_UP_PAST : CATCH_UP_COUNTED;
	return number >= c->unseen_from || at_ms >= c->since_ms ? CATCH_UP_COUNTS
								: CATCH_UP_PAST;
}

bool catch_up_ask(struct catch_up *c)
{
	if (!c->behind || c->asking)
		return false;
	c->asking = true;
	c->missed = false;
	c->heard_at_asking = c->heard;
	return true;
}

void catch_up_answered(struct catch_up *c, int64_t newest)
{
	if (newest < c->heard_at_asking)
		newest = c->heard_at_asking;
	if (newest > c->position)
		c->position = newest;
	/* What is written from now on nobody has seen. */
	if (c->unseen_from > c->position)
		c->unseen_from = c->position + 1;
	c->asking = c->fresh = false;
	c->behind = c->missed || c->heard > c->position;
}

void catch_up_unanswered(struct catch_up *c)
{
	c->asking = false;
}

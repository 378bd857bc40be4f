/* prompts.c - see prompts.h. */
#include "workers/agent/prompts.h"
#include "common/base/alloc.h"
#include <stdlib.h>

void prompts_init(struct prompts *p)
{
	TAILQ_INIT(&p->list);
	p->bytes = 0;
}

struct prompt *prompts_add(struct prompts *p, struct buf *content)
{
	struct prompt *one;

	if (p->bytes + content->len > PROMPTS_MAX_BYTES)
		return NULL;
	one = xcalloc(1, sizeof(*one));
	one->refs = 1;
	one->content = *content;
	*content = (struct buf){0};
	uuid4(one->uuid);
	p->bytes += one->content.len;
	TAILQ_INSERT_TAIL(&p->list, one, link);
	return one;
}

struct prompt *prompt_ref(struct prompt *one)
{
	one->refs++;
	return one;
}

void prompt_unref(struct prompt *one)
{
	if (--one->refs > 0)
		return;
	buf_free(&one->content);
	free(one);
}

void prompts_drop(struct prompts *p, struct prompt *one)
{
	TAILQ_REMOVE(&p->list, one, link);
	p->bytes -= one->content.len;
	prompt_unref(one);
}

void prompts_read(struct prompts *p, struct str uuid)
{
	struct prompt *one;

	TAILQ_FOREACH(one, &p->list, link)
	if (str_is(uuid, one->uuid))
		one->read = true;
}

void prompts_abort(struct prompts *p)
{
	struct prompt *one;
	bool any = false;

	TAILQ_FOREACH(one, &p->list, link)
	if (one->read)
		any = one->aborted = true;
	one = TAILQ_FIRST(&p->list);
	if (!any && one && !one->unwritten)
		one->aborted = true;
}

size_t prompts_turn_ended(struct prompts *p)
{
	struct prompt *one = TAILQ_FIRST(&p->list);
	size_t count = 0;

	while (one) {
		struct prompt *next = TAILQ_NEXT(one, link);

		if (one->read) {
			prompts_drop(p, one);
			count++;
		}
		one = next;
	}
	one = TAILQ_FIRST(&p->list);
	if (count > 0 || !one || one->unwritten)
		return count;
	prompts_drop(p, one);
	return 1;
}

void prompts_keep_unread(struct prompts *p)
{
	struct prompt *one = TAILQ_FIRST(&p->list);

	while (one) {
		struct prompt *next = TAILQ_NEXT(one, link);

		if (one->read || one->aborted)
			prompts_drop(p, one);
		one = next;
	}
}

bool prompts_aborting(const struct prompts *p)
{
	const struct prompt *one;

	TAILQ_FOREACH(one, &p->list, link)
	if (one->aborted)
		return true;
	return false;
}

void prompts_move(struct prompts *p, struct prompts *to)
{
	prompts_init(to);
	TAILQ_CONCAT(&to->list, &p->list, link);
	to->bytes = p->bytes;
	p->bytes = 0;
}

void prompts_clear(struct prompts *p)
{
	while (!TAILQ_EMPTY(&p->list))
		prompts_drop(p, TAILQ_FIRST(&p->list));
}

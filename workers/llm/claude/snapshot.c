/* snapshot.c - settings and prompts of a flow (snapshot.h). */
#include "workers/llm/claude/snapshot.h"
#include "common/base/alloc.h"
#include <stdatomic.h>
#include <stdlib.h>

struct counted {
	struct snapshot snapshot; /* first: known by the address of this */
	atomic_uint refs;
};

static struct counted *counted(const struct snapshot *s)
{
	return (struct counted *)(uintptr_t)s;
}

const struct snapshot *snapshot_new(const struct settings *settings)
{
	struct counted *c = xmalloc(sizeof(*c));

	c->snapshot = (struct snapshot){.settings = settings_ref(settings),
		.prompts = prompts_read(settings->prompts_dir)};
	atomic_init(&c->refs, 1);
	return &c->snapshot;
}

const struct snapshot *snapshot_ref(const struct snapshot *s)
{
	atomic_fetch_add_explicit(&counted(s)->refs, 1, memory_order_relaxed);
	return s;
}

void snapshot_unref(const struct snapshot *s)
{
	struct counted *c = counted(s);

	if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) > 1)
		return;
	settings_unref(c->snapshot.settings);
	prompts_free(c->snapshot.prompts);
	free(c);
}

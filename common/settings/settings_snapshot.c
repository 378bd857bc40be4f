/* settings_snapshot.c - see settings_snapshot.h. */
#include "common/settings/settings_snapshot.h"
#include "common/base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

struct snapshot {
	struct settings settings; /* first: a snapshot is known by the address of this */
	atomic_uint refs;
};

static struct snapshot *snapshot_of(const struct settings *settings)
{
	return (struct snapshot *)(uintptr_t)settings;
}

const struct settings *settings_snapshot(struct settings *s)
{
	struct snapshot *snapshot = xmalloc(sizeof(*snapshot));

	snapshot->settings = *s;
	atomic_init(&snapshot->refs, 1);
	*s = (struct settings){0};
	return &snapshot->settings;
}

const struct settings *settings_ref(const struct settings *snapshot)
{
	atomic_fetch_add_explicit(&snapshot_of(snapshot)->refs, 1, memory_order_relaxed);
	return snapshot;
}

void settings_unref(const struct settings *snapshot)
{
	struct snapshot *s;

	if (!snapshot)
		return;
	s = snapshot_of(snapshot);
	if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) > 1)
		return;
	settings_fini(&s->settings);
	free(s);
}

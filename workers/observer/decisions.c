/* decisions.c - see decisions.h. */
#include "workers/observer/decisions.h"
#include "common/base/utf8.h"
#include <stdio.h>

#define LIMIT_DEFAULT 100

static struct str keep(char *out, size_t size, struct str text)
{
	text = utf8_cut(text, size - 1);
	memcpy(out, text.ptr, text.len);
	out[text.len] = '\0';
	return (struct str){out, text.len};
}

const struct observer_decision *decisions_add(
	struct decisions *d, const struct observer_decision *decision, struct wall now)
{
	struct decision *slot = &d->ring[d->next];
	struct observer_decision *m = &slot->message;

	d->next = (d->next + 1) % DECISIONS_KEPT;
	if (d->count < DECISIONS_KEPT)
		d->count++;
	else
		d->forgotten++;
	d->last_n = wall_ms(now) > d->last_n ? wall_ms(now) : d->last_n + 1;
	*m = *decision;
	m->n = d->last_n;
	m->has_n = true;
	wall_iso(now, slot->at);
	m->at = str_of(slot->at);
	m->session_id =
		keep(slot->session_id, sizeof(slot->session_id), decision->session_id);
	if (decision->reasoning.ptr)
		m->reasoning = keep(
			slot->reasoning, sizeof(slot->reasoning), decision->reasoning);
	return m;
}

void decisions_page(const struct decisions *d,
	const struct observer_decisions_query *query, struct arena *arena,
	struct observer_decisions *page)
{
	const size_t limit = query->has_limit ? (size_t)query->limit : LIMIT_DEFAULT;

	*page = (struct observer_decisions){.decisions.items = arena_array(arena, limit,
						    sizeof(*page->decisions.items))};
	for (size_t i = 1; i <= d->count; i++) {
		const struct observer_decision *m =
			&d->ring[(d->next + DECISIONS_KEPT - i) % DECISIONS_KEPT].message;

		if (query->has_before && m->n >= query->before)
			continue;
		if (page->decisions.count == limit) {
			page->next = page->decisions.items[limit - 1].n;
			page->has_next = true;
			return;
		}
		page->decisions.items[page->decisions.count++] = *m;
	}
	page->forgotten = d->forgotten;
	page->has_forgotten = d->forgotten > 0;
}

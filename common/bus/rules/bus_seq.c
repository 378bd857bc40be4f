/* bus_seq.c - which events of a publisher were missed (bus_seq.h). */
#include "common/bus/rules/bus_seq.h"

void bus_seq_connected(struct bus_seq *s)
{
	s->heard = false;
}

/* `before` is the last event that must have been heard for nothing to be missing. */
static struct bus_seq_verdict hear(
	struct bus_seq *s, uint64_t incarnation, uint64_t before)
{
	struct bus_seq_verdict v = {.gap = !s->heard};

	v.anew = s->known && s->incarnation != incarnation;
	if (v.anew)
		v.gap = true;
	else if (s->known && before > s->last) {
		v.gap = true;
		v.missed = before - s->last;
	}
	s->heard = true;
	return v;
}

struct bus_seq_verdict bus_seq_event(
	struct bus_seq *s, uint64_t incarnation, uint64_t seq)
{
	struct bus_seq_verdict v = {0};

	if (s->known && s->heard && s->incarnation == incarnation && seq <= s->last)
		return v;
	v = hear(s, incarnation, seq - 1);
	v.deliver = true;
	*s = (struct bus_seq){true, true, incarnation, seq};
	return v;
}

struct bus_seq_verdict bus_seq_beacon(
	struct bus_seq *s, uint64_t incarnation, uint64_t seq)
{
	struct bus_seq_verdict v = hear(s, incarnation, seq);

	*s = (struct bus_seq){true, true, incarnation, seq};
	return v;
}

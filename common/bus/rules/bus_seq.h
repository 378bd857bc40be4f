/*
 * bus_seq.h - finds out which events of a publisher were missed. Pure; used by
 * bus_subscribe.c.
 *
 * A publisher numbers its events from 1 within its incarnation (one process). It also
 * sends beacons that carry the number of its last event: whenever a subscriber connects,
 * and at the ticks of its bus, so that a lost last event is noticed too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zero is a subscriber that never heard anything. */
struct bus_seq {
	bool known; /* incarnation and last are set */
	bool heard; /* something arrived on this connection */
	uint64_t incarnation;
	uint64_t last; /* event */
};

struct bus_seq_verdict {
	bool deliver;	 /* the event is new */
	bool gap;	 /* the subscriber should ask for a snapshot */
	bool anew;	 /* the publisher is another process than before */
	uint64_t missed; /* events; 0 when nobody can know */
};

/* A connection came up. The first message on it counts as a gap, because earlier events are
 * lost; every later loss is noticed. */
void bus_seq_connected(struct bus_seq *s);
struct bus_seq_verdict bus_seq_event(
	struct bus_seq *s, uint64_t incarnation, uint64_t seq);
struct bus_seq_verdict bus_seq_beacon(
	struct bus_seq *s, uint64_t incarnation, uint64_t seq);

/*
 * bus_subscribe.c - the events of other workers. Everything a publisher sends is received
 * and filtered here, not in nng: only then do the numbers show what was missed.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/rules/bus_folder.h"
#include "common/loop/timer.h"
#include "proto/tables/topics.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Events and bytes per turn of the loop and publisher, but for the rest of the last message. */
#define EVENTS_PER_TURN 256
#define BYTES_PER_TURN (1024u * 1024)

/* ---- the first event ---- */

static void heard_all(struct bus *bus)
{
	void (*done)(void *arg) = bus->heard.done;

	event_del(bus->heard.limit);
	bus->heard.done = NULL;
	done(bus->heard.arg);
}

static bool is_unheard(const struct bus_feed *feed)
{
	return feed->wanted && !feed->seq.known;
}

static void check_heard(struct bus *bus)
{
	if (!bus->heard.done)
		return;
	for (int i = 0; i < WORKER_COUNT; i++)
		if (is_unheard(&bus->feeds[i]))
			return;
	heard_all(bus);
}

static void on_heard_limit(EVENT_UNUSED, void *arg)
{
	struct bus *bus = arg;

	for (int i = 0; i < WORKER_COUNT; i++)
		if (is_unheard(&bus->feeds[i]))
			log_warn("a worker is not heard yet, going on without", "worker",
				"%s", worker_infos[i].name, NULL);
	heard_all(bus);
}

void bus_when_heard(struct bus *bus, int limit_ms, void (*fn)(void *arg), void *arg)
{
	assert(!bus->heard.limit);
	bus->heard.limit = event_new(bus->base, -1, 0, on_heard_limit, bus);
	if (!bus->heard.limit || event_add_ms(bus->heard.limit, limit_ms) < 0)
		abort();
	bus->heard.done = fn;
	bus->heard.arg = arg;
	check_heard(bus);
}

/* ---- one event ---- */

static void tell_gap(struct bus_feed *feed, const struct bus_seq_verdict *verdict)
{
	if (verdict->missed > 0) {
		feed->bus->stats.gaps++;
		log_warn("events missed", "from", "%s", worker_infos[feed->from].name,
			"count", "%llu", (unsigned long long)verdict->missed, NULL);
	}
	for (struct bus_subscription *s = feed->subscriptions; s; s = s->next)
		if (s->on_gap)
			s->on_gap(s->arg, feed->from, verdict->missed);
}

void bus_complain_of_event(
	struct bus *bus, const char *what, const struct bus_event *event)
{
	unsigned more;

	if (bus_may_complain(bus, &more))
		log_error(what, "from", "%s", worker_infos[event->from].name, "topic",
			"%.*s", STR_ARG(event->topic), "more", "%u", more, NULL);
}

static void tell_event(struct bus_feed *feed, const struct bus_event_record *record)
{
	struct bus_event event = {.from = feed->from,
		.topic = record->topic,
		.body = record->body,
		.epoch = record->incarnation,
		.seq = record->seq};

	if (!topic_owned_by(record->topic, feed->from)) {
		bus_complain_of_event(
			feed->bus, "event of a topic that is another's", &event);
		return;
	}
	feed->bus->stats.received++;
	for (struct bus_subscription *s = feed->subscriptions; s; s = s->next)
		if (s->fn && record->topic.len >= s->prefix.len &&
			memcmp(record->topic.ptr, s->prefix.ptr, s->prefix.len) == 0)
			s->fn(s->arg, &event);
}

static void take(struct bus_feed *feed, const struct bus_event_record *record)
{
	struct bus_seq_verdict verdict;

	if (str_is(record->topic, BUS_BEACON))
		verdict = bus_seq_beacon(&feed->seq, record->incarnation, record->seq);
	else
		verdict = bus_seq_event(&feed->seq, record->incarnation, record->seq);
	if (verdict.gap)
		tell_gap(feed, &verdict);
	if (verdict.deliver)
		tell_event(feed, record);
}

/* The number of events in it. */
static int take_all(struct bus_feed *feed, struct nng_msg *message)
{
	struct str text = bus_message_text(message);
	struct bus_event_record record;
	int result, count = 0;

	if (bus_message_pipe(message) != feed->heard_pipe) {
		feed->heard_pipe = bus_message_pipe(message);
		bus_seq_connected(&feed->seq);
	}
	for (; (result = bus_event_parse(&text, &record)) == 1; count++)
		take(feed, &record);
	if (result < 0) {
		unsigned more;

		if (bus_may_complain(feed->bus, &more))
			log_error("event that cannot be read", "from", "%s",
				worker_infos[feed->from].name, "more", "%u", more, NULL);
	}
	check_heard(feed->bus);
	return count;
}

static void on_readable(EVENT_UNUSED, void *arg)
{
	struct bus_feed *feed = arg;
	struct nng_msg *message;
	size_t bytes = 0;

	for (int events = 0; events < EVENTS_PER_TURN && bytes < BYTES_PER_TURN;) {
		message = bus_dialer_event(&feed->dialer);
		if (!message)
			return;
		bytes += bus_message_text(message).len;
		/* One without any is a turn, too. */
		events += take_all(feed, message) + 1;
		bus_message_free(message);
	}
}

/* ---- the connection ---- */

static void on_changed(struct loop_task *task)
{
	struct bus_feed *feed = CONTAINER_OF(task, struct bus_feed, dialer.changed);
	uint32_t pipe = atomic_load(&feed->dialer.pipe);

	if (pipe == feed->pipe)
		return;
	feed->pipe = pipe;
	bus_dial_changed(&feed->dial);
	if (!pipe)
		bus_end_rest(feed->bus);
}

static int open_feed(struct bus_feed *feed)
{
	struct bus *bus = feed->bus;
	char path[108];
	int r;

	bus_socket_path(bus, feed->from, BUS_EVENTS_SOCKET, path);
	r = bus_dialer_open(&feed->dialer, BUS_DIAL_SUB, path, &bus->post, on_changed);
	if (r < 0)
		return r;
	feed->readable = event_new(bus->base, bus_dialer_fd(&feed->dialer),
		EV_READ | EV_PERSIST, on_readable, feed);
	if (!feed->readable || event_add(feed->readable, NULL) < 0)
		return -ENOMEM;
	feed->opened = true;
	return 0;
}

int bus_subscribe_open(struct bus *bus)
{
	for (int i = 0; i < WORKER_COUNT; i++) {
		int r = bus->feeds[i].wanted ? open_feed(&bus->feeds[i]) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static bool look(struct bus_feed *feed, struct mono now)
{
	on_readable(-1, 0, feed); /* a wake-up that nng lost would stay lost otherwise */
	if (feed->pipe)
		return true;
	bus_dial_look(&feed->dial, &feed->dialer, now);
	return false;
}

bool bus_subscribe_look(struct bus *bus, struct mono now)
{
	bool all = true;

	for (int i = 0; i < WORKER_COUNT; i++)
		if (bus->feeds[i].opened && !look(&bus->feeds[i], now))
			all = false;
	return all;
}

/* ---- subscribing ---- */

static struct bus_subscription *subscription_new(
	struct bus *bus, enum worker_id from, const char *prefix)
{
	struct bus_feed *feed = &bus->feeds[from];
	size_t len = strlen(prefix);
	struct bus_subscription *s = xcalloc(1, sizeof(*s) + len + 1);
	struct bus_subscription **last = &feed->subscriptions;
	char *bytes;

	/* The supervisor connects nobody else (topics.def). */
	assert(topic_heard_by(bus->self, from, prefix));
	bytes = (char *)(s + 1);
	memcpy(bytes, prefix, len);
	s->prefix = (struct str){bytes, len};
	while (*last)
		last = &(*last)->next;
	*last = s;
	feed->wanted = true;
	return s;
}

void bus_subscribe(struct bus *bus, enum worker_id from, const char *prefix,
	bus_event_fn *fn, void *arg)
{
	struct bus_subscription *s = subscription_new(bus, from, prefix);

	s->fn = fn;
	s->arg = arg;
}

void bus_on_gap(struct bus *bus, enum worker_id from, bus_gap_fn *fn, void *arg)
{
	struct bus_subscription *s = subscription_new(bus, from, "");

	s->on_gap = fn;
	s->arg = arg;
}

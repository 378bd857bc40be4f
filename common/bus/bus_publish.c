/*
 * bus_publish.c - the events of this worker: numbered and handed to nng. Those of one
 * turn of the loop travel together, since every message wakes every subscriber. A beacon
 * carries the last number to whoever has just connected, and follows the last event of a
 * burst, so that every loss is noticed (bus_seq.h).
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/rules/bus_folder.h"

/* What waits is sent when it passes this. */
#define WAITING_SOFT_BYTES (64u * 1024)

static void send_event(struct bus *bus, struct str first, struct str second)
{
	char *to;
	struct nng_msg *message = bus_message_new(first.len + second.len, &to);

	memcpy(to, first.ptr, first.len);
	memcpy(to + first.len, second.ptr, second.len);
	bus->sent_at = clock_mono();
	bus_listener_publish(&bus->publisher.listener, message);
}

void bus_publish_flush(struct bus *bus)
{
	struct buf *waiting = &bus->publisher.waiting;

	if (waiting->len == 0)
		return;
	send_event(bus, buf_str(waiting), STR_LIT(""));
	buf_empty(waiting, 4 * WAITING_SOFT_BYTES);
}

static void publish(struct bus *bus, struct str topic, struct str body)
{
	struct bus_event_record record = {
		.topic = topic,
		.incarnation = bus->incarnation,
		.seq = bus->publisher.seq,
		.body = body,
	};
	struct buf *waiting = &bus->publisher.waiting;
	char line[BUS_LINE_MAX];
	size_t n = bus_event_format(&record, line);

	if (waiting->len + body.len > WAITING_SOFT_BYTES)
		bus_publish_flush(bus);
	/* A large event travels alone, so that messages stay below BUS_RECEIVE_MAX, and is
	 * copied once. */
	if (body.len > WAITING_SOFT_BYTES) {
		send_event(bus, (struct str){line, n}, body);
		return;
	}
	buf_add(waiting, line, n);
	buf_add_str(waiting, body);
	bus_call_ask_flush(bus);
}

void bus_publish(struct bus *bus, const char *topic, struct str body)
{
	struct str t = str_of(topic);

	if (!bus_topic_valid(t) || body.len > BUS_BODY_MAX) {
		log_error("event not published: bad topic or too big", "topic", "%s",
			topic, "bytes", "%zu", body.len, NULL);
		return;
	}
	/* Numbered in any case: whoever missed it must see that. */
	bus->publisher.seq++;
	bus->publisher.quiet = false;
	bus->stats.published++;
	bus_tap_event(bus, t, body);
	if (bus->started)
		publish(bus, t, body);
}

static void beacon(struct bus *bus)
{
	bus->publisher.quiet = true;
	publish(bus, STR_LIT(BUS_BEACON), (struct str){"", 0});
	bus_publish_flush(bus);
}

static void on_connected(struct loop_task *task)
{
	struct bus_publisher *p =
		CONTAINER_OF(task, struct bus_publisher, listener.changed);

	beacon(CONTAINER_OF(p, struct bus, publisher));
}

void bus_publish_tick(struct bus *bus)
{
	if (!bus->publisher.quiet)
		beacon(bus);
}

int bus_publish_open(struct bus *bus)
{
	char path[108];

	bus_socket_path(bus, bus->self, BUS_EVENTS_SOCKET, path);
	bus->publisher.quiet = true;
	return bus_listener_open(
		&bus->publisher.listener, BUS_LISTEN_PUB, path, &bus->post, on_connected);
}

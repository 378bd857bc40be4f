/*
 * bus_wire.h - how messages of the bus are framed. Pure; used by the other bus_*.c only.
 *
 * A request message is a head and call records, a reply message a reply head and reply
 * records, an event message one or more events. Heads and records begin with a line of text:
 *
 *   head        "B <epoch> <caller> <key> <key> <incarnation> <base> <seq> <part> <sent us>\n"
 *   call        "C <id> <method> <deadline ms left> <key or -> <body bytes>\n" body
 *   reply head  "A <seq> <part> whole|more|again\n"
 *   reply       "R <id> ok|error <body bytes>\n" body
 *   event       "<topic>|<incarnation> <seq> <body bytes>\n" body
 *
 * Epochs, keys (bus_keys.h) and incarnations are hexadecimal, everything else decimal.
 * Parsed records point into the message.
 */
#pragma once

#include "common/base/str.h"
#include "common/bus/rules/bus_keys.h"
#include "proto/tables/workers.h"
#include <stdbool.h>
#include <stdint.h>

#define BUS_LINE_MAX 320 /* longest line, with its newline */
#define BUS_KEY_MAX 100
#define BUS_TOPIC_MAX 120

struct bus_head {
	uint64_t epoch; /* of the daemon's run */
	enum worker_id caller;
	struct bus_key key;   /* that proves it */
	uint64_t incarnation; /* of the caller's process */
	uint64_t base;	      /* lowest batch that the caller has no whole reply for */
	uint64_t seq;	      /* of this batch, from 1; 0: a call that travels alone */
	uint32_t part;	      /* part of the reply that is asked for, from 0 */
	int64_t sent_us;      /* the machine's monotonic clock when it was sent */
};

struct bus_call_record {
	uint64_t id;
	struct str method;
	int64_t deadline_ms; /* left when it was sent */
	struct str key;	     /* absent when the line says "-" */
	struct str body;
};

enum bus_reply_kind {
	BUS_REPLY_WHOLE, /* this was the last part */
	BUS_REPLY_MORE,	 /* another part has to be asked for */
	BUS_REPLY_AGAIN, /* nothing was done: send the request once more, with what is
			    base now */
};

struct bus_reply_head {
	uint64_t seq;
	uint32_t part;
	enum bus_reply_kind kind;
};

struct bus_reply_record {
	uint64_t id;
	bool ok;
	struct str body;
};

struct bus_event_record {
	struct str topic;
	uint64_t incarnation; /* of the publisher's process */
	uint64_t seq;
	struct str body;
};

/* Each writes its line with the newline, without NUL, and returns its length. */
size_t bus_head_format(const struct bus_head *h, char out[BUS_LINE_MAX]);
size_t bus_call_format(const struct bus_call_record *c, char out[BUS_LINE_MAX]);
size_t bus_reply_head_format(const struct bus_reply_head *h, char out[BUS_LINE_MAX]);
size_t bus_reply_format(const struct bus_reply_record *r, char out[BUS_LINE_MAX]);
size_t bus_event_format(const struct bus_event_record *e, char out[BUS_LINE_MAX]);

/* Each takes one head or record off the front of *rest. 1 when there was one, 0 at the
 * end of the message, -EINVAL when it is malformed; *rest and *out untouched in the last
 * case. */
int bus_head_parse(struct str *rest, struct bus_head *out)
	__attribute__((warn_unused_result));
int bus_call_parse(struct str *rest, struct bus_call_record *out)
	__attribute__((warn_unused_result));
int bus_reply_head_parse(struct str *rest, struct bus_reply_head *out)
	__attribute__((warn_unused_result));
int bus_reply_parse(struct str *rest, struct bus_reply_record *out)
	__attribute__((warn_unused_result));
int bus_event_parse(struct str *rest, struct bus_event_record *out)
	__attribute__((warn_unused_result));

/* Keys: 1 to BUS_KEY_MAX of A-Z a-z 0-9 . _ : -; not "-" alone. Topics: 1 to
 * BUS_TOPIC_MAX printable characters without blank and '|'. */
bool bus_key_valid(struct str key);
bool bus_topic_valid(struct str topic);

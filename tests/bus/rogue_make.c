/* rogue_make.c - see rogue_make.h. */
#include "tests/bus/rogue_make.h"
#include "common/base/ids.h"
#include "proto/tables/actions.h"
#include "proto/tables/topics.h"
#include <stdio.h>
#include <stdlib.h>

bool rogue_chance(struct rogue *r, unsigned n)
{
	return rng_below(&r->rng, n) == 0;
}

static void add_line(struct buf *out, const char line[BUS_LINE_MAX], size_t len)
{
	buf_add(out, line, len);
}

/* A number of those at which arithmetic goes wrong. */
static uint64_t odd_number(struct rogue *r)
{
	static const uint64_t odd[] = {0, 1, 2, 3, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
		INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX};

	return rogue_chance(r, 3) ? rng_next(&r->rng)
				  : odd[rng_below(&r->rng, sizeof(odd) / sizeof(odd[0]))];
}

/* ---- bodies ---- */

static void add_deep(struct rogue *r, struct buf *out)
{
	size_t depth = 1 + rng_below(&r->rng, rogue_chance(r, 4) ? 200000 : 80);
	bool array = rogue_chance(r, 2);

	for (size_t i = 0; i < depth; i++)
		buf_add_str(out, array ? STR_LIT("[") : STR_LIT("{\"a\":"));
	buf_add_char(out, '1');
	for (size_t i = 0; i < depth; i++)
		buf_add_char(out, array ? ']' : '}');
}

static void add_huge(struct rogue *r, struct buf *out)
{
	size_t len = 1000 + rng_below(&r->rng, rogue_chance(r, 20) ? 12000000 : 200000);

	buf_add_char(out, '"');
	memset(buf_reserve(out, len), 'h', len);
	out->len += len;
	buf_add_char(out, '"');
}

/* What stands in place of a value. */
static void add_wrong_value(struct rogue *r, struct buf *out)
{
	static const char *const values[] = {"null", "true", "-1", "0", "1e308",
		"9007199254740993", "0.5", "\"\"", "\"\\u0000\"", "\"../../etc/passwd\"",
		"\"/etc/passwd\"", "\"a\\nb\"", "[]", "{}", "[[]]",
		"\"00000000-0000-4000-8000-000000000000\"", "-9223372036854775808",
		"\"\\ud800\"", "1E400"};

	switch (rng_below(&r->rng, 12)) {
	case 0:
		add_deep(r, out);
		break;
	case 1:
		add_huge(r, out);
		break;
	default:
		buf_add_str(out, str_of(values[rng_below(
					 &r->rng, sizeof(values) / sizeof(values[0]))]));
		break;
	}
}

/* Writes `value` anew, with one value in eight replaced, a name lost or a name twice. */
static void add_changed(struct rogue *r, yyjson_val *value, struct buf *out)
{
	size_t i, n;
	yyjson_val *key, *item;
	const char *between = "";

	if (rogue_chance(r, 8)) {
		add_wrong_value(r, out);
	} else if (yyjson_is_obj(value)) {
		buf_add_char(out, '{');
		yyjson_obj_foreach(value, i, n, key, item)
		{
			for (int times = rogue_chance(r, 12) ? (int)rng_below(&r->rng, 3)
							     : 1;
				times > 0; times--) {
				buf_add_str(out, str_of(between));
				buf_add_json_string(out, (struct str){yyjson_get_str(key),
								 yyjson_get_len(key)});
				buf_add_char(out, ':');
				add_changed(r, item, out);
				between = ",";
			}
		}
		buf_add_char(out, '}');
	} else if (yyjson_is_arr(value)) {
		buf_add_char(out, '[');
		yyjson_arr_foreach(value, i, n, item)
		{
			buf_add_str(out, str_of(between));
			add_changed(r, item, out);
			between = ",";
		}
		buf_add_char(out, ']');
	} else {
		char *text = yyjson_val_write(value, 0, NULL);

		buf_add_str(out, text ? str_of(text) : STR_LIT("null"));
		free(text);
	}
}

static void damage(struct rogue *r, struct buf *b)
{
	if (b->len == 0)
		return;
	if (rogue_chance(r, 3))
		b->len = rng_below(&r->rng, b->len);
	for (uint64_t i = rng_below(&r->rng, 4); i > 0 && b->len > 0; i--)
		b->data[rng_below(&r->rng, b->len)] = (char)rng_next(&r->rng);
}

void rogue_body(struct rogue *r, const struct type *type, struct buf *out)
{
	uint64_t how = rng_below(&r->rng, 16);
	struct buf whole = {0}, changed = {0};
	yyjson_doc *doc;

	if (type)
		sample_add(&r->rng, type, rogue_chance(r, 2), &whole);
	else
		add_wrong_value(r, &whole);
	if (how < 6 && (doc = yyjson_read(whole.data, whole.len, 0))) {
		add_changed(r, yyjson_doc_get_root(doc), &changed);
		yyjson_doc_free(doc);
	} else if (how == 6) {
		add_wrong_value(r, &changed);
	} else {
		buf_add_str(&changed, buf_str(&whole));
	}
	if (how == 7)
		damage(r, &changed);
	buf_add_str(out, buf_str(&changed));
	buf_free(&whole);
	buf_free(&changed);
}

/* ---- requests ---- */

/* Most often one that we may call. */
static enum method pick_method(struct rogue *r, enum worker_id to)
{
	for (int tries = 0; tries < 400; tries++) {
		enum method m = (enum method)rng_below(&r->rng, METHOD_COUNT);

		if (method_infos[m].owner == to &&
			(method_infos[m].callers & 1u << r->self || rogue_chance(r, 6)))
			return m;
	}
	return (enum method)rng_below(&r->rng, METHOD_COUNT);
}

static void make_uuid(struct rogue *r, char uuid[UUID_SIZE])
{
	unsigned char bytes[16];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)rng_next(&r->rng);
	snprintf(uuid, UUID_SIZE,
		"%02x%02x%02x%02x-%02x%02x-7%x%02x-8%x%02x-%02x%02x%02x%02x%02x%02x",
		bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6] & 15,
		bytes[7], bytes[8] & 15, bytes[9], bytes[10], bytes[11], bytes[12],
		bytes[13], bytes[14], bytes[15]);
}

static struct str pick_key(struct rogue *r, enum method m, char uuid[UUID_SIZE])
{
	static char longest[BUS_KEY_MAX];

	if (!(method_infos[m].flags & METHOD_KEYED) && !rogue_chance(r, 10))
		return (struct str){NULL, 0};
	memset(longest, 'k', sizeof(longest));
	make_uuid(r, uuid);
	switch (rng_below(&r->rng, 12)) {
	case 0:
		return STR_LIT("no-uuid");
	case 1:
		return (struct str){longest, sizeof(longest)};
	case 2:
		return STR_LIT("00000000-0000-7000-8000-000000000000");
	case 3:
		return (struct str){NULL, 0};
	default:
		return str_of(uuid);
	}
}

static void add_call(struct rogue *r, enum worker_id to, uint64_t id, struct buf *out)
{
	enum method m = pick_method(r, to);
	struct buf body = {0};
	char line[BUS_LINE_MAX], uuid[UUID_SIZE];
	struct bus_call_record record = {
		.id = id, .method = str_of(method_infos[m].name), .deadline_ms = 2000};
	size_t n;

	rogue_body(r, method_infos[m].request ? method_infos[m].request() : NULL, &body);
	record.key = pick_key(r, m, uuid);
	record.body = buf_str(&body);
	if (rogue_chance(r, 12))
		record.deadline_ms = (int64_t)odd_number(r);
	if (rogue_chance(r, 12))
		record.id = odd_number(r);
	if (rogue_chance(r, 30))
		record.method = STR_LIT("no.such_method");
	if (rogue_chance(r, 40))
		record.body.len += rng_below(&r->rng, 1000);
	n = bus_call_format(&record, line);
	add_line(out, line, n);
	buf_add_str(out, buf_str(&body));
	buf_free(&body);
}

static struct bus_head head_to(struct rogue *r, enum worker_id to, int64_t now_us)
{
	return (struct bus_head){.epoch = r->epoch,
		.caller = r->self,
		.key = r->keys.to[to],
		.incarnation = r->incarnation,
		.sent_us = now_us};
}

/* Its place in the sequence: most often what the owner waits for, or alone. */
static void pick_seq(struct rogue *r, enum worker_id to, struct bus_head *head)
{
	if (rogue_chance(r, 2))
		return;
	head->seq = ++r->next_seq[to];
	head->base = head->seq;
	if (rogue_chance(r, 10))
		head->base = odd_number(r);
	if (rogue_chance(r, 20))
		head->seq = odd_number(r);
	else if (rogue_chance(r, 10))
		head->seq += rng_below(&r->rng, 4);
	if (rogue_chance(r, 10))
		head->part = (uint32_t)odd_number(r);
}

static void spoil_head(struct rogue *r, struct bus_head *head)
{
	switch (rng_below(&r->rng, 40)) {
	case 0:
		head->epoch = odd_number(r);
		break;
	case 1:
		head->caller = (enum worker_id)rng_below(&r->rng, WORKER_COUNT);
		break;
	case 2:
		head->key.low ^= 1;
		break;
	case 3:
		head->incarnation = r->incarnation = odd_number(r);
		break;
	case 4:
		head->sent_us = (int64_t)odd_number(r);
		break;
	case 5:
		head->key = r->keys.from[rng_below(&r->rng, WORKER_COUNT)];
		break;
	default:
		break;
	}
}

void rogue_request(struct rogue *r, enum worker_id to, int64_t now_us, struct buf *out)
{
	struct bus_head head = head_to(r, to, now_us);
	char line[BUS_LINE_MAX];
	uint64_t calls = rogue_chance(r, 200) ? 20000 : 1 + rng_below(&r->rng, 4);
	size_t from = out->len;

	pick_seq(r, to, &head);
	spoil_head(r, &head);
	add_line(out, line, bus_head_format(&head, line));
	for (uint64_t i = 0; i < calls && out->len < 8000000; i++)
		add_call(r, to, i + 1, out);
	if (rogue_chance(r, 25)) {
		struct buf rest = {.data = out->data + from, .len = out->len - from};

		damage(r, &rest);
		out->len = from + rest.len;
	}
}

/* One call as it should be, under this key. */
static void add_one(struct rogue *r, enum worker_id to, const char *method,
	const char *key, struct str body, int64_t now_us, struct buf *out)
{
	struct bus_head head = head_to(r, to, now_us);
	struct bus_call_record record = {.id = 1,
		.method = str_of(method),
		.deadline_ms = 10000,
		.key = str_of(key),
		.body = body};
	char line[BUS_LINE_MAX];

	add_line(out, line, bus_head_format(&head, line));
	add_line(out, line, bus_call_format(&record, line));
	buf_add_str(out, record.body);
}

void rogue_call(struct rogue *r, enum worker_id to, const char *method, const char *body,
	int64_t now_us, struct buf *out)
{
	char key[UUID_SIZE];

	uuid4(key);
	add_one(r, to, method, key, str_of(body), now_us, out);
}

/* Any, but one in two of those that we may log, if there are such. */
static const struct action_info *pick_action(struct rogue *r)
{
	bool own = rogue_chance(r, 2);
	const struct action_info *action;

	for (int tries = 0; tries < 400; tries++) {
		action = &action_infos[rng_below(&r->rng, ACTION_COUNT)];
		if (!own || action->loggers & 1u << r->self)
			break;
	}
	return action;
}

void rogue_row(struct rogue *r, const char *created_at, int64_t now_us, struct buf *out)
{
	const struct action_info *action = pick_action(r);
	char key[UUID_SIZE], id[UUID_SIZE];
	struct buf body = {0};

	make_uuid(r, key);
	make_uuid(r, id);
	memcpy(id, ROGUE_ROW_ID, strlen(ROGUE_ROW_ID));
	buf_printf(&body,
		"{\"actions\":[{\"id\":\"%s\",\"type\":\"%s\",\"createdAt\":\"%s\","
		"\"data\":",
		id, action->name, created_at);
	sample_add(&r->rng, action->data(), true, &body);
	buf_add_str(&body, STR_LIT("}]}"));
	add_one(r, WORKER_STORE, method_infos[METHOD_ACTION_APPEND].name, key,
		buf_str(&body), now_us, out);
	buf_free(&body);
}

/* ---- replies ---- */

static void add_answer(
	struct rogue *r, const struct bus_call_record *call, bool calm, struct buf *out)
{
	int method = method_by_name(call->method);
	const struct type *(*type)(void) = method < 0 ? NULL : method_infos[method].reply;
	struct bus_reply_record record = {
		.id = call->id, .ok = calm ? r->said.len > 0 : !rogue_chance(r, 4)};
	char line[BUS_LINE_MAX];
	struct buf body = {0};

	if (calm && r->said.len > 0)
		buf_add_str(&body, r->said);
	else if (calm)
		buf_add_str(&body,
			STR_LIT("{\"code\":\"INTERNAL_ERROR\",\"message\":\"not now\"}"));
	else
		rogue_body(r, record.ok && type ? type() : NULL, &body);
	record.body = buf_str(&body);
	if (!calm && rogue_chance(r, 12))
		record.id = odd_number(r);
	if (!calm && rogue_chance(r, 20))
		record.body.len = odd_number(r);
	add_line(out, line, bus_reply_format(&record, line));
	buf_add_str(out, buf_str(&body));
	buf_free(&body);
}

void rogue_reply(struct rogue *r, struct str message, bool calm, struct buf *out)
{
	struct bus_reply_head head = {.kind = BUS_REPLY_WHOLE};
	struct bus_head asked;
	struct bus_call_record call;
	char line[BUS_LINE_MAX];
	size_t from = out->len;

	if (bus_head_parse(&message, &asked) != 1)
		return;
	head.seq = asked.seq;
	head.part = asked.part;
	if (!calm && rogue_chance(r, 10))
		head.kind = (enum bus_reply_kind)rng_below(&r->rng, 3);
	if (!calm && rogue_chance(r, 20))
		head.seq = odd_number(r);
	if (!calm && rogue_chance(r, 20))
		head.part = (uint32_t)odd_number(r);
	add_line(out, line, bus_reply_head_format(&head, line));
	while (bus_call_parse(&message, &call) == 1)
		for (int times = !calm && rogue_chance(r, 10) ? (int)rng_below(&r->rng, 3)
							      : 1;
			times > 0; times--)
			add_answer(r, &call, calm, out);
	if (!calm && rogue_chance(r, 20)) {
		struct buf rest = {.data = out->data + from, .len = out->len - from};

		damage(r, &rest);
		out->len = from + rest.len;
	}
}

/* ---- events ---- */

static void add_event(struct rogue *r, struct buf *out)
{
	const struct topic_info *topic = &topic_infos[rng_below(&r->rng, TOPIC_COUNT)];
	struct buf name = {0}, body = {0};
	struct bus_event_record record = {
		.incarnation = r->incarnation, .seq = ++r->event_seq};
	char line[BUS_LINE_MAX];

	for (int tries = 0;
		topic->publisher != r->self && tries < 60 && !rogue_chance(r, 40);
		tries++)
		topic = &topic_infos[rng_below(&r->rng, TOPIC_COUNT)];
	buf_add_str(&name, str_of(topic->prefix));
	if (name.data[name.len - 1] == '/')
		for (uint64_t n = rng_below(&r->rng, 20); n > 0; n--)
			buf_add_char(&name, (char)('!' + rng_below(&r->rng, 90)));
	rogue_body(r, topic->body ? topic->body() : NULL, &body);
	record.topic = buf_str(&name);
	record.body = buf_str(&body);
	if (rogue_chance(r, 15))
		record.seq = odd_number(r);
	if (rogue_chance(r, 40))
		record.incarnation = odd_number(r);
	if (rogue_chance(r, 40))
		record.body.len = odd_number(r);
	add_line(out, line, bus_event_format(&record, line));
	buf_add_str(out, buf_str(&body));
	buf_free(&name);
	buf_free(&body);
}

void rogue_events(struct rogue *r, bool calm, struct buf *out)
{
	struct bus_event_record beacon = {.topic = STR_LIT("bus/beacon"),
		.incarnation = r->incarnation,
		.seq = r->event_seq};
	char line[BUS_LINE_MAX];
	size_t from = out->len;

	if (calm) {
		add_line(out, line, bus_event_format(&beacon, line));
		return;
	}
	for (uint64_t n = 1 + rng_below(&r->rng, 8); n > 0 && out->len < 8000000; n--)
		add_event(r, out);
	if (rogue_chance(r, 20)) {
		struct buf rest = {.data = out->data + from, .len = out->len - from};

		damage(r, &rest);
		out->len = from + rest.len;
	}
}

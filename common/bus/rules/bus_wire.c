/* bus_wire.c - framing of messages of the bus (bus_wire.h). */
#include "common/bus/rules/bus_wire.h"
#include <assert.h>
#include <errno.h>

/* ---- writing ---- */

/* One line; printf would be most of what a small event costs. */
struct words {
	char *start, *end;
};

static void put(struct words *w, struct str word)
{
	assert(word.len < BUS_LINE_MAX - (size_t)(w->end - w->start) - 1);
	memcpy(w->end, word.ptr, word.len);
	w->end += word.len;
	*w->end++ = ' ';
}

static void put_number(struct words *w, uint64_t n, unsigned base)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[n % base];
	while ((n /= base) > 0);
	put(w, (struct str){digits + at, sizeof(digits) - at});
}

static void put_signed(struct words *w, int64_t n)
{
	if (n < 0)
		*w->end++ = '-';
	put_number(w, n < 0 ? -(uint64_t)n : (uint64_t)n, 10);
}

static size_t put_end(struct words *w)
{
	w->end[-1] = '\n';
	return (size_t)(w->end - w->start);
}

size_t bus_head_format(const struct bus_head *h, char out[BUS_LINE_MAX])
{
	struct words w = {out, out};

	put(&w, STR_LIT("B"));
	put_number(&w, h->epoch, 16);
	put(&w, str_of(worker_infos[h->caller].name));
	put_number(&w, h->key.high, 16);
	put_number(&w, h->key.low, 16);
	put_number(&w, h->incarnation, 16);
	put_number(&w, h->base, 10);
	put_number(&w, h->seq, 10);
	put_number(&w, h->part, 10);
	put_signed(&w, h->sent_us);
	return put_end(&w);
}

size_t bus_call_format(const struct bus_call_record *c, char out[BUS_LINE_MAX])
{
	struct words w = {out, out};

	put(&w, STR_LIT("C"));
	put_number(&w, c->id, 10);
	put(&w, c->method);
	put_signed(&w, c->deadline_ms);
	put(&w, c->key.ptr ? c->key : STR_LIT("-"));
	put_number(&w, c->body.len, 10);
	return put_end(&w);
}

#define REPLY_KINDS 3
static const char *const reply_kinds[REPLY_KINDS] = {"whole", "more", "again"};

size_t bus_reply_head_format(const struct bus_reply_head *h, char out[BUS_LINE_MAX])
{
	struct words w = {out, out};

	put(&w, STR_LIT("A"));
	put_number(&w, h->seq, 10);
	put_number(&w, h->part, 10);
	put(&w, str_of(reply_kinds[h->kind]));
	return put_end(&w);
}

size_t bus_reply_format(const struct bus_reply_record *r, char out[BUS_LINE_MAX])
{
	struct words w = {out, out};

	put(&w, STR_LIT("R"));
	put_number(&w, r->id, 10);
	put(&w, r->ok ? STR_LIT("ok") : STR_LIT("error"));
	put_number(&w, r->body.len, 10);
	return put_end(&w);
}

size_t bus_event_format(const struct bus_event_record *e, char out[BUS_LINE_MAX])
{
	struct words w = {out, out};

	put(&w, e->topic);
	w.end[-1] = '|';
	put_number(&w, e->incarnation, 16);
	put_number(&w, e->seq, 10);
	put_number(&w, e->body.len, 10);
	return put_end(&w);
}

/* ---- reading ---- */

/* The words of one line; once something is missing `bad` stays set. */
struct line {
	struct str rest; /* up to the newline, without it */
	struct str after;
	bool bad;
};

static int line_open(struct str message, struct line *l)
{
	size_t most = message.len < BUS_LINE_MAX ? message.len : BUS_LINE_MAX;
	const char *end = most ? memchr(message.ptr, '\n', most) : NULL;

	if (!end)
		return -EINVAL;
	l->rest = (struct str){message.ptr, (size_t)(end - message.ptr)};
	l->after = (struct str){end + 1, message.len - l->rest.len - 1};
	l->bad = false;
	return 0;
}

static struct str word(struct line *l, char separator)
{
	const char *end =
		l->rest.len ? memchr(l->rest.ptr, separator, l->rest.len) : NULL;
	size_t len = end ? (size_t)(end - l->rest.ptr) : l->rest.len;
	struct str found = {l->rest.ptr, len};

	if (len == 0)
		l->bad = true;
	l->rest.ptr += end ? len + 1 : len;
	l->rest.len -= end ? len + 1 : len;
	return found;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return 16;
}

static uint64_t number(struct line *l, unsigned base)
{
	struct str w = word(l, ' ');
	uint64_t value = 0;

	if (w.len > 20)
		l->bad = true;
	for (size_t i = 0; i < w.len && !l->bad; i++) {
		unsigned digit = (unsigned)digit_value(w.ptr[i]);

		if (digit >= base || value > (UINT64_MAX - digit) / base)
			l->bad = true;
		else
			value = value * base + digit;
	}
	return value;
}

static int64_t signed_number(struct line *l)
{
	bool negative = l->rest.len > 0 && l->rest.ptr[0] == '-';
	uint64_t value;

	if (negative) {
		l->rest.ptr++;
		l->rest.len--;
	}
	value = number(l, 10);
	if (value > INT64_MAX)
		l->bad = true;
	return l->bad ? 0 : negative ? -(int64_t)value : (int64_t)value;
}

static uint32_t small_number(struct line *l)
{
	uint64_t value = number(l, 10);

	if (value > UINT32_MAX)
		l->bad = true;
	return (uint32_t)value;
}

static void expect(struct line *l, const char *text)
{
	if (!str_is(word(l, ' '), text))
		l->bad = true;
}

/* The last word of the line: how many bytes of body follow it. */
static struct str body(struct line *l)
{
	uint64_t len = number(l, 10);
	struct str found = l->after;

	if (l->bad || l->rest.len != 0 || len > l->after.len) {
		l->bad = true;
		return found;
	}
	found.len = len;
	l->after.ptr += len;
	l->after.len -= len;
	return found;
}

int bus_head_parse(struct str *rest, struct bus_head *out)
{
	struct bus_head h;
	struct line l;
	int caller;

	if (rest->len == 0)
		return 0;
	if (line_open(*rest, &l) < 0)
		return -EINVAL;
	expect(&l, "B");
	h.epoch = number(&l, 16);
	caller = worker_by_name(word(&l, ' '));
	h.key.high = number(&l, 16);
	h.key.low = number(&l, 16);
	h.incarnation = number(&l, 16);
	h.base = number(&l, 10);
	h.seq = number(&l, 10);
	h.part = small_number(&l);
	h.sent_us = signed_number(&l);
	if (l.bad || l.rest.len != 0 || caller < 0)
		return -EINVAL;
	h.caller = (enum worker_id)caller;
	*out = h;
	*rest = l.after;
	return 1;
}

int bus_call_parse(struct str *rest, struct bus_call_record *out)
{
	struct bus_call_record c;
	struct line l;

	if (rest->len == 0)
		return 0;
	if (line_open(*rest, &l) < 0)
		return -EINVAL;
	expect(&l, "C");
	c.id = number(&l, 10);
	c.method = word(&l, ' ');
	c.deadline_ms = signed_number(&l);
	c.key = word(&l, ' ');
	c.body = body(&l);
	if (l.bad)
		return -EINVAL;
	if (str_is(c.key, "-"))
		c.key = (struct str){NULL, 0};
	*out = c;
	*rest = l.after;
	return 1;
}

int bus_reply_head_parse(struct str *rest, struct bus_reply_head *out)
{
	struct bus_reply_head h = {.kind = BUS_REPLY_WHOLE};
	struct str kind;
	struct line l;

	if (rest->len == 0)
		return 0;
	if (line_open(*rest, &l) < 0)
		return -EINVAL;
	expect(&l, "A");
	h.seq = number(&l, 10);
	h.part = small_number(&l);
	kind = word(&l, ' ');
	while (h.kind < REPLY_KINDS && !str_is(kind, reply_kinds[h.kind]))
		h.kind++;
	if (l.bad || l.rest.len != 0 || h.kind == REPLY_KINDS)
		return -EINVAL;
	*out = h;
	*rest = l.after;
	return 1;
}

int bus_reply_parse(struct str *rest, struct bus_reply_record *out)
{
	struct bus_reply_record r;
	struct str outcome;
	struct line l;

	if (rest->len == 0)
		return 0;
	if (line_open(*rest, &l) < 0)
		return -EINVAL;
	expect(&l, "R");
	r.id = number(&l, 10);
	outcome = word(&l, ' ');
	r.ok = str_is(outcome, "ok");
	r.body = body(&l);
	if (l.bad || (!r.ok && !str_is(outcome, "error")))
		return -EINVAL;
	*out = r;
	*rest = l.after;
	return 1;
}

int bus_event_parse(struct str *rest, struct bus_event_record *out)
{
	struct bus_event_record e;
	struct line l;

	if (rest->len == 0)
		return 0;
	if (line_open(*rest, &l) < 0)
		return -EINVAL;
	e.topic = word(&l, '|');
	e.incarnation = number(&l, 16);
	e.seq = number(&l, 10);
	e.body = body(&l);
	if (l.bad)
		return -EINVAL;
	*out = e;
	*rest = l.after;
	return 1;
}

/* ---- what may stand in a line ---- */

bool bus_key_valid(struct str key)
{
	if (key.len == 0 || key.len > BUS_KEY_MAX || str_is(key, "-"))
		return false;
	for (size_t i = 0; i < key.len; i++) {
		char c = key.ptr[i];

		if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			    (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == ':' ||
			    c == '-'))
			return false;
	}
	return true;
}

bool bus_topic_valid(struct str topic)
{
	if (topic.len == 0 || topic.len > BUS_TOPIC_MAX)
		return false;
	for (size_t i = 0; i < topic.len; i++)
		if (topic.ptr[i] <= ' ' || topic.ptr[i] > '~' || topic.ptr[i] == '|')
			return false;
	return true;
}

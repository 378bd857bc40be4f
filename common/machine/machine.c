/* machine.c - what all machines share; see machine.h. */
#include "common/machine/machine.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int machine_event_type(const struct machine *m, struct str type, unsigned flags)
{
	for (int i = 0; i < m->item_count; i++)
		if (m->items[i].event && m->items[i].flags & flags &&
			str_is(type, m->items[i].event))
			return i;
	return -1;
}

int machine_row_event(const struct machine *m, struct str row)
{
	for (int i = 0; i < m->item_count; i++) {
		bool first = m->items[i].event || i == ITEM_CREATED || i == ITEM_REFUSED;

		if (first && str_is(row, m->items[i].row))
			return i;
	}
	return -1;
}

int machine_step(const struct machine *m, void *state, const struct machine_event *event,
	struct machine_out *out)
{
	struct machine_base *base = state;
	bool due = event->type != ITEM_CREATED && m->deadline(state) <= event->at_ms;
	int err;

	out->refusal = NULL;
	out->count = 0;
	out->decision = NULL;
	out->text_len = 0;
	out->string_count = 0;
	if (event->at_ms < base->at_ms)
		return -EINVAL;
	if (due != (event->type == ITEM_TICK))
		return -ETIME;
	err = m->step(state, event, out);
	if (err == 0)
		base->at_ms = event->at_ms;
	return err;
}

void *machine_add(struct machine_out *out, const struct machine *m, int type)
{
	const struct type *payload = m->items[type].payload();
	void *slot;

	assert(out->count < MACHINE_MAX_ITEMS);
	assert(payload->size <= sizeof(out->payloads[0]));
	slot = &out->payloads[out->count];
	memset(slot, 0, payload->size);
	machine_add_ref(out, type, slot);
	return slot;
}

void machine_add_ref(struct machine_out *out, int type, const void *payload)
{
	assert(out->count < MACHINE_MAX_ITEMS);
	out->items[out->count].type = type;
	out->items[out->count].payload = payload;
	out->count++;
}

int machine_refuse(struct machine_out *out, const char *reason)
{
	out->refusal = reason;
	out->count = 0;
	return -EPERM;
}

struct str machine_text(struct machine_out *out, const char *format, ...)
{
	char *at = out->text + out->text_len;
	size_t room = sizeof(out->text) - out->text_len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(at, room, format, args);
	va_end(args);
	if (len < 0)
		len = 0;
	if ((size_t)len >= room)
		len = room ? (int)room - 1 : 0;
	out->text_len += (size_t)len;
	return (struct str){at, (size_t)len};
}

struct str *machine_strings(struct machine_out *out, size_t count)
{
	struct str *list = out->strings + out->string_count;

	assert(count <= MACHINE_OUT_STRINGS - out->string_count);
	out->string_count += count;
	return list;
}

void machine_minutes(int64_t left_ms, char out[MACHINE_CLOCK_TEXT])
{
	int64_t seconds = left_ms > 0 ? left_ms / 1000 : 0;

	snprintf(out, MACHINE_CLOCK_TEXT, "%lld:%02d", (long long)(seconds / 60),
		(int)(seconds % 60));
}

/* queued_call.c - what handlers do with a call (store.h). */
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "workers/store/service/row_ids.h"
#include "workers/store/service/store.h"
#include <assert.h>
#include <errno.h>

#define ENCODE_KEPT_MAX (64u * 1024)

struct str call_encode(struct call *call, const struct type *type, const void *message)
{
	static struct buf text; /* kept for the next one */
	struct str kept;

	proto_encode(type, message, &text);
	kept = arena_str(call->arena, buf_str(&text));
	buf_empty(&text, ENCODE_KEPT_MAX);
	return kept;
}

void call_answer(struct call *call, const void *reply)
{
	const struct type *(*type)(void) = method_infos[call->method].reply;

	assert(type);
	call->outcome.answer = call_encode(call, type(), reply);
}

void call_answer_text(struct call *call, struct str json)
{
	call->outcome.answer = json;
}

int call_refuse(struct call *call, enum error_code code, const char *format, ...)
{
	va_list args;

	call->outcome = (struct call_outcome){.error = &error_code_infos[code]};
	va_start(args, format);
	call->outcome.message = arena_vprintf(call->arena, format, args);
	va_end(args);
	return -ECANCELED;
}

void call_publish(
	struct call *call, const char *topic, const struct type *type, const void *body)
{
	struct publication *p = arena_alloc(call->arena, sizeof(*p));

	p->topic = arena_cstr(call->arena, str_of(topic));
	p->body = call_encode(call, type, body);
	if (!call->outcome.first)
		call->outcome.last = &call->outcome.first;
	*call->outcome.last = p;
	call->outcome.last = &p->next;
}

void call_row_id(const struct call *call, unsigned n, char out[UUID_SIZE])
{
	int result = row_id(call->key, n, out);

	assert(result == 0);
}

struct wall call_made(const struct call *call)
{
	struct wall made;

	return row_key_time(call->key, &made) == 0 ? made : call->arrived;
}

void call_time(const struct call *call, char out[WALL_ISO_SIZE])
{
	wall_iso(call->arrived, out);
}

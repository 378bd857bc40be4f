/* payload.c - see payload.h. */
#include "workers/gateway/ws/payload.h"
#include "common/base/alloc.h"
#include <stdlib.h>

struct payload *payload_new(struct str text)
{
	struct payload *p = xmalloc(sizeof(*p) + text.len);

	*p = (struct payload){.refs = 1, .text = p->copy, .len = text.len};
	memcpy(p->copy, text.ptr, text.len);
	return p;
}

struct payload *payload_taking(struct buf *text)
{
	struct payload *p = xmalloc(sizeof(*p));

	*p = (struct payload){
		.refs = 1, .text = text->data, .len = text->len, .owned = *text};
	*text = (struct buf){0};
	return p;
}

struct payload *payload_of_reply(const struct bus_reply *reply)
{
	struct bus_kept *kept = bus_reply_keep(reply);
	struct payload *p;

	if (!kept)
		return payload_new(reply->body);
	p = xmalloc(sizeof(*p));
	*p = (struct payload){
		.refs = 1, .text = reply->body.ptr, .len = reply->body.len, .kept = kept};
	return p;
}

struct payload *payload_ref(struct payload *payload)
{
	payload->refs++;
	return payload;
}

void payload_unref(struct payload *payload)
{
	if (--payload->refs > 0)
		return;
	buf_free(&payload->owned);
	if (payload->kept)
		bus_kept_release(payload->kept);
	free(payload);
}

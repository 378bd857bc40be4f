/* payload.c - see payload.h. */
#include "workers/gateway/ws/payload.h"
#include <stdlib.h>

struct payload *payload_new(struct str text)
{
	struct payload *p = malloc(sizeof(*p) + text.len);

	if (!p)
		abort();
	p->holders = 1;
	p->len = text.len;
	memcpy(p->text, text.ptr, text.len);
	return p;
}

struct payload *payload_hold(struct payload *payload)
{
	payload->holders++;
	return payload;
}

void payload_release(struct payload *payload)
{
	if (--payload->holders == 0)
		free(payload);
}

/* kept.c - see kept.h. */
#include "workers/store/service/kept.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

struct kept_call {
	STAILQ_ENTRY(kept_call) link;
	const struct service *service;
	struct wall arrived;
	char key[UUID_SIZE];
	size_t len;
	char body[]; /* JSON */
};

struct kept {
	STAILQ_HEAD(, kept_call) calls;
	size_t count, bytes;
	size_t written; /* since the queue was empty */
};

/* A call out of the queue; first, so that it can be found from its call. */
struct running {
	struct call call;
	struct kept_call *kept;
	struct arena arena;
	yyjson_doc *doc;
};

struct kept *kept_new(void)
{
	struct kept *k = xcalloc(1, sizeof(*k));

	STAILQ_INIT(&k->calls);
	return k;
}

void kept_free(struct kept *k)
{
	if (k->count > 0)
		log_warn("activities are lost: there was no room for them until the end",
			"count", "%zu", k->count, NULL);
	while (!STAILQ_EMPTY(&k->calls)) {
		struct kept_call *one = STAILQ_FIRST(&k->calls);

		STAILQ_REMOVE_HEAD(&k->calls, link);
		free(one);
	}
	free(k);
}

bool kept_take(struct kept *k, const struct call *call, int error)
{
	struct kept_call *one;
	struct str body = call->request ? call->request->body : (struct str){0};

	if (error != -ENOSPC || !(call->service->flags & SERVICE_KEPT) || !body.ptr)
		return false;
	if (k->count >= KEPT_MAX_CALLS || k->bytes + body.len > KEPT_MAX_BYTES)
		return false;
	if (k->count == 0)
		log_warn("the disk is full: activities wait in memory", NULL);
	one = xmalloc(sizeof(*one) + body.len);
	*one = (struct kept_call){
		.service = call->service, .arrived = call->arrived, .len = body.len};
	snprintf(one->key, sizeof(one->key), "%.*s", STR_ARG(call->key));
	memcpy(one->body, body.ptr, body.len);
	STAILQ_INSERT_TAIL(&k->calls, one, link);
	k->count++;
	k->bytes += body.len;
	return true;
}

/* What was kept was decoded before, so it can be again. */
static bool decode(struct running *r)
{
	const struct kept_call *one = r->kept;
	const struct type *type = method_infos[one->service->method].request();
	struct proto_error error;
	void *message = arena_alloc(&r->arena, type->size ? type->size : 1);

	r->doc = proto_parse((struct str){one->body, one->len}, &error);
	r->call.message = message;
	return r->doc && proto_decode(type, yyjson_doc_get_root(r->doc), "message",
				 DECODE_LENIENT, &r->arena, message, &error) == 0;
}

static void forget(struct running *r)
{
	yyjson_doc_free(r->doc);
	arena_free(&r->arena);
	free(r->kept);
	free(r);
}

struct call *kept_next(struct kept *k)
{
	struct kept_call *one = STAILQ_FIRST(&k->calls);
	struct running *r;

	if (!one)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	STAILQ_REMOVE_HEAD(&k->calls, link);
	k->count--;
	k->bytes -= one->len;
	r->kept = one;
	r->call = (struct call){
		.method = one->service->method,
		.service = one->service,
		.key = str_of(one->key),
		.arrived = one->arrived,
		.deadline = {INT64_MAX},
		.arena = &r->arena,
	};
	if (decode(r))
		return &r->call;
	log_error("a kept activity cannot be read", "method", "%s",
		method_infos[one->service->method].name, NULL);
	forget(r);
	return kept_next(k);
}

void kept_done(struct kept *k, struct call *call, int error)
{
	struct running *r = (struct running *)(void *)call;

	if (error == -ENOSPC || error == -EIO) {
		STAILQ_INSERT_HEAD(&k->calls, r->kept, link);
		k->count++;
		k->bytes += r->kept->len;
		r->kept = NULL;
	} else {
		k->written++;
	}
	forget(r);
	if (k->count > 0 || error)
		return;
	log_info("there is room again: the activities that waited are written", "count",
		"%zu", k->written, NULL);
	k->written = 0;
}

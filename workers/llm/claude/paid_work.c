/* paid_work.c - see paid_work.h. */
#include "workers/llm/claude/paid_work.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

static void hash(struct str first, struct str second, unsigned char out[32])
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	if (!context || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1 ||
		EVP_DigestUpdate(context, first.ptr, first.len) != 1 ||
		EVP_DigestUpdate(context, "\n", 1) != 1 ||
		EVP_DigestUpdate(context, second.ptr, second.len) != 1 ||
		EVP_DigestFinal_ex(context, out, NULL) != 1)
		abort();
	EVP_MD_CTX_free(context);
}

static void hash_in_hex(struct str first, struct str second, char out[65])
{
	unsigned char digest[32];

	hash(first, second, digest);
	hex_print(out, digest, sizeof(digest));
}

void paid_asked(enum method method, struct str arguments, char out[65])
{
	hash_in_hex(str_of(method_infos[method].name), arguments, out);
}

void paid_work_begin(struct flow *flow, struct paid_work_ids *ids)
{
	const struct paid_take take = {
		.owner = str_of(ids->owner), .asked = str_of(ids->asked)};
	struct flow_work *work = arena_alloc(&flow->arena, sizeof(*work));
	struct bus_reply reply = flow_call_keyed(flow, METHOD_PAID_TAKE, &take);
	struct proto_error error;

	*work = (struct flow_work){.ids = ids};
	flow->work = work;
	if (reply.status != BUS_OK || bus_reply_decode(METHOD_PAID_TAKE, &reply,
					      &flow->arena, &work->taken, &error) < 0) {
		work->taken = (struct paid_taken){0};
		log_warn("whether Claude was paid for this before is not known", "error",
			"%.*s", STR_ARG(reply.message), NULL);
	}
	if (!work->taken.id.ptr)
		return;
	snprintf(ids->id, sizeof(ids->id), "%.*s", STR_ARG(work->taken.id));
	log_info("a partly paid flow continues", "work", "%s", ids->id, "steps", "%zu",
		work->taken.steps.count, NULL);
}

struct str paid_work_found(const struct flow *flow, const char *step)
{
	for (size_t i = 0; flow->work && i < flow->work->taken.steps.count; i++)
		if (str_is(flow->work->taken.steps.items[i].step, step))
			return flow->work->taken.steps.items[i].text;
	return (struct str){NULL, 0};
}

void paid_work_keep(struct flow *flow, const char *step, struct str text)
{
	struct paid_keep keep = {.step = str_of(step), .text = text};
	struct bus_reply reply;

	if (!flow->work)
		return;
	keep.owner = str_of(flow->work->ids->owner);
	keep.id = str_of(flow->work->ids->id);
	keep.asked = str_of(flow->work->ids->asked);
	reply = flow_call_keyed(flow, METHOD_PAID_KEEP, &keep);
	if (reply.status != BUS_OK)
		log_warn("an answer of Claude would be lost with this worker", "step",
			"%s", step, "error", "%.*s", STR_ARG(reply.message), NULL);
}

/* Answers for all belong to nobody. */
#define NOBODY "00000000-0000-0000-0000-000000000000"

struct str paid_answer_find(struct flow *flow, const char *step, struct str request)
{
	char asked[65];
	const struct paid_take take = {.owner = STR_LIT(NOBODY),
		.asked = {asked, sizeof(asked) - 1},
		.for_all = true,
		.has_for_all = true};
	struct paid_taken taken = {0};
	struct proto_error error;
	struct bus_reply reply;

	hash_in_hex(str_of(step), request, asked);
	reply = flow_call_keyed(flow, METHOD_PAID_TAKE, &take);
	if (reply.status != BUS_OK || bus_reply_decode(METHOD_PAID_TAKE, &reply,
					      &flow->arena, &taken, &error) < 0)
		return (struct str){NULL, 0};
	return taken.steps.count ? taken.steps.items[0].text : (struct str){NULL, 0};
}

void paid_answer_keep(
	struct flow *flow, const char *step, struct str request, struct str text)
{
	char asked[65], id[UUID_SIZE];
	const struct paid_keep keep = {.owner = STR_LIT(NOBODY),
		.id = {id, UUID_SIZE - 1},
		.asked = {asked, sizeof(asked) - 1},
		.step = str_of(step),
		.text = text,
		.for_all = true,
		.has_for_all = true};
	struct bus_reply reply;

	uuid4(id);
	hash_in_hex(str_of(step), request, asked);
	reply = flow_call_keyed(flow, METHOD_PAID_KEEP, &keep);
	if (reply.status != BUS_OK)
		log_warn("who asks Claude the same again will pay for it again", "step",
			"%s", step, "error", "%.*s", STR_ARG(reply.message), NULL);
}

/* Time-ordered, as the id: its first 48 bits are a time, the rest is made from both. */
struct str paid_work_key(struct flow *flow, enum method method)
{
	char *key = arena_alloc(&flow->arena, UUID_SIZE);
	unsigned char digest[32];
	char text[UUID_SIZE];
	uint8_t bytes[16];

	if (!flow->work) {
		uuid4(key); /* uuid7 counts in memory of the loop's thread */
		return str_of(key);
	}
	hash(str_of(flow->work->ids->id), str_of(method_infos[method].name), digest);
	memcpy(bytes, digest, sizeof(bytes));
	bytes[6] = (uint8_t)(0x70 | (bytes[6] & 0x0f));
	bytes[8] = (uint8_t)(0x80 | (bytes[8] & 0x3f));
	uuid_print(bytes, text);
	snprintf(key, UUID_SIZE, "%.13s%s", flow->work->ids->id, text + 13);
	return str_of(key);
}

/* keys.c - the answers to the last keyed calls (keys.h). */
#include "workers/store/service/keys.h"
#include "common/base/alloc.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#define KEY_BYTES (UUID_SIZE - 1)
#define BUCKETS (2 * KEYS_MAX) /* a power of two */

static_assert((BUCKETS & (BUCKETS - 1)) == 0, "the mask needs a power of two");

struct kept {
	char key[KEY_BYTES];
	int method;
	uint32_t next; /* in the same bucket, 1 + index, 0 ends */
	char *answer;
	size_t len;
};

/* A ring of answers in order of age, and chains of them by the hash of the key. */
struct keys {
	struct kept ring[KEYS_MAX];
	uint32_t buckets[BUCKETS]; /* 1 + index, 0 is empty */
	uint32_t oldest;
	uint32_t count;
	size_t bytes;
};

struct keys *keys_new(void)
{
	struct keys *keys = xcalloc(1, sizeof(*keys));

	return keys;
}

/* FNV-1a; keys are made by our own workers. */
static uint32_t bucket_of(const char *key, int method)
{
	uint64_t h = 0xcbf29ce484222325u ^ (unsigned)method;

	for (int i = 0; i < KEY_BYTES; i++)
		h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32) & (BUCKETS - 1);
}

static uint32_t *find(struct keys *keys, const char *key, int method)
{
	uint32_t *link = &keys->buckets[bucket_of(key, method)];

	while (*link) {
		struct kept *k = &keys->ring[*link - 1];

		if (k->method == method && memcmp(k->key, key, KEY_BYTES) == 0)
			break;
		link = &k->next;
	}
	return link;
}

static void drop_oldest(struct keys *keys)
{
	struct kept *k = &keys->ring[keys->oldest];
	uint32_t *link = &keys->buckets[bucket_of(k->key, k->method)];

	while (*link != keys->oldest + 1)
		link = &keys->ring[*link - 1].next;
	*link = k->next;
	keys->bytes -= k->len;
	free(k->answer);
	*k = (struct kept){0};
	keys->oldest = (keys->oldest + 1) % KEYS_MAX;
	keys->count--;
}

void keys_free(struct keys *keys)
{
	if (!keys)
		return;
	while (keys->count > 0)
		drop_oldest(keys);
	free(keys);
}

void keys_remember(struct keys *keys, struct str key, int method, struct str answer)
{
	uint32_t index, *bucket;
	struct kept *k;

	if (key.len != KEY_BYTES || answer.len > KEYS_MAX_BYTES ||
		*find(keys, key.ptr, method))
		return;
	while (keys->count == KEYS_MAX || keys->bytes + answer.len > KEYS_MAX_BYTES)
		drop_oldest(keys);
	index = (keys->oldest + keys->count) % KEYS_MAX;
	bucket = &keys->buckets[bucket_of(key.ptr, method)];
	k = &keys->ring[index];
	memcpy(k->key, key.ptr, KEY_BYTES);
	k->method = method;
	k->next = *bucket;
	k->len = answer.len;
	k->answer = xmalloc(answer.len + 1);
	memcpy(k->answer, answer.ptr, answer.len);
	k->answer[answer.len] = '\0';
	*bucket = index + 1;
	keys->count++;
	keys->bytes += answer.len;
}

struct str keys_recall(const struct keys *keys, struct str key, int method)
{
	const struct kept *k;
	uint32_t at;

	if (key.len != KEY_BYTES)
		return (struct str){0};
	at = keys->buckets[bucket_of(key.ptr, method)];
	for (; at; at = k->next) {
		k = &keys->ring[at - 1];
		if (k->method == method && memcmp(k->key, key.ptr, KEY_BYTES) == 0)
			return (struct str){k->answer, k->len};
	}
	return (struct str){0};
}

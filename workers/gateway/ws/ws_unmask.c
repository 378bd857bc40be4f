/* ws_unmask.c - see ws_unmask.h. */
#include "workers/gateway/ws/ws_unmask.h"
#include <string.h>

#define MASK_BIT 0x80
#define LENGTH_BITS 0x7f
#define LENGTH_16 126
#define LENGTH_64 127
#define KEY_BYTES 4

/* Bytes of the header, without the key, that follow from its second byte. */
static size_t length_end(uint8_t second)
{
	switch (second & LENGTH_BITS) {
	case LENGTH_16:
		return 4;
	case LENGTH_64:
		return 10;
	default:
		return 2;
	}
}

/* Bytes that the header has, as far as that can be told yet. */
static size_t header_len(const struct ws_unmask *u)
{
	if (u->have < 2)
		return 2;
	return length_end(u->header[1]) + (u->header[1] & MASK_BIT ? KEY_BYTES : 0);
}

static uint64_t payload_len(const struct ws_unmask *u)
{
	size_t end = length_end(u->header[1]);
	uint64_t len = 0;

	if (end == 2)
		return u->header[1] & LENGTH_BITS;
	for (size_t i = 2; i < end; i++)
		len = len << 8 | u->header[i];
	return len;
}

/* The header is complete: writes it without the mask. */
static size_t put_header(struct ws_unmask *u, uint8_t *out)
{
	size_t end = length_end(u->header[1]);

	u->masked = u->header[1] & MASK_BIT;
	memcpy(out, u->header, end);
	out[1] &= LENGTH_BITS;
	if (u->masked)
		memcpy(u->key, u->header + end, KEY_BYTES);
	u->key_at = 0;
	u->left = payload_len(u);
	u->in_payload = u->left > 0;
	u->have = 0;
	return end;
}

static void take_mask_off(
	struct ws_unmask *u, const uint8_t *in, size_t len, uint8_t *out)
{
	uint8_t rotated[8];
	uint64_t key, word;
	size_t i = 0;

	for (unsigned k = 0; k < sizeof(rotated); k++)
		rotated[k] = u->key[(u->key_at + k) % KEY_BYTES];
	memcpy(&key, rotated, sizeof(key));
	for (; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, in + i, sizeof(word));
		word ^= key;
		memcpy(out + i, &word, sizeof(word));
	}
	for (; i < len; i++)
		out[i] = in[i] ^ rotated[i % sizeof(rotated)];
	u->key_at = (u->key_at + (unsigned)(len % KEY_BYTES)) % KEY_BYTES;
}

size_t ws_unmask_take(struct ws_unmask *u, const uint8_t *in, size_t len, size_t *used,
	uint8_t *out, size_t room)
{
	size_t at = 0, written = 0, n;

	while (!u->in_payload && at < len && written == 0) {
		u->header[u->have++] = in[at++];
		if (u->have == header_len(u))
			written = put_header(u, out);
	}
	n = len - at;
	if (n > room - written)
		n = room - written;
	if (n > u->left)
		n = (size_t)u->left;
	if (u->in_payload && n > 0) {
		if (u->masked)
			take_mask_off(u, in + at, n, out + written);
		else
			memcpy(out + written, in + at, n);
		u->left -= n;
		u->in_payload = u->left > 0;
		at += n;
		written += n;
	}
	*used = at;
	return written;
}

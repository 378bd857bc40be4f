/* session_id.c - see session_id.h. */
#include "workers/gateway/mcp/session_id.h"
#include "common/ids.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

/* Bytes 0 to 7: random, with the UUID's version and our revision in byte 6. Bytes 8 to
 * 15: the proof, with the UUID's variant in the two top bits. */
#define CLAIM_BYTES 8
#define PROOF_BYTES 8
#define VARIANT 0x80
#define VARIANT_MASK 0xc0

static void prove(const unsigned char key[MCP_KEY_BYTES], const uint8_t *claim,
	uint8_t proof[PROOF_BYTES])
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	HMAC(EVP_sha256(), key, MCP_KEY_BYTES, claim, CLAIM_BYTES, hash, &len);
	memcpy(proof, hash, PROOF_BYTES);
	proof[0] = (uint8_t)((proof[0] & ~VARIANT_MASK) | VARIANT);
}

struct mcp_session_id mcp_session_id_make(const unsigned char key[MCP_KEY_BYTES],
	const uint8_t random[7], enum mcp_version version)
{
	struct mcp_session_id id = {0};

	memcpy(id.bytes, random, 6);
	id.bytes[6] = (uint8_t)(0x80 | version);
	id.bytes[7] = random[6];
	prove(key, id.bytes, id.bytes + CLAIM_BYTES);
	return id;
}

void mcp_session_id_print(struct mcp_session_id id, char out[MCP_SESSION_ID_SIZE])
{
	const uint8_t *b = id.bytes;

	snprintf(out, MCP_SESSION_ID_SIZE,
		"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
		b[12], b[13], b[14], b[15]);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int mcp_session_id_read(const unsigned char key[MCP_KEY_BYTES], struct str text,
	struct mcp_session_id *id, enum mcp_version *version)
{
	struct mcp_session_id read = {0};
	uint8_t proof[PROOF_BYTES];
	size_t n = 0;

	if (!uuid_valid(text))
		return -ENOENT;
	for (size_t i = 0; i < text.len && n < 2 * sizeof(read.bytes); i++) {
		int d = digit(text.ptr[i]);

		if (d < 0)
			continue;
		read.bytes[n / 2] = (uint8_t)(read.bytes[n / 2] << 4 | d);
		n++;
	}
	prove(key, read.bytes, proof);
	if (CRYPTO_memcmp(proof, read.bytes + CLAIM_BYTES, PROOF_BYTES) != 0 ||
		(read.bytes[6] >> 4) != 8 || (read.bytes[6] & 0xf) >= MCP_VERSION_COUNT)
		return -ENOENT;
	*id = read;
	*version = (enum mcp_version)(read.bytes[6] & 0xf);
	return 0;
}

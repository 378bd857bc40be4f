/* session_id.c - see session_id.h. */
#include "workers/gateway/mcp/session_id.h"
#include "common/base/ids.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

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
	uuid_print(id.bytes, out);
}

int mcp_session_id_read(struct str text, struct mcp_session_id *id)
{
	struct mcp_session_id read = {0};
	size_t n = 0;

	if (!uuid_valid(text))
		return -ENOENT;
	for (size_t i = 0; i < text.len && n < 2 * sizeof(read.bytes); i++) {
		int d = OPENSSL_hexchar2int((unsigned char)text.ptr[i]);

		if (d < 0)
			continue;
		read.bytes[n / 2] = (uint8_t)(read.bytes[n / 2] << 4 | d);
		n++;
	}
	*id = read;
	return 0;
}

int mcp_session_id_check(const unsigned char key[MCP_KEY_BYTES], struct mcp_session_id id,
	enum mcp_version *version)
{
	uint8_t proof[PROOF_BYTES];

	prove(key, id.bytes, proof);
	if (CRYPTO_memcmp(proof, id.bytes + CLAIM_BYTES, PROOF_BYTES) != 0 ||
		(id.bytes[6] >> 4) != 8 || (id.bytes[6] & 0xf) >= MCP_VERSION_COUNT)
		return -ENOENT;
	*version = (enum mcp_version)(id.bytes[6] & 0xf);
	return 0;
}

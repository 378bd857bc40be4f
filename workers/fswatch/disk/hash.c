/* hash.c - see hash.h. Contexts are kept per thread: making them costs more than a hash.
 */
#include "workers/fswatch/disk/hash.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t fetched = PTHREAD_ONCE_INIT;
static EVP_MD *sha256;
static EVP_MAC *poly1305;

static _Thread_local EVP_MD_CTX *digest;
static _Thread_local EVP_MAC_CTX *sum;
static pthread_key_t ending; /* of a thread that has made any of them */

static _Noreturn void broken(void)
{
	fprintf(stderr, "OpenSSL cannot compute SHA-256 or Poly1305\n");
	abort();
}

static void free_contexts(void *unused)
{
	(void)unused;
	EVP_MD_CTX_free(digest);
	EVP_MAC_CTX_free(sum);
}

static void fetch(void)
{
	/* The system's openssl.cnf has no say here, and may be out of reach. */
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	sha256 = EVP_MD_fetch(NULL, "SHA2-256", NULL);
	poly1305 = EVP_MAC_fetch(NULL, "POLY1305", NULL);
	if (!sha256 || !poly1305 || pthread_key_create(&ending, free_contexts) != 0)
		broken();
}

/* Has the contexts of this thread freed when it ends. */
static void free_at_end(void)
{
	if (pthread_setspecific(ending, &ending) != 0)
		broken();
}

void hash_version(struct str content, char out[HASH_VERSION_SIZE])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];

	pthread_once(&fetched, fetch);
	if (!digest) {
		digest = EVP_MD_CTX_new();
		free_at_end();
	}
	if (!digest || !EVP_DigestInit_ex2(digest, sha256, NULL) ||
		!EVP_DigestUpdate(digest, content.ptr, content.len) ||
		!EVP_DigestFinal_ex(digest, bytes, NULL))
		broken();
	for (size_t i = 0; i < (HASH_VERSION_SIZE - 1) / 2; i++) {
		out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	out[HASH_VERSION_SIZE - 1] = '\0';
}

struct hash_sum hash_sum(const struct str *pieces, size_t count)
{
	static const unsigned char key[32] = "it tells whole records from torn";
	struct hash_sum out;
	size_t len;

	pthread_once(&fetched, fetch);
	if (!sum) {
		sum = EVP_MAC_CTX_new(poly1305);
		free_at_end();
	}
	if (!sum || !EVP_MAC_init(sum, key, sizeof(key), NULL))
		broken();
	for (size_t i = 0; i < count; i++)
		if (!EVP_MAC_update(
			    sum, (const unsigned char *)pieces[i].ptr, pieces[i].len))
			broken();
	if (!EVP_MAC_final(sum, out.bytes, &len, sizeof(out.bytes)))
		broken();
	return out;
}

bool hash_sum_holds(struct hash_sum *stored, const struct str *pieces, size_t count)
{
	const struct hash_sum expected = *stored;
	struct hash_sum found;

	*stored = (struct hash_sum){{0}};
	found = hash_sum(pieces, count);
	return memcmp(&found, &expected, sizeof(found)) == 0;
}

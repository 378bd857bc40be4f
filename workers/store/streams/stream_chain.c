/* stream_chain.c - see stream_chain.h. */
#include "workers/store/streams/stream_chain.h"
#include <assert.h>
#include <openssl/evp.h>
#include <stdlib.h>

/* Lengths go in too, so that no two rows give the same bytes. */
static void add_number(EVP_MD_CTX *ctx, uint64_t value)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> (56 - 8 * i));
	EVP_DigestUpdate(ctx, bytes, sizeof(bytes));
}

static void add_text(EVP_MD_CTX *ctx, struct str text)
{
	add_number(ctx, text.len);
	EVP_DigestUpdate(ctx, text.ptr, text.len);
}

static EVP_MD_CTX *begin(void)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	if (!ctx || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL))
		abort();
	return ctx;
}

static void end(EVP_MD_CTX *ctx, struct stream_chain *chain)
{
	unsigned int len = 0;

	EVP_DigestFinal_ex(ctx, chain->sum, &len);
	assert(len == STREAM_CHAIN_BYTES);
	EVP_MD_CTX_free(ctx);
}

void stream_chain_begin(struct stream_chain *chain, struct str kind, struct str id)
{
	EVP_MD_CTX *ctx = begin();

	add_text(ctx, STR_LIT("paige guard stream 1"));
	add_text(ctx, kind);
	add_text(ctx, id);
	end(ctx, chain);
}

void stream_chain_add(struct stream_chain *chain, const struct stream_row *row)
{
	EVP_MD_CTX *ctx = begin();

	EVP_DigestUpdate(ctx, chain->sum, sizeof(chain->sum));
	add_number(ctx, (uint64_t)row->seq);
	add_number(ctx, (uint64_t)row->at);
	add_text(ctx, row->actor);
	add_text(ctx, row->type);
	add_text(ctx, row->payload);
	end(ctx, chain);
}

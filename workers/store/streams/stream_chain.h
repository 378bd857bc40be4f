/*
 * stream_chain.h - the chain of checksums over the rows of a stream.
 *
 * Each row's checksum is SHA-256 over the one before it and over everything that the row
 * holds; the first row's is over the name of the stream. If a row is changed, moved,
 * inserted or removed, the checksums of all later ones no longer fit. Pure; called by
 * streams.c.
 */
#pragma once

#include "proto/codec/messages.h"

#define STREAM_CHAIN_BYTES 32

struct stream_chain {
	unsigned char sum[STREAM_CHAIN_BYTES];
};

/* Before the first row. */
void stream_chain_begin(struct stream_chain *chain, struct str kind, struct str id);
/* Goes on to the checksum of `row`. */
void stream_chain_add(struct stream_chain *chain, const struct stream_row *row);

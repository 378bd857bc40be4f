/*
 * hash.h - versions of files and checksums of what is stored, through OpenSSL's EVP.
 *
 * A version names content: equal content has the equal version, and no two contents share
 * one (128 bits of SHA-256). A checksum only tells a whole record from a torn one, so it
 * is the fastest thing at hand (Poly1305 under a fixed key). May be called from any
 * thread.
 */
#pragma once

#include "common/base/str.h"

#define HASH_VERSION_SIZE 33 /* 32 hexadecimal digits and NUL */

void hash_version(struct str content, char out[HASH_VERSION_SIZE]);

struct hash_sum {
	unsigned char bytes[16];
};

/* The checksum of several pieces one after the other. */
struct hash_sum hash_sum(const struct str *pieces, size_t count);
/* Whether `stored`, which lies in the first piece, is the checksum of the pieces with itself as zero: it is zero
 * afterwards. */
bool hash_sum_holds(struct hash_sum *stored, const struct str *pieces, size_t count);

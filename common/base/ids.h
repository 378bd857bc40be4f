/*
 * ids.h - identifiers.
 *
 * Rows get time-ordered UUIDs (version 7, RFC 9562): random keys cost three times the write speed.
 * Ids from one process are strictly increasing. Secrets and MCP session ids come from getrandom(2).
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/str.h"
#include <stdbool.h>
#include <stdint.h>

#define UUID_SIZE 37 /* 36 characters and NUL */

/* 16 bytes in the form with dashes. */
void uuid_print(const uint8_t bytes[16], char out[UUID_SIZE]);
void uuid7(struct wall now, char out[UUID_SIZE]);
void uuid4(char out[UUID_SIZE]);
/* The well-formed lower- or upper-case form with dashes, of any version. */
bool uuid_valid(struct str text);
/* Fills with random bytes; ends the process when the kernel has none. */
void random_bytes(void *out, size_t len);
/* `out` gets 2 * len hexadecimal digits, in lower case, and NUL: of these bytes, or of random
 * ones. */
void hex_print(char *out, const void *bytes, size_t len);
void random_hex(char *out, size_t len);

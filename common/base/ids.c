/* ids.c - identifiers (ids.h). */
#include "common/base/ids.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void random_bytes(void *out, size_t len)
{
	unsigned char *p = out;

	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			perror("getrandom");
			abort();
		}
		p += n;
		len -= (size_t)n;
	}
}

static void hex(char *out, const unsigned char *bytes, size_t len)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digit[bytes[i] >> 4];
		out[2 * i + 1] = digit[bytes[i] & 15];
	}
}

void hex_print(char *out, const void *bytes, size_t len)
{
	hex(out, bytes, len);
	out[2 * len] = '\0';
}

void random_hex(char *out, size_t len)
{
	unsigned char piece[64];
	size_t done = 0;

	while (done < len) {
		size_t n = len - done < sizeof(piece) ? len - done : sizeof(piece);

		random_bytes(piece, n);
		hex(out + 2 * done, piece, n);
		done += n;
	}
	out[2 * len] = '\0';
}

void uuid_print(const uint8_t bytes[16], char out[UUID_SIZE])
{
	memcpy(out, "........-....-....-....-............", UUID_SIZE);
	hex(out, bytes, 4);
	hex(out + 9, bytes + 4, 2);
	hex(out + 14, bytes + 6, 2);
	hex(out + 19, bytes + 8, 2);
	hex(out + 24, bytes + 10, 6);
}

static void uuid_mark(unsigned char bytes[16], int version)
{
	bytes[6] = (unsigned char)((bytes[6] & 0x0F) | (version << 4));
	bytes[8] = (bytes[8] & 0x3F) | 0x80;
}

/*
 * 48 bits of milliseconds, then a counter of 12 + 14 bits that starts at a random value
 * in each new millisecond and steps within one, then 48 random bits that are drawn once
 * per process and turned by one with each id: unique across processes, increasing within
 * one, and no system call for each.
 */
void uuid7(struct wall now, char out[UUID_SIZE])
{
	static int64_t last_ms;
	static uint32_t counter; /* 26 bits */
	static uint64_t tail;
	int64_t ms = wall_ms(now);
	unsigned char bytes[16];

	if (tail == 0)
		random_bytes(&tail, sizeof(tail));
	if (ms > last_ms) {
		uint32_t seed;

		random_bytes(&seed, sizeof(seed));
		counter = seed & 0x1FFFFFF; /* the top bit is room to count */
		last_ms = ms;
	} else if (++counter > 0x3FFFFFF) {
		counter = 0;
		last_ms++;
	}
	tail = tail * 6364136223846793005u + 1442695040888963407u;
	for (int i = 0; i < 6; i++)
		bytes[i] = (unsigned char)(last_ms >> (40 - 8 * i));
	bytes[6] = (unsigned char)(counter >> 22);
	bytes[7] = (unsigned char)(counter >> 14);
	bytes[8] = (unsigned char)((counter >> 8) & 0x3F);
	bytes[9] = (unsigned char)counter;
	for (int i = 0; i < 6; i++)
		bytes[10 + i] = (unsigned char)(tail >> (16 + 8 * i));
	uuid_mark(bytes, 7);
	uuid_print(bytes, out);
}

void uuid4(char out[UUID_SIZE])
{
	unsigned char bytes[16];

	random_bytes(bytes, sizeof(bytes));
	uuid_mark(bytes, 4);
	uuid_print(bytes, out);
}

bool uuid_valid(struct str text)
{
	if (!text.ptr || text.len != UUID_SIZE - 1)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text.ptr[i] != '-' : !isxdigit((unsigned char)text.ptr[i]))
			return false;
	}
	return true;
}

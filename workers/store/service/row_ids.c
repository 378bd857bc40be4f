/* row_ids.c - the ids of rows, made from the key of the call that writes them
 * (row_ids.h). */
#include "workers/store/service/row_ids.h"
#include <ctype.h>
#include <errno.h>

#define VERSION_AT 14 /* the digit of the version */
#define TAIL_AT 24    /* the last group: 48 bits that are neither time nor counter */
#define TAIL_DIGITS 12

static int digit_value(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

int row_key_time(struct str key, struct wall *made)
{
	int64_t ms = 0;

	if (!uuid_valid(key) || key.ptr[VERSION_AT] != '7')
		return -EINVAL;
	for (int i = 0; i < 13; i++)
		if (key.ptr[i] != '-')
			ms = ms << 4 | digit_value(key.ptr[i]);
	*made = (struct wall){ms * 1000};
	return 0;
}

/* The finalizer of SplitMix64: a bijection that leaves no pattern. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

int row_id(struct str key, unsigned n, char out[UUID_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t tail = 0;

	if (!uuid_valid(key))
		return -EINVAL;
	for (int i = 0; i < UUID_SIZE - 1; i++)
		out[i] = (char)tolower((unsigned char)key.ptr[i]);
	out[UUID_SIZE - 1] = '\0';
	out[VERSION_AT] = '4';
	if (n == 0)
		return 0;
	for (int i = 0; i < TAIL_DIGITS; i++)
		tail = tail << 4 | (unsigned)digit_value(out[TAIL_AT + i]);
	tail = mix(tail + (uint64_t)n * 0x9e3779b97f4a7c15u);
	for (int i = 0; i < TAIL_DIGITS; i++)
		out[TAIL_AT + i] = digits[tail >> (60 - 4 * i) & 15];
	return 0;
}

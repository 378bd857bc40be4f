/* bus_keys.c - see bus_keys.h. */
#include "common/bus/rules/bus_keys.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS (sizeof(struct bus_keys) / sizeof(uint64_t))
#define DIGITS 16

bool bus_key_equal(const struct bus_key *a, const struct bus_key *b)
{
	/* Takes as long wherever they differ. */
	return ((a->high ^ b->high) | (a->low ^ b->low)) == 0;
}

void bus_keys_print(const struct bus_keys *keys, struct buf *out)
{
	uint64_t numbers[NUMBERS];

	memcpy(numbers, keys, sizeof(numbers));
	for (size_t i = 0; i < NUMBERS; i++)
		buf_printf(out, "%016" PRIx64, numbers[i]);
}

int bus_keys_parse(const char *text, struct bus_keys *out)
{
	uint64_t numbers[NUMBERS];
	char number[DIGITS + 1] = "";

	if (strlen(text) != NUMBERS * DIGITS)
		return -EINVAL;
	for (size_t i = 0; i < NUMBERS * DIGITS; i++)
		if (!isxdigit((unsigned char)text[i]))
			return -EINVAL;
	for (size_t i = 0; i < NUMBERS; i++) {
		memcpy(number, text + i * DIGITS, DIGITS);
		numbers[i] = strtoull(number, NULL, 16);
	}
	memcpy(out, numbers, sizeof(numbers));
	return 0;
}

/* ws_utf8.c - see ws_utf8.h. */
#include "workers/gateway/ws/ws_utf8.h"
#include <string.h>

#define CONTINUATION_LOW 0x80
#define CONTINUATION_HIGH 0xbf

/* Length of the run of ASCII at the start, eight bytes at a time: most text is only that.
 */
static size_t ascii_run(const uint8_t *data, size_t len)
{
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		uint64_t word;

		memcpy(&word, data + i, 8);
		if (word & 0x8080808080808080u)
			break;
	}
	while (i < len && data[i] < 0x80)
		i++;
	return i;
}

/* The well-formed byte sequences of RFC 3629 section 4, by their first byte. */
static bool start_sequence(struct ws_utf8 *u, uint8_t lead)
{
	*u = (struct ws_utf8){.low = CONTINUATION_LOW, .high = CONTINUATION_HIGH};
	if (lead < 0xc2 || lead > 0xf4)
		return false;
	if (lead < 0xe0) {
		u->missing = 1;
	} else if (lead < 0xf0) {
		u->missing = 2;
		if (lead == 0xe0)
			u->low = 0xa0; /* shorter forms exist below */
		else if (lead == 0xed)
			u->high = 0x9f; /* surrogates are above */
	} else {
		u->missing = 3;
		if (lead == 0xf0)
			u->low = 0x90;
		else if (lead == 0xf4)
			u->high = 0x8f; /* beyond U+10FFFF */
	}
	return true;
}

bool ws_utf8_feed(struct ws_utf8 *u, const uint8_t *data, size_t len)
{
	size_t i = 0;

	while (i < len) {
		if (u->missing == 0) {
			i += ascii_run(data + i, len - i);
			if (i < len && !start_sequence(u, data[i++]))
				return false;
			continue;
		}
		if (data[i] < u->low || data[i] > u->high)
			return false;
		u->low = CONTINUATION_LOW;
		u->high = CONTINUATION_HIGH;
		u->missing--;
		i++;
	}
	return true;
}

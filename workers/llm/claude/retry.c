/* retry.c - whether and when a request is made again (retry.h). */
#include "workers/llm/claude/retry.h"
#include <curl/curl.h>
#include <math.h>
#include <stdlib.h>

/* What is longer cannot be meant, and is let be as the vendor's own client does. */
#define LONGEST_ASKED_MS 2147483647.0

/* True for failures that may go away: no answer, 408, 409, 429, 500 and above, an incomplete
 * answer. */
static bool is_transient(const struct attempt *a)
{
	if (a->status == 0 || a->cut || a->overloaded)
		return true;
	return a->status == 408 || a->status == 409 || a->status == 429 ||
	       a->status >= 500;
}

static bool number(struct str text, double *out)
{
	char copy[64], *end;
	double value;

	if (text.len == 0 || text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	value = strtod(copy, &end);
	if (*end || !isfinite(value))
		return false;
	*out = value;
	return true;
}

/* What the server asks for, or -1. */
static double asked_ms(const struct attempt *a, struct wall now)
{
	char date[64];
	double value;
	time_t at;

	if (number(a->retry_after_ms, &value))
		return value;
	if (number(a->retry_after, &value))
		return value * 1000;
	if (a->retry_after.len == 0 || a->retry_after.len >= sizeof(date))
		return -1;
	memcpy(date, a->retry_after.ptr, a->retry_after.len);
	date[a->retry_after.len] = '\0';
	at = curl_getdate(date, NULL);
	return at < 0 ? -1 : (double)at * 1000 - (double)wall_ms(now);
}

int64_t retry_wait_ms(const struct attempt *a, int done, int max_retries, int64_t base_ms,
	double chance, struct wall now)
{
	double asked, pause;

	if (done >= max_retries)
		return -1;
	if (str_is(a->should_retry, "false"))
		return -1;
	if (!str_is(a->should_retry, "true") && !is_transient(a))
		return -1;
	asked = asked_ms(a, now);
	if (asked > RETRY_ASKED_MOST_MS && asked <= LONGEST_ASKED_MS)
		return -1;
	if (asked > 0 && asked <= LONGEST_ASKED_MS)
		return (int64_t)ceil(asked);
	pause = (double)base_ms * pow(2, done);
	if (pause > RETRY_MOST_MS)
		pause = RETRY_MOST_MS;
	return (int64_t)(pause * (1 - chance * 0.25));
}

int64_t retry_asked_too_long_ms(const struct attempt *a, struct wall now)
{
	double asked = is_transient(a) ? asked_ms(a, now) : 0;

	return asked > RETRY_ASKED_MOST_MS && asked <= LONGEST_ASKED_MS
		       ? (int64_t)ceil(asked)
		       : 0;
}

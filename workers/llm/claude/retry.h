/*
 * retry.h - decides whether and when a request to the Claude API is repeated. Pure; follows
 * the rules of the vendor's own client (P11.12).
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/str.h"

#define RETRY_MOST_MS 8000
/* If the server asks for a longer pause, the call fails and says when to try again. */
#define RETRY_ASKED_MOST_MS 60000

/* How one try ended. */
struct attempt {
	int status;		 /* HTTP; 0 when no answer came */
	bool cut;		 /* the answer ended too early */
	bool overloaded;	 /* a transient error inside an answer with status 200 */
	struct str should_retry; /* header x-should-retry, absent or its value */
	struct str retry_after_ms; /* header retry-after-ms */
	struct str retry_after;	   /* header retry-after: seconds or an HTTP date */
};

/*
 * Milliseconds to wait before the next try, or -1 for none, for example if the server asks
 * for too long a pause. `done`: the repeats so far. `chance` in [0, 1) shortens the computed
 * pause by up to a quarter. (If a kept connection turns out to be dead, libcurl itself tries
 * again; that is no attempt.)
 */
int64_t retry_wait_ms(const struct attempt *a, int done, int max_retries, int64_t base_ms,
	double chance, struct wall now);

/* The pause that the server asks for, in milliseconds, if it exceeds RETRY_ASKED_MOST_MS; else
 * 0. */
int64_t retry_asked_too_long_ms(const struct attempt *a, struct wall now);

/*
 * retry.h - whether and when a request to the Claude API is made again. Pure; the rules
 * of the vendor's own client (P11.12).
 */
#ifndef PAIGE_LLM_CLAUDE_RETRY_H
#define PAIGE_LLM_CLAUDE_RETRY_H

#include "common/base/clock.h"
#include "common/base/str.h"

#define RETRY_MOST_MS 8000
/* Nobody waits longer for what the server asks: the call fails and says when. */
#define RETRY_ASKED_MOST_MS 60000

/* How one try ended. */
struct attempt {
	int status;	 /* HTTP; 0 when no answer came */
	bool cut;	 /* an answer began and did not end as it should */
	bool overloaded; /* an error inside an answer with status 200 that passes */
	struct str should_retry;   /* header x-should-retry, absent or its value */
	struct str retry_after_ms; /* header retry-after-ms */
	struct str retry_after;	   /* header retry-after: seconds or an HTTP date */
};

/* True for what may pass by itself: no answer, 408, 409, 429, 500 and above, a cut
 * answer. */
bool attempt_is_transient(const struct attempt *a);

/*
 * Milliseconds to wait before the next try, or -1 for none, also when the server asks for
 * too long a pause. `done` counts earlier
 * repeats. `chance` is in [0, 1) and shortens the computed pause by up to a quarter. (A
 * kept connection that turns out dead is tried again by libcurl itself and is no
 * attempt.)
 */
int64_t retry_wait_ms(const struct attempt *a, int done, int max_retries, int64_t base_ms,
	double chance, struct wall now);

/* How long the server asks to be left alone, in milliseconds, when that is more than
 * RETRY_ASKED_MOST_MS; else 0. */
int64_t retry_asked_too_long_ms(const struct attempt *a, struct wall now);

#endif

/* http_refusals.c - see http_refusals.h. Static: there is one log in a process. */
#include "workers/gateway/http/http_refusals.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/loop/timer.h"
#include <event2/event.h>
#include <stdint.h>

static unsigned shown;
static uint64_t summed;

static void on_second(EVENT_UNUSED, void *arg)
{
	(void)arg;
	if (summed > 0)
		log_warn("more requests were refused in the same second", "requests",
			"%llu", (unsigned long long)summed, NULL);
	shown = 0;
	summed = 0;
}

static struct str cut(struct str text)
{
	return text.ptr ? utf8_cut(text, REFUSALS_SHOWN_BYTES) : text;
}

void refusals_note(struct event_base *base, const char *reason, struct str path,
	struct str host, struct str origin, struct str visitor)
{
	if (shown == 0 && summed == 0)
		event_once_ms(base, on_second, NULL, 1000);
	if (shown == REFUSALS_SHOWN) {
		summed++;
		return;
	}
	shown++;
	path = cut(path);
	host = cut(host);
	origin = cut(origin);
	visitor = cut(visitor);
	log_warn("request refused", "reason", "%s", reason, "path", "%.*s", STR_ARG(path),
		"host", "%.*s", STR_ARG(host), "origin", "%.*s", STR_ARG(origin),
		"visitor", "%.*s", STR_ARG(visitor), NULL);
}

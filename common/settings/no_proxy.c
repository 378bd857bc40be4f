/* no_proxy.c - see no_proxy.h. */
#include "common/settings/no_proxy.h"

#include <stdlib.h>

void no_proxy_list(struct buf *out)
{
	const char *given = getenv("no_proxy");

	if (!given)
		given = getenv("NO_PROXY");
	if (given && *given)
		buf_add_str(out, str_of(given));
	/* libcurl takes a star for everything only when it stands alone. */
	if (given && strcmp(given, "*") == 0)
		return;
	if (given && *given)
		buf_add_char(out, ',');
	buf_add_str(out, STR_LIT("localhost,127.0.0.0/8,::1"));
}

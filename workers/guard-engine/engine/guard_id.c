/* guard_id.c - see guard_id.h. */
#include "workers/guard-engine/engine/guard_id.h"
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include <stdio.h>

/* As much of a wrong id as an error shows. */
#define SHOWN_BYTES 40

static bool byte_valid(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != '/' && c != '?' && c != '#' && c != '%';
}

bool guard_id_valid(struct str id, char problem[GUARD_ID_PROBLEM_SIZE])
{
	bool valid = id.len > 0 && id.len < GUARD_ID_SIZE;
	struct str shown = utf8_cut(id, SHOWN_BYTES);
	AUTO_BUF quoted = {0};

	for (size_t n = 0; n < id.len && valid; n++)
		valid = byte_valid((unsigned char)id.ptr[n]);
	if (valid)
		return true;
	buf_add_json_string(&quoted, shown);
	snprintf(problem, GUARD_ID_PROBLEM_SIZE,
		"id: expected 1 to %d printable ASCII characters without blanks and / ? "
		"# %%, got %.*s%s",
		GUARD_ID_SIZE - 1, STR_ARG(buf_str(&quoted)),
		shown.len < id.len ? " and more" : "");
	return false;
}

/* environment.c - see environment.h. */
#include "workers/agent/environment.h"
#include "common/settings.h"

static bool stays(struct str entry, bool key)
{
	const char *equals = memchr(entry.ptr, '=', entry.len);
	struct str name = {entry.ptr, equals ? (size_t)(equals - entry.ptr) : entry.len};

	if (str_starts(name, "PAIGE_"))
		return false;
	if (str_is(name, "ANTHROPIC_API_KEY") || str_is(name, "ANTHROPIC_BASE_URL"))
		return key;
	return setting_by_name(name) < 0;
}

char **environment_for_agent(char *const *inherited, bool key, struct arena *arena)
{
	size_t n = 0, kept = 0;
	char **out;

	while (inherited[n])
		n++;
	out = arena_array(arena, n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		if (stays(str_of(inherited[i]), key))
			out[kept++] = inherited[i];
	return out;
}

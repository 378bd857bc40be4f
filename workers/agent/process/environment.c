/* environment.c - see environment.h. */
#include "workers/agent/process/environment.h"
#include "common/settings/envfile.h"
#include "common/settings/settings.h"

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

static bool is_name(struct str name)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	for (size_t i = 0; i < name.len; i++)
		if (!memchr(allowed, name.ptr[i], sizeof(allowed) - 1))
			return false;
	return name.len > 0 && (name.ptr[0] < '0' || name.ptr[0] > '9');
}

static bool assigns(const char *entry, struct str name)
{
	return strncmp(entry, name.ptr, name.len) == 0 && entry[name.len] == '=';
}

/* Where an assignment of this name stands, or the end. */
static size_t place_of(char *const *list, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (assigns(list[i], name))
			return i;
	return count;
}

char **environment_with(
	char *const *base, struct str file, struct arena *arena, int *line)
{
	struct envfile reader = {.text = file};
	enum envfile_item item;
	struct str key, value;
	size_t count = 0, room = 1;
	char **out;

	while (base[count])
		count++;
	for (size_t i = 0; i < file.len; i++)
		room += file.ptr[i] == '\n' || file.ptr[i] == '\r';
	out = arena_array(arena, count + room + 1, sizeof(*out));
	memcpy(out, base, count * sizeof(*out));
	while ((item = envfile_next(&reader, &key, &value)) == ENVFILE_ASSIGNMENT &&
		is_name(key) && !memchr(value.ptr, '\0', value.len)) {
		size_t at = place_of(out, count, key);

		out[at] = arena_cstr(arena,
			arena_printf(arena, "%.*s=%.*s", STR_ARG(key), STR_ARG(value)));
		count += at == count;
	}
	*line = reader.line;
	envfile_fini(&reader);
	return item == ENVFILE_END ? out : NULL;
}

const char *environment_value(char *const *list, const char *name)
{
	for (; *list; list++)
		if (assigns(*list, str_of(name)))
			return *list + strlen(name) + 1;
	return NULL;
}

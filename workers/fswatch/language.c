/* language.c - the catalogues behind language.h. */
#include "workers/fswatch/language.h"
#include "workers/fswatch/paths.h"
#include <strings.h>

struct entry {
	const char *language;
	const char *endings;
};

static const struct entry languages[] = {
#define LANGUAGE(language, endings) {language, endings},
#define NAMED(language, names)
#include "workers/fswatch/language.def"
#undef LANGUAGE
#undef NAMED
};

static const struct entry named[] = {
#define LANGUAGE(language, endings)
#define NAMED(language, names) {language, names},
#include "workers/fswatch/language.def"
#undef LANGUAGE
#undef NAMED
};

static const struct entry binaries[] = {
#define BINARY(endings) {LANGUAGE_BINARY, endings},
#include "workers/fswatch/binary.def"
#undef BINARY
};

/* What stands behind the last dot; empty without one. */
static struct str ending_of(struct str path)
{
	struct str base = paths_base(path);
	const char *dot = memrchr(base.ptr, '.', base.len);

	if (!dot)
		return (struct str){"", 0};
	return (struct str){dot + 1, (size_t)(base.ptr + base.len - dot - 1)};
}

static bool listed(const char *endings, struct str ending)
{
	while (*endings) {
		size_t len = strcspn(endings, " ");

		if (len == ending.len && strncasecmp(endings, ending.ptr, len) == 0)
			return true;
		endings += len;
		endings += strspn(endings, " ");
	}
	return false;
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *look_up(const struct entry *entries, size_t count, struct str ending)
{
	for (size_t i = 0; ending.len > 0 && i < count; i++)
		if (listed(entries[i].endings, ending))
			return entries[i].language;
	return NULL;
}

const char *language_of(struct str path)
{
	const char *language = look_up(named, COUNT(named), paths_base(path));

	if (!language)
		language = look_up(languages, COUNT(languages), ending_of(path));
	return language ? language : "plaintext";
}

bool language_is_binary(struct str path)
{
	return look_up(binaries, COUNT(binaries), ending_of(path)) != NULL;
}

/* language.c - the catalogues behind language.h. */
#include "workers/fswatch/disk/language.h"
#include "common/base/alloc.h"
#include "workers/fswatch/disk/pathmap.h"
#include "workers/fswatch/disk/paths.h"
#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

/* One list of endings or names and what they stand for. */
struct entry {
	const char *language;
	const char *words;
	bool whole_names;
};

static const struct entry entries[] = {
#define LANGUAGE(language, endings) {language, endings, false},
#define NAMED(language, names) {language, names, true},
#define BINARY(endings) {LANGUAGE_BINARY, endings, false},
#include "workers/fswatch/disk/binary.def"
#include "workers/fswatch/disk/language.def"
#undef LANGUAGE
#undef NAMED
#undef BINARY
};

#define WORD_SIZE 16 /* longer ones are in no catalogue */

/* By word: ".ts" is an ending, "dockerfile" a whole name. */
static struct pathmap languages;

static void put(struct str word, bool whole_name, const char *language)
{
	size_t len = word.len + !whole_name;
	char *text = xmalloc(len);

	assert(len <= WORD_SIZE);
	text[0] = '.';
	memcpy(text + !whole_name, word.ptr, word.len);
	pathmap_put(&languages, (struct str){text, len}, (void *)(uintptr_t)language);
}

static void fill(void)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		for (const char *at = entries[i].words; *at;) {
			size_t len = strcspn(at, " ");

			put((struct str){at, len}, entries[i].whole_names,
				entries[i].language);
			at += len;
			at += strspn(at, " ");
		}
}

/* What a word stands for, in any case; NULL when it is in no catalogue. */
static const char *look_up(struct str word)
{
	char lower[WORD_SIZE];

	if (languages.count == 0)
		fill();
	if (word.len == 0 || word.len > sizeof(lower))
		return NULL;
	for (size_t i = 0; i < word.len; i++)
		lower[i] = (char)tolower((unsigned char)word.ptr[i]);
	return pathmap_get(&languages, (struct str){lower, word.len});
}

static const char *language_by_name(struct str path)
{
	struct str base = paths_base(path);
	const char *dot = memrchr(base.ptr, '.', base.len);

	return look_up(
		dot ? (struct str){dot, (size_t)(base.ptr + base.len - dot)} : base);
}

const char *language_of(struct str path)
{
	const char *language = language_by_name(path);

	return language ? language : "plaintext";
}

bool language_is_binary(struct str path)
{
	const char *language = language_by_name(path);

	return language && strcmp(language, LANGUAGE_BINARY) == 0;
}

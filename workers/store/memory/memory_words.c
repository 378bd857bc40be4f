/* memory_words.c - text to a query of SQLite's full-text search (memory_words.h). */
#include "workers/store/memory/memory_words.h"
#include <utf8proc.h>

/* A longer run of letters is no word but data. */
#define WORD_MAX_BYTES 200

struct words {
	struct str list[MEMORY_WORDS_MAX];
	size_t count;
};

static bool is_common(struct str word)
{
	static const struct str common[] = {
#define COMMON_WORD(word) STR_INIT(word),
#include "workers/store/memory/memory_words.def"
#undef COMMON_WORD
	};

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (str_eq_nocase(common[i], word))
			return true;
	return false;
}

static void add(struct words *words, struct str word)
{
	if (word.len == 0 || word.len > WORD_MAX_BYTES ||
		words->count == MEMORY_WORDS_MAX)
		return;
	for (size_t i = 0; i < words->count; i++)
		if (str_eq(words->list[i], word))
			return;
	words->list[words->count++] = word;
}

/* Letters, numbers, and marks that belong to letters: what the tokenizer keeps. */
static bool in_word(utf8proc_int32_t point)
{
	const char *category = utf8proc_category_string(point);

	return category[0] == 'L' || category[0] == 'N' || category[0] == 'M';
}

static void split(struct str text, bool with_common, struct words *words)
{
	const char *begin = text.ptr, *end = text.ptr + text.len;

	for (const char *p = text.ptr; p <= end;) {
		utf8proc_int32_t point = -1;
		utf8proc_ssize_t step =
			p < end ? utf8proc_iterate(
					  (const utf8proc_uint8_t *)p, end - p, &point)
				: 0;

		if (step > 0 && in_word(point)) {
			p += step;
			continue;
		}
		struct str word = {begin, (size_t)(p - begin)};

		if (with_common || !is_common(word))
			add(words, word);
		p += step > 0 ? step : 1;
		begin = p;
	}
}

void memory_words(struct str text, struct buf *query)
{
	struct words words = {.count = 0};

	if (text.len == 0)
		return;
	split(text, false, &words);
	if (words.count == 0)
		split(text, true, &words);
	for (size_t i = 0; i < words.count; i++) {
		if (i > 0)
			buf_add_str(query, STR_LIT(" OR "));
		buf_add_char(query, '"');
		buf_add_str(query, words.list[i]);
		buf_add_char(query, '"');
	}
}

/*
 * phrases.c - see phrases.h.
 *
 * The text is cut into sentences and words; each phrasing is tried at every word. A
 * pattern is read as it is matched: there are few of them, and a text is checked once.
 */
#include "workers/guard-engine/phrases/phrases.h"
#include <ctype.h>
#include <string.h>

#define MAX_WORD 24  /* bytes kept of a word; no word of the table is longer */
#define MAX_REPEAT 3 /* words that "@set*" takes at most: keeps the search small */

struct sentence {
	const struct phrases *table;
	char words[PHRASES_MAX_WORDS][MAX_WORD];
	size_t lengths[PHRASES_MAX_WORDS];
	int count;
};

/* Is the counted word the one at `at`? */
static bool word_is(const struct sentence *s, int at, struct str word)
{
	return at < s->count && s->lengths[at] == word.len &&
	       s->words[at][0] == word.ptr[0] &&
	       memcmp(s->words[at], word.ptr, word.len) == 0;
}

struct str phrases_piece(const char **rest, char separator)
{
	const char *start = *rest, *end = strchr(start, separator);
	size_t len = end ? (size_t)(end - start) : strlen(start);

	*rest = end ? end + 1 : NULL;
	return (struct str){start, len};
}

/* Words that the alternative takes at `at`; 0 for the beginning of a sentence, -1 when it
 * does not fit. */
static int alternative_length(const struct sentence *s, int at, struct str alternative)
{
	int taken = 0;

	if (alternative.ptr[0] == '^')
		return at == 0 ? 0 : -1;
	if (at >= s->count || s->words[at][0] != alternative.ptr[0])
		return -1;
	while (alternative.len) {
		const char *blank = memchr(alternative.ptr, ' ', alternative.len);
		size_t len = blank ? (size_t)(blank - alternative.ptr) : alternative.len;
		size_t used = blank ? len + 1 : len;

		if (!word_is(s, at + taken, (struct str){alternative.ptr, len}))
			return -1;
		taken++;
		alternative.ptr += used;
		alternative.len -= used;
	}
	return taken;
}

static const char *set_named(const struct phrases *table, struct str name)
{
	for (size_t i = 0; i < table->set_count; i++)
		if (str_is(name, table->sets[i].name))
			return table->sets[i].text;
	return "";
}

static bool match(const struct sentence *s, int at, const char *pattern);

/* One alternative of the set, then the rest. */
static bool match_set(
	const struct sentence *s, int at, const char *alternatives, const char *rest)
{
	const char *left = alternatives;

	while (left) {
		int len = alternative_length(s, at, phrases_piece(&left, '|'));

		if (len >= 0 && match(s, at + len, rest))
			return true;
	}
	return false;
}

/* The rest, after up to `most` alternatives of the set. */
static bool match_repeated(const struct sentence *s, int at, const char *alternatives,
	int most, const char *rest)
{
	const char *left = alternatives;

	if (match(s, at, rest))
		return true;
	while (most > 0 && left) {
		int len = alternative_length(s, at, phrases_piece(&left, '|'));

		if (len > 0 && match_repeated(s, at + len, alternatives, most - 1, rest))
			return true;
	}
	return false;
}

/* At most `most` words that belong to no story, then the rest. */
static bool match_gap(const struct sentence *s, int at, int most, const char *rest)
{
	static const struct str story = {"story", 5};

	for (int gap = 0;; gap++) {
		const char *left = set_named(s->table, story);

		if (match(s, at + gap, rest))
			return true;
		if (gap == most || at + gap >= s->count)
			return false;
		while (left)
			if (word_is(s, at + gap, phrases_piece(&left, '|')))
				return false;
	}
}

static bool match(const struct sentence *s, int at, const char *pattern)
{
	const char *rest = pattern;
	struct str part;

	if (!pattern)
		return true;
	part = phrases_piece(&rest, ' ');
	if (part.ptr[0] == '@') {
		bool repeated = part.ptr[part.len - 1] == '*';
		const char *alternatives = set_named(
			s->table, (struct str){part.ptr + 1, part.len - 1 - repeated});

		if (repeated)
			return match_repeated(s, at, alternatives, MAX_REPEAT, rest);
		return match_set(s, at, alternatives, rest);
	}
	if (part.ptr[0] == '~')
		return match_gap(s, at, part.ptr[1] - '0', rest);
	if (str_is(part, "^"))
		return at == 0 && match(s, at, rest);
	return word_is(s, at, part) && match(s, at + 1, rest);
}

static const char *find_in_sentence(const struct sentence *s)
{
	for (size_t i = 0; i < s->table->phrasing_count; i++)
		for (int at = 0; at < s->count; at++)
			if (match(s, at, s->table->phrasings[i].text))
				return s->table->phrasings[i].name;
	return NULL;
}

/* Bytes of the typographic apostrophe at the front of `left`, or 0. */
static size_t apostrophe(struct str left)
{
	if (left.len && left.ptr[0] == '\'')
		return 1;
	return left.len >= 3 && memcmp(left.ptr, "\xE2\x80\x99", 3) == 0 ? 3 : 0;
}

static bool ends_sentence(char c)
{
	return char_is_in(c, ".?!;:\n");
}

/* Part of a word: letters, digits, what stands in "c++", and every byte beyond ASCII but
 * dashes. */
static bool in_word(struct str left)
{
	unsigned char c = (unsigned char)left.ptr[0];

	if (left.len >= 3 && memcmp(left.ptr, "\xE2\x80", 2) == 0)
		return false;
	return isalnum(c) || c == '+' || c >= 0x80;
}

static void add_byte(char word[MAX_WORD], size_t *len, char c)
{
	if (*len < MAX_WORD)
		word[(*len)++] = c;
}

/* Takes one word off the front of *left and adds it to the sentence. */
static void take_word(struct str *left, struct sentence *s)
{
	char *word = s->words[s->count];
	size_t len = 0;

	while (left->len) {
		size_t skip = apostrophe(*left);

		if (skip) {
			/* Only between letters: a quotation mark is none. */
			struct str after = {left->ptr + skip, left->len - skip};

			if (len == 0 || after.len == 0 ||
				!isalpha((unsigned char)after.ptr[0]))
				break;
			add_byte(word, &len, '\'');
		} else if (in_word(*left)) {
			skip = 1;
			add_byte(word, &len, (char)tolower((unsigned char)left->ptr[0]));
		} else {
			break;
		}
		left->ptr += skip;
		left->len -= skip;
	}
	s->lengths[s->count++] = len;
}

/* A dot within a name or a number ("node.js", "3.5") ends nothing. */
static bool at_end(struct str left)
{
	if (!ends_sentence(left.ptr[0]))
		return false;
	return left.ptr[0] != '.' || left.len == 1 ||
	       !isalnum((unsigned char)left.ptr[1]);
}

const char *phrases_find(const struct phrases *table, struct str text)
{
	struct sentence s;
	const char *found = NULL;

	s.table = table;
	s.count = 0;
	while (text.len && !found) {
		if (in_word(text) && s.count < PHRASES_MAX_WORDS) {
			take_word(&text, &s);
			continue;
		}
		if (in_word(text) || at_end(text)) {
			found = find_in_sentence(&s);
			s.count = 0;
			if (in_word(text))
				continue;
		}
		text.ptr++;
		text.len--;
	}
	return found ? found : find_in_sentence(&s);
}

/* coverage.c - see coverage.h. */
#include "workers/guard-engine/interview/coverage.h"
#include "workers/guard-engine/phrases/phrases.h"
#include <ctype.h>

/* A byte of a word; bytes beyond ASCII belong to letters. */
static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool same_at(struct str text, size_t at, struct str word)
{
	if (text.len - at < word.len)
		return false;
	for (size_t i = 0; i < word.len; i++)
		if (tolower((unsigned char)text.ptr[at + i]) != word.ptr[i])
			return false;
	return true;
}

static bool mentions(struct str text, struct str word)
{
	bool whole = word.len && word.ptr[0] == '=',
	     anywhere = word.len && word.ptr[0] == '*';

	if (whole || anywhere)
		word = (struct str){word.ptr + 1, word.len - 1};
	if (word.len == 0)
		return false;
	for (size_t at = 0; at + word.len <= text.len; at++) {
		size_t end = at + word.len;

		if (tolower((unsigned char)text.ptr[at]) != word.ptr[0] ||
			!same_at(text, at, word))
			continue;
		if (!anywhere && at > 0 && in_word(text.ptr[at - 1]))
			continue;
		if (whole && end < text.len && in_word(text.ptr[end]))
			continue;
		return true;
	}
	return false;
}

bool coverage_mentions(struct str text, const char *words)
{
	const char *left = words;

	while (left)
		if (mentions(text, phrases_piece(&left, '|')))
			return true;
	return false;
}

enum interview_level coverage_judge(const struct interview_dimension *d, struct str text)
{
	if (coverage_mentions(text, d->strong))
		return INTERVIEW_COVERED;
	return coverage_mentions(text, d->weak) ? INTERVIEW_PARTIALLY_COVERED
						: INTERVIEW_NOT_COVERED;
}

bool coverage_is_substantive(struct str text)
{
	int letters = 0;

	for (size_t i = 0; i < text.len && letters < COVERAGE_MIN_LETTERS; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		/* Continuation bytes belong to the character before. */
		letters += isalnum(c) || c >= 0xc0;
	}
	return letters >= COVERAGE_MIN_LETTERS;
}

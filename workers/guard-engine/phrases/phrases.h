/*
 * phrases.h - does a text say one of many things, in any of many wordings?
 *
 * Over a table of patterns (notation: config/solicitation.def). Pure and bounded:
 * whatever the text, the work grows with its length alone.
 */
#pragma once

#include "common/base/str.h"

/* Words of one sentence that are looked at together; longer sentences are looked at in
 * pieces. */
#define PHRASES_MAX_WORDS 128

struct phrase {
	const char *name;
	const char *text; /* of a set: alternatives; of a phrasing: a pattern */
};

struct phrases {
	const struct phrase *sets;
	size_t set_count;
	const struct phrase *phrasings;
	size_t phrasing_count;
};

/* A table of two arrays, one for each kind of line of a .def file. */
#define PHRASES(sets_, phrasings_)                                                       \
	{                                                                                \
		sets_, sizeof(sets_) / sizeof((sets_)[0]), phrasings_,                   \
			sizeof(phrasings_) / sizeof((phrasings_)[0])                     \
	}

/* Takes the next piece up to `separator` off the front of the list *rest, which becomes
 * NULL behind the last one. */
struct str phrases_piece(const char **rest, char separator);

/* Name of the first phrasing that is found (static), NULL for none. */
const char *phrases_find(const struct phrases *table, struct str text);

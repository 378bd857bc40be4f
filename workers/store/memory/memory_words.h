/*
 * memory_words.h - text to a query of SQLite's full-text search. Pure.
 */
#pragma once

#include "common/base/buf.h"

/* The first so many different words of a text count. */
#define MEMORY_WORDS_MAX 32

/*
 * Appends a query for documents that have any of the words: each as a quoted string, so
 * that nothing of the text is syntax. Words that nearly every text has are left out,
 * unless there are no others. Appends nothing when the text has no word.
 */
void memory_words(struct str text, struct buf *query);

/* tokenizer.c - SentencePiece unigram tokeniser (tokenizer.h). */
#include "workers/llm/memory/tokenizer.h"
#include "common/base/alloc.h"
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>
#include <yyjson.h>

#define FIRST_PIECE 6 /* ids below are control symbols */
#define UNKNOWN 0
#define WORD_START "\xE2\x96\x81" /* U+2581 stands for a blank */

struct piece {
	struct str text;
	float score;
	int id;
};

struct tokenizer {
	yyjson_doc *doc;     /* owns the texts */
	struct piece *table; /* open addressing, `size` is a power of two */
	size_t size;
	size_t longest; /* bytes */
	size_t count;
	unsigned char *code_points; /* of each piece, by id */
};

static size_t slot_of(const struct tokenizer *p, struct str text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	size_t i;

	for (size_t k = 0; k < text.len; k++)
		hash = (hash ^ (unsigned char)text.ptr[k]) * 16777619u;
	i = hash & (p->size - 1);
	while (p->table[i].text.ptr && !str_eq(p->table[i].text, text))
		i = (i + 1) & (p->size - 1);
	return i;
}

static size_t count_code_points(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
	return n;
}

static int load_entries(struct tokenizer *p, yyjson_val *entries)
{
	size_t id, max;
	yyjson_val *entry;

	yyjson_arr_foreach(entries, id, max, entry)
	{
		yyjson_val *text = yyjson_arr_get(entry, 0),
			   *score = yyjson_arr_get(entry, 1);
		struct str s = {yyjson_get_str(text), yyjson_get_len(text)};
		size_t length;

		/* The vocabulary as shipped has null for some scores; the reference
		 * counts them as 0. */
		if (!s.ptr || s.len == 0 ||
			!(yyjson_is_num(score) || yyjson_is_null(score)))
			return -1;
		length = count_code_points(s);
		if (length > UINT8_MAX)
			return -1;
		p->code_points[id] = (unsigned char)length;
		if (id < FIRST_PIECE)
			continue;
		p->table[slot_of(p, s)] =
			(struct piece){s, (float)yyjson_get_num(score), (int)id};
		if (s.len > p->longest)
			p->longest = s.len;
	}
	return 0;
}

struct tokenizer *tokenizer_new(struct str vocabulary_json)
{
	yyjson_doc *doc = yyjson_read(vocabulary_json.ptr, vocabulary_json.len, 0);
	yyjson_val *entries = yyjson_doc_get_root(doc);
	struct tokenizer *p;

	if (!yyjson_is_arr(entries) || yyjson_arr_size(entries) <= FIRST_PIECE) {
		yyjson_doc_free(doc);
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->doc = doc;
	p->count = yyjson_arr_size(entries);
	p->size = 1024;
	while (p->size < p->count * 3)
		p->size *= 2;
	p->table = xcalloc(p->size, sizeof(*p->table));
	p->code_points = xcalloc(p->count, 1);
	if (load_entries(p, entries) < 0) {
		tokenizer_free(p);
		return NULL;
	}
	/* The unknown symbol is written out in the vocabulary but stands for one code
	 * point. */
	p->code_points[UNKNOWN] = 1;
	return p;
}

void tokenizer_free(struct tokenizer *p)
{
	if (!p)
		return;
	yyjson_doc_free(p->doc);
	free(p->table);
	free(p->code_points);
	free(p);
}

size_t tokenizer_count(const struct tokenizer *p)
{
	return p->count;
}

/* NFKC with every blank, and the beginning, marked as the start of a word. */
static struct str normalise(struct str text, struct arena *arena)
{
	AUTO_FREE utf8proc_uint8_t *nfkc = NULL;
	utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)text.ptr,
		(utf8proc_ssize_t)text.len, &nfkc,
		UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
	struct str in = n < 0 ? text : (struct str){(const char *)nfkc, (size_t)n};
	char *out = arena_alloc(arena, 3 * in.len + 4);
	size_t len = 3;

	memcpy(out, WORD_START, 3);
	for (size_t i = 0; i < in.len; i++) {
		if (in.ptr[i] == ' ') {
			memcpy(out + len, WORD_START, 3);
			len += 3;
		} else {
			out[len++] = in.ptr[i];
		}
	}
	return (struct str){out, len};
}

struct lattice {
	size_t *at;   /* byte offset of each code point, and of the end */
	double *best; /* score of the best split of what is before */
	int *last;    /* id of that split's last piece */
	size_t n;
};

/*
 * As in the reference, a score of exactly 0 counts as "not reached yet", and of equal
 * scores the later one wins: both decide ties, and the vectors must match.
 */
static void offer(struct lattice *l, size_t end, double score, int id)
{
	if (l->best[end] == 0 || score >= l->best[end]) {
		l->best[end] = score;
		l->last[end] = id;
	}
}

static void forward(const struct tokenizer *p, struct str s, struct lattice *l)
{
	for (size_t start = 0; start < l->n; start++) {
		bool any = false;

		for (size_t end = start + 1;
			end <= l->n && l->at[end] - l->at[start] <= p->longest; end++) {
			struct str candidate = {
				s.ptr + l->at[start], l->at[end] - l->at[start]};
			const struct piece *found = &p->table[slot_of(p, candidate)];

			if (!found->text.ptr)
				continue;
			any = true;
			offer(l, end, (double)found->score + l->best[start], found->id);
		}
		if (!any)
			offer(l, start + 1, l->best[start], UNKNOWN);
	}
}

size_t tokenizer_split(const struct tokenizer *p, struct str text, struct arena *arena,
	int ids[TOKENIZER_MAX_TOKENS])
{
	struct lattice l = {0};
	size_t found = 0, n = 0;
	bool unknown_before = false;
	struct str s;
	int *reverse;

	if (text.len == 0)
		return 0;
	s = normalise(text, arena);
	l.n = count_code_points(s);
	l.at = arena_array(arena, l.n + 1, sizeof(*l.at));
	l.best = arena_array(arena, l.n + 1, sizeof(*l.best));
	l.last = arena_array(arena, l.n + 1, sizeof(*l.last));
	for (size_t i = 0, k = 0; i < s.len; i++)
		if (((unsigned char)s.ptr[i] & 0xC0) != 0x80)
			l.at[k++] = i;
	l.at[l.n] = s.len;
	forward(p, s, &l);
	reverse = arena_array(arena, l.n + 1, sizeof(*reverse));
	for (size_t end = l.n; end > 0; end -= p->code_points[l.last[end]]) {
		int id = l.last[end];

		/* A run of unknown code points is one token. */
		if (!(unknown_before && id == UNKNOWN))
			reverse[found++] = id;
		unknown_before = id == UNKNOWN;
		if (p->code_points[id] == 0 || p->code_points[id] > end)
			break;
	}
	while (found > 0 && n < TOKENIZER_MAX_TOKENS)
		ids[n++] = reverse[--found];
	return n;
}

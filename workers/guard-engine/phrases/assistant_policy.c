/* assistant_policy.c - see assistant_policy.h. */
#include "workers/guard-engine/phrases/assistant_policy.h"
#include "common/base/utf8.h"
#include "workers/guard-engine/phrases/phrases.h"
#include <ctype.h>

static const struct phrase sets[] = {
#define SET(name, alternatives) {#name, alternatives},
#define PHRASING(name, pattern)
#include "config/interview/assistant_policy.def"
#undef SET
#undef PHRASING
};

static const struct phrase phrasings[] = {
#define SET(name, alternatives)
#define PHRASING(name, pattern) {name, pattern},
#include "config/interview/assistant_policy.def"
#undef SET
#undef PHRASING
};

const char *assistant_check_query(struct str query)
{
	static const struct phrases table = PHRASES(sets, phrasings);

	return phrases_find(&table, query);
}

static struct str trim(struct str line)
{
	while (line.len && isspace((unsigned char)line.ptr[0]))
		line = (struct str){line.ptr + 1, line.len - 1};
	while (line.len && isspace((unsigned char)line.ptr[line.len - 1]))
		line.len--;
	return line;
}

/* Outside of a fence: does the line read like code rather than like prose? */
static bool looks_like_code(struct str line)
{
	static const char *const starts[] = {"def ", "class ", "return ", "import ",
		"from ", "for (", "while (", "if (", "else:", "elif ", "function ",
		"const ", "let ", "var ", "public ", "#include", "fn ", "print(", "} "};
	struct str t = trim(line);
	char last = t.len ? t.ptr[t.len - 1] : ' ';

	if (last == '{' || last == '}' || last == ';')
		return true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (str_starts(t, starts[i]))
			return true;
	/* An assignment or a call that stands alone. */
	if (t.len >= 3 && memchr(t.ptr, '=', t.len) && last != '.' && last != '?' &&
		last != ':')
		return memchr(t.ptr, ' ', t.len) == NULL ||
		       (t.len < 60 && line.ptr[0] == ' ');
	return false;
}

/* Items of a plan in a line: "1.", "2)" at its beginning, "step 3" anywhere. */
static int count_steps(struct str line)
{
	struct str t = trim(line);
	size_t digits = 0;
	int steps = 0;

	for (size_t i = 0; i + 5 < t.len; i++)
		steps += strncasecmp(t.ptr + i, "step ", 5) == 0 &&
			 isdigit((unsigned char)t.ptr[i + 5]);
	while (digits < t.len && isdigit((unsigned char)t.ptr[digits]))
		digits++;
	if (digits > 0 && digits < 3 && digits < t.len &&
		(t.ptr[digits] == '.' || t.ptr[digits] == ')'))
		steps++;
	return steps;
}

static bool is_fence(struct str t)
{
	return str_starts(t, "```") || str_starts(t, "~~~");
}

/* A fence that opens and closes in one line is a line of code. */
static bool is_fenced_line(struct str t)
{
	return is_fence(t) && t.len > 6 && memcmp(t.ptr + t.len - 3, t.ptr, 3) == 0;
}

static int count_words(struct str text)
{
	int words = 0;
	bool inside = false;

	for (size_t i = 0; i < text.len; i++) {
		bool blank = isspace((unsigned char)text.ptr[i]);

		words += !blank && !inside;
		inside = !blank;
	}
	return words;
}

const char *assistant_check_answer(struct str answer)
{
	int code_lines = 0, steps = 0;
	bool fenced = false;
	struct str left = answer, line;

	while (str_take_line(&left, &line)) {
		struct str t = trim(line);

		if (is_fence(t) && !is_fenced_line(t)) {
			fenced = !fenced;
			continue;
		}
		if (is_fenced_line(t) || (fenced ? t.len > 0 : looks_like_code(line)))
			code_lines++;
		if (!fenced)
			steps += count_steps(line);
	}
	if (code_lines > ASSISTANT_MAX_CODE_LINES)
		return "too-much-code";
	if (steps > ASSISTANT_MAX_STEPS)
		return "step-by-step";
	if (count_words(answer) > ASSISTANT_MAX_WORDS)
		return "too-many-words";
	return utf8_utf16_len(answer) > ASSISTANT_MAX_CHARACTERS ? "too-long" : NULL;
}

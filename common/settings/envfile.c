/*
 * envfile.c - the reader behind envfile.h. Called by settings.c; never opens a file.
 */
#include "common/settings/envfile.h"

static bool at_end(const struct envfile *f)
{
	return f->at >= f->text.len;
}

static char peek(const struct envfile *f)
{
	return f->text.ptr[f->at];
}

static bool is_newline(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Takes one character; CR LF counts as one line. */
static char take(struct envfile *f)
{
	char c = f->text.ptr[f->at++];

	if (c == '\r' && !at_end(f) && peek(f) == '\n')
		f->at++;
	if (is_newline(c))
		f->next_line++;
	return is_newline(c) ? '\n' : c;
}

static void skip_line(struct envfile *f)
{
	while (!at_end(f) && take(f) != '\n')
		;
}

static void skip_blanks(struct envfile *f)
{
	while (!at_end(f) && is_blank(peek(f)))
		f->at++;
}

static bool key_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* Reads up to and with "="; false when the line has no key. */
static bool read_key(struct envfile *f, struct str *key)
{
	static const char export_word[] = "export";
	size_t start = f->at;

	while (!at_end(f) && key_char(peek(f)))
		f->at++;
	*key = (struct str){f->text.ptr + start, f->at - start};
	if (str_is(*key, export_word) && !at_end(f) && is_blank(peek(f))) {
		skip_blanks(f);
		start = f->at;
		while (!at_end(f) && key_char(peek(f)))
			f->at++;
		*key = (struct str){f->text.ptr + start, f->at - start};
	}
	skip_blanks(f);
	if (key->len == 0 || at_end(f) || peek(f) != '=')
		return false;
	f->at++;
	return true;
}

/* The inside of '…' or "…", the opening quote taken; false when it is never closed. */
static bool read_quoted(struct envfile *f, char quote)
{
	while (!at_end(f)) {
		char c = take(f);

		if (c == quote)
			return true;
		if (c == '\\' && quote == '"' && !at_end(f)) {
			char next = take(f);

			/* Those that a shell would need escaped; other backslashes stand
			 * for themselves, and one before a line end joins the lines. */
			if (next == '\n')
				continue;
			if (!strchr("\"\\`$", next))
				buf_add_char(&f->value, c);
			c = next;
		}
		buf_add_char(&f->value, c);
	}
	return false;
}

/* The rest of the line behind "="; `keep` is what trailing blanks are not trimmed below.
 */
static bool read_value(struct envfile *f)
{
	size_t keep = 0;

	skip_blanks(f);
	while (!at_end(f) && !is_newline(peek(f))) {
		char c = take(f);

		if (c == '\'' || c == '"') {
			if (!read_quoted(f, c))
				return false;
			keep = f->value.len;
		} else if (c == '\\') {
			if (!at_end(f) && (c = take(f)) != '\n') {
				buf_add_char(&f->value, c);
				keep = f->value.len;
			}
		} else if (c == '#' && (f->at < 2 || is_blank(f->text.ptr[f->at - 2]))) {
			skip_line(f);
			break;
		} else {
			buf_add_char(&f->value, c);
			if (!is_blank(c))
				keep = f->value.len;
		}
	}
	f->value.len = keep;
	return true;
}

enum envfile_item envfile_next(struct envfile *f, struct str *key, struct str *value)
{
	struct str found;

	if (f->at == 0) {
		f->next_line = 1;
		if (str_starts(f->text, "\xef\xbb\xbf"))
			f->at = 3;
	}
	for (;;) {
		while (!at_end(f) && (is_blank(peek(f)) || is_newline(peek(f))))
			take(f);
		if (at_end(f))
			return ENVFILE_END;
		if (peek(f) != '#' && peek(f) != ';')
			break;
		skip_line(f);
	}
	f->line = f->next_line;
	buf_clear(&f->value);
	if (!read_key(f, &found)) {
		skip_line(f);
		return ENVFILE_MALFORMED;
	}
	if (!read_value(f))
		return ENVFILE_MALFORMED;
	*key = found;
	*value = (struct str){f->value.data ? f->value.data : "", f->value.len};
	return ENVFILE_ASSIGNMENT;
}

void envfile_fini(struct envfile *f)
{
	buf_free(&f->value);
}

/*
 * settings_values.c - one setting at a time: the table, and its value as text and as a C
 * value.
 *
 * Called by settings.c only, but for what settings.h shows. Reads no file and no
 * environment. It must never put a secret into a message.
 */
#include "common/settings/settings_values.h"
#include "common/base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN_MAX_BYTES 200

#define BOUNDS_INT(low, high) .min = (low), .max = (high)
#define BOUNDS_NUMBER(low, high) .min = (low), .max = (high)
#define BOUNDS_TEXT(low, high) .min = (low), .max = (high)
#define BOUNDS_PATH(low, high) .min = (low), .max = (high)
#define BOUNDS_CHOICE(names, high) .choices = (names)

static const struct setting_info infos[SETTING_COUNT] = {
#define SETTING(kind_, member_, name_, fallback_, min_, max_, flags_, meaning_)          \
	{.name = name_,                                                                  \
		.kind = SETTING_##kind_,                                                 \
		.fallback = fallback_,                                                   \
		BOUNDS_##kind_(min_, max_),                                              \
		.flags = flags_,                                                         \
		.meaning = meaning_},
#include "config/settings.def"
#undef SETTING
};

static const size_t offsets[SETTING_COUNT] = {
#define SETTING(kind_, member_, ...) offsetof(struct settings, member_),
#include "config/settings.def"
#undef SETTING
};

const struct setting_info *setting_info(enum setting_id id)
{
	return &infos[id];
}

int setting_by_name(struct str name)
{
	for (int i = 0; i < SETTING_COUNT; i++)
		if (str_is(name, infos[i].name))
			return i;
	return -1;
}

const char *setting_source_name(enum setting_source source)
{
	static const char *const names[] = {
		"default", "config file", ".env", "environment"};

	return names[source];
}

void *setting_member(const struct settings *s, enum setting_id id)
{
	return (char *)(uintptr_t)s + offsets[id];
}

bool setting_is_text(enum setting_kind kind)
{
	return kind == SETTING_TEXT || kind == SETTING_PATH;
}

/* The value in quotes: secrets masked, control characters escaped, long ones cut. */
void setting_show_value(enum setting_id id, struct str value, struct buf *out)
{
	if (infos[id].flags & SETTING_SECRET) {
		buf_add_str(out, STR_LIT("********"));
		return;
	}
	buf_add_char(out, '"');
	for (size_t i = 0; i < value.len && i < SHOWN_MAX_BYTES; i++) {
		unsigned char c = (unsigned char)value.ptr[i];

		if (c < ' ' || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_add_char(out, (char)c);
	}
	buf_add_str(out, value.len > SHOWN_MAX_BYTES ? STR_LIT("\"...") : STR_LIT("\""));
}

void setting_rule(enum setting_id id, struct buf *out)
{
	const struct setting_info *info = &infos[id];

	switch (info->kind) {
	case SETTING_INT:
		buf_printf(out, "must be a whole number from %.0f to %.0f", info->min,
			info->max);
		break;
	case SETTING_NUMBER:
		buf_printf(out, "must be a number from %g to %g", info->min, info->max);
		break;
	case SETTING_CHOICE:
		buf_printf(out, "must be one of: %s", info->choices);
		break;
	case SETTING_TEXT:
	case SETTING_PATH:
		buf_printf(out, "must be %sat most %.0f bytes without control characters",
			info->flags & SETTING_URL
				? "a URL of the form http://HOST or https://HOST, with "
				  "a port or path or without, but no ? or #, "
				: "",
			info->max);
		break;
	}
}

/* ---- text to value ---- */

static int parse_number(const struct setting_info *info, const char *text, double *out)
{
	char *end;
	double value;

	/* strtod also takes blanks, hexadecimal, "inf" and "nan". */
	if (!*text || text[strspn(text, "0123456789+-.eE")] != '\0')
		return -EINVAL;
	errno = 0;
	value = strtod(text, &end);
	if (errno || *end || !isfinite(value) || value < info->min || value > info->max)
		return -EINVAL;
	*out = value;
	return 0;
}

static int parse_int(const struct setting_info *info, const char *text, int64_t *out)
{
	size_t sign = text[0] == '-';
	char *end;
	long long value;

	if (!text[sign] || text[sign + strspn(text + sign, "0123456789")] != '\0')
		return -EINVAL;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end || (double)value < info->min || (double)value > info->max)
		return -EINVAL;
	*out = value;
	return 0;
}

/* Index of `text` among names separated by blanks, or -1. */
static int choice_index(const char *choices, struct str text)
{
	int index = 0;

	for (const char *at = choices; *at; index++) {
		struct str name = {at, strcspn(at, " ")};

		if (str_eq(name, text))
			return index;
		at += name.len;
		at += strspn(at, " ");
	}
	return -1;
}

/* The host must be there; behind it may come a port and a path, to which more is joined.
 */
static bool is_url(const char *text)
{
	size_t scheme = str_starts(str_of(text), "https://")  ? 8
			: str_starts(str_of(text), "http://") ? 7
							      : 0;
	const char *host = text + scheme, *login = strchr(host, '@');

	if (login && strcspn(host, "/") > (size_t)(login - host))
		host = login + 1;
	return scheme && *host && !strchr("/:@", *host) && !strpbrk(text, " ?#\\\"<>");
}

/* Takes off what would stand there twice when a path is joined. */
static void trim_url(const struct setting_info *info, char *url)
{
	static const char *const ends[] = {"/v1/messages", "/v1"};
	size_t n = strlen(url);

	while (n > 0 && url[n - 1] == '/')
		n--;
	for (size_t i = 0; i < 2 && info->flags & SETTING_CLAUDE_API; i++) {
		size_t m = strlen(ends[i]);

		if (n > m && memcmp(url + n - m, ends[i], m) == 0)
			n -= m;
	}
	while (n > 0 && url[n - 1] == '/')
		n--;
	url[n] = '\0';
}

static int check_text(const struct setting_info *info, const char *text)
{
	size_t len = strlen(text);

	if ((double)len < info->min || (double)len > info->max)
		return -EINVAL;
	/* A path may hold what the file system allows. Anything else ends up in a line or
	 * a header. */
	for (size_t i = 0; info->kind == SETTING_TEXT && i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return -EINVAL;
	if (info->flags & SETTING_URL && !is_url(text))
		return -EINVAL;
	return 0;
}

/* Writes the member. 0 or -EINVAL with the member untouched. */
int setting_set(struct settings *s, enum setting_id id, const char *text)
{
	const struct setting_info *info = &infos[id];
	int index;
	char *copy;

	switch (info->kind) {
	case SETTING_INT:
		return parse_int(info, text, setting_member(s, id));
	case SETTING_NUMBER:
		return parse_number(info, text, setting_member(s, id));
	case SETTING_CHOICE:
		index = choice_index(info->choices, str_of(text));
		if (index < 0)
			return -EINVAL;
		*(int *)setting_member(s, id) = index;
		return 0;
	case SETTING_TEXT:
	case SETTING_PATH:
		if (check_text(info, text) != 0)
			return -EINVAL;
		copy = xstrdup(text);
		if (info->flags & SETTING_URL)
			trim_url(info, copy);
		free(*(char **)setting_member(s, id));
		*(char **)setting_member(s, id) = copy;
		return 0;
	}
	return -EINVAL;
}

/* ---- value to text ---- */

static void print_number(double value, struct buf *out)
{
	char text[40];

	/* 0.7 is to be printed as 0.7, and still read back as the same number. */
	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	buf_add_str(out, str_of(text));
}

static void print_choice(const char *choices, int index, struct buf *out)
{
	const char *at = choices;

	while (index-- > 0) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	buf_add(out, at, strcspn(at, " "));
}

void settings_print(
	const struct settings *s, enum setting_id id, bool reveal, struct buf *out)
{
	const struct setting_info *info = &infos[id];
	const void *value = setting_member(s, id);

	switch (info->kind) {
	case SETTING_INT:
		buf_printf(out, "%" PRId64, *(const int64_t *)value);
		break;
	case SETTING_NUMBER:
		print_number(*(const double *)value, out);
		break;
	case SETTING_CHOICE:
		print_choice(info->choices, *(const int *)value, out);
		break;
	case SETTING_TEXT:
	case SETTING_PATH:
		if (info->flags & SETTING_SECRET && !reveal && **(char *const *)value)
			buf_add_str(out, STR_LIT("********"));
		else
			buf_add_str(out, str_of(*(char *const *)value));
		break;
	}
}

bool settings_differ(
	const struct settings *a, const struct settings *b, enum setting_id id)
{
	AUTO_BUF left = {0}, right = {0};

	settings_print(a, id, true, &left);
	settings_print(b, id, true, &right);
	return !str_eq(buf_str(&left), buf_str(&right));
}

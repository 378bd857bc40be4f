/* options.c - see options.h. */
#include "supervisor/shared/options.h"

#include "common/settings/nearest.h"
#include <errno.h>
#include <getopt.h>
#include <string.h>

const struct command_info command_infos[COMMAND_COUNT] = {
#define COMMAND(symbol, name_, operands_, most, kind_, summary_, description_)           \
	[COMMAND_##symbol] = {.name = name_,                                             \
		.operands = operands_,                                                   \
		.most_operands = most,                                                   \
		.kind = OPERAND_##kind_,                                                 \
		.summary = summary_,                                                     \
		.description = description_},
#define OPTION(...)
#include "supervisor/shared/commands.def"
#undef COMMAND
#undef OPTION
};

const struct option_info option_infos[] = {
#define COMMAND(...)
#define OPTION(command_, letter_, name_, argument_, meaning_)                            \
	{.command = COMMAND_##command_,                                                  \
		.letter = letter_,                                                       \
		.name = name_,                                                           \
		.argument = argument_,                                                   \
		.meaning = meaning_},
#include "supervisor/shared/commands.def"
#undef COMMAND
#undef OPTION
};
const size_t option_count = sizeof(option_infos) / sizeof(option_infos[0]);

bool option_applies(const struct option_info *option, enum command_id command)
{
	return option->command == command ||
	       (option->command == COMMAND_EVERY && command != COMMAND_PAIGED);
}

int command_by_name(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (i != COMMAND_PAIGED && strcmp(command_infos[i].name, name) == 0)
			return i;
	return -1;
}

/* What getopt_long wants to know. */
struct getopt_tables {
	char letters[2 * OPTIONS_MAX + 2];
	struct option longs[OPTIONS_MAX + 1];
	const struct option_info *infos[OPTIONS_MAX];
	int count;
};

static void make_tables(struct getopt_tables *t, enum command_id command)
{
	size_t n = 0;

	*t = (struct getopt_tables){0};
	t->letters[n++] = ':';
	for (size_t i = 0; i < option_count && t->count < OPTIONS_MAX; i++) {
		const struct option_info *info = &option_infos[i];

		if (!option_applies(info, command))
			continue;
		t->letters[n++] = info->letter;
		if (info->argument)
			t->letters[n++] = ':';
		t->longs[t->count] = (struct option){.name = info->name,
			.has_arg = info->argument ? required_argument : no_argument,
			.val = info->letter};
		t->infos[t->count++] = info;
	}
}

static void add(struct options *o, const struct getopt_tables *t, int letter)
{
	for (int i = 0; i < t->count && o->count < OPTIONS_MAX; i++) {
		if (t->infos[i]->letter != letter)
			continue;
		o->given[o->count][0] = t->infos[i]->name;
		o->given[o->count++][1] = optarg ? optarg : "";
	}
}

/* A word that is no long option of the command, with or without "=" and an argument. */
static void tell_unknown(
	const struct getopt_tables *t, const char *word, struct buf *problem)
{
	struct nearest nearest = {0};

	buf_printf(problem, "no such option: %s", word);
	if (strncmp(word, "--", 2) != 0)
		return;
	nearest.word = (struct str){word + 2, strcspn(word + 2, "=")};
	for (int i = 0; i < t->count; i++)
		nearest_offer(&nearest, t->infos[i]->name);
	if (nearest.name)
		buf_printf(problem, "; is --%s meant?", nearest.name);
}

int options_read(struct options *o, enum command_id command, int argc, char **argv,
	struct buf *problem)
{
	struct getopt_tables t;
	int letter;

	make_tables(&t, command);
	*o = (struct options){0};
	opterr = 0;
	optind = 0; /* glibc: begin anew */
	while ((letter = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		if (letter == ':') {
			buf_printf(problem, "%s needs an argument", argv[optind - 1]);
			return -EINVAL;
		}
		if (letter == '?') {
			if (optopt && !strchr(t.letters, optopt))
				buf_printf(problem, "no such option: -%c", optopt);
			else if (optopt)
				buf_printf(problem, "%s: the option takes no argument",
					argv[optind - 1]);
			else
				tell_unknown(&t, argv[optind - 1], problem);
			return -EINVAL;
		}
		add(o, &t, letter);
	}
	o->operands = argv + optind;
	o->operand_count = argc - optind;
	if (o->operand_count > command_infos[command].most_operands) {
		buf_printf(problem, "what is \"%s\" for?",
			o->operands[command_infos[command].most_operands]);
		return -EINVAL;
	}
	return 0;
}

const char *options_get(const struct options *o, const char *name)
{
	/* The last one wins. */
	for (size_t i = o->count; i > 0; i--)
		if (strcmp(o->given[i - 1][0], name) == 0)
			return o->given[i - 1][1];
	return NULL;
}

/* Breaks `text` into lines of at most 78 columns. The first line begins at column `indent`, the others are indented to it. */
static void wrap(const char *text, size_t indent, struct buf *out)
{
	size_t column = indent;

	for (const char *at = text; *at;) {
		size_t n = strcspn(at, " ");

		if (column > indent && column + 1 + n > 78) {
			buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		if (column > indent) {
			buf_add_char(out, ' ');
			column++;
		}
		buf_add(out, at, n);
		column += n;
		at += n;
		at += strspn(at, " ");
	}
	buf_add_char(out, '\n');
}

void options_print_help(enum command_id command, struct buf *out)
{
	const struct command_info *info = &command_infos[command];

	buf_printf(out, "usage: %s%s [option...]%s%s\n\n",
		command == COMMAND_PAIGED ? "" : "paigectl ", info->name,
		*info->operands ? " " : "", info->operands);
	wrap(info->description, 0, out);
	buf_add_char(out, '\n');
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *option = &option_infos[i];
		AUTO_BUF left = {0};

		if (!option_applies(option, command))
			continue;
		buf_printf(&left, "  -%c, --%s%s%s", option->letter, option->name,
			option->argument ? " " : "",
			option->argument ? option->argument : "");
		buf_printf(out, "%-24.*s  ", STR_ARG(buf_str(&left)));
		wrap(option->meaning, 26, out);
	}
}

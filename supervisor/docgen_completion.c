/* docgen_completion.c - see docgen_completion.h */
#include "supervisor/docgen_completion.h"
#include "proto/codec/messages.h"
#include "proto/worker.h"
#include "supervisor/shared/options.h"
#include <stdio.h>
#include <string.h>

/* Arguments of options that are one of a few words. */
static const struct {
	const char *argument, *values;
} choices[] = {
	{"LEVEL", "debug info warn error"},
	{"GROUP", "day model kind"},
};

/* The words of which the argument of an option is one, or NULL. */
static const char *option_values(const struct option_info *option)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (option->argument &&
			strcmp(option->argument, choices[i].argument) == 0)
			return choices[i].values;
	return NULL;
}

static bool takes_file(const struct option_info *option)
{
	return option->argument && strcmp(option->argument, "FILE") == 0;
}

/* What may stand where a command takes names of workers, each followed by a blank. */
static void print_workers(enum command_id command)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		printf("%s ", worker_infos[i].name);
	if (command == COMMAND_RESTART)
		fputs("all ", stdout);
	if (command == COMMAND_LOGS)
		fputs("paiged ", stdout);
}

static void print_guard_kinds(void)
{
	const struct enumeration *kinds = guard_kind_enumeration();

	for (size_t i = 0; i < kinds->count; i++)
		printf("%s ", kinds->names[i]);
}

/* Text within single quotes of zsh and fish, with a backslash before each letter of `special`. */
static void print_quoted(const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", stdout);
			continue;
		}
		if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}

/* ---- bash ---- */

/* What to do, and then the kind of machine. */
static void bash_guards(void)
{
	fputs("\t\t[ \"$COMP_CWORD\" = 2 ] && words+=\"list show replay \"\n"
	      "\t\t[ \"$COMP_CWORD:${COMP_WORDS[2]}\" != 3:list ] && "
	      "[ \"$COMP_CWORD\" = 3 ] && words+=\"",
		stdout);
	print_guard_kinds();
	puts("\"");
}

static void bash_command(enum command_id command)
{
	const struct command_info *info = &command_infos[command];

	printf("\t%s)\n\t\twords=\"", info->name);
	for (size_t i = 0; i < option_count; i++)
		if (option_applies(&option_infos[i], command))
			printf("--%s ", option_infos[i].name);
	if (info->kind == OPERAND_WORKERS)
		print_workers(command);
	printf("\"\n%s", info->kind == OPERAND_FILES ? "\t\tfiles=1\n" : "");
	if (info->kind == OPERAND_GUARDS)
		bash_guards();
	puts("\t\t;;");
}

/* What may stand behind an option. */
static void bash_argument(const struct option_info *option)
{
	const char *values = option_values(option);

	printf("\t\t--%s | -%c) ", option->name, option->letter);
	if (takes_file(option))
		fputs("COMPREPLY=($(compgen -f -- \"$cur\")); ", stdout);
	else if (values)
		printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\")); ", values);
	puts("return ;;");
}

void completion_bash(void)
{
	puts("# bash completion for paigectl; made from its table of commands\n"
	     "_paigectl() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
	     "words= files=\n"
	     "\tCOMPREPLY=()\n"
	     "\tif [ \"$COMP_CWORD\" -gt 1 ]; then\n"
	     "\t\tcase $prev in");
	for (size_t i = 0; i < option_count; i++)
		if (option_infos[i].argument && option_infos[i].command != COMMAND_PAIGED)
			bash_argument(&option_infos[i]);
	puts("\t\tesac\n"
	     "\tfi\n"
	     "\tcase $COMP_CWORD:${COMP_WORDS[1]} in\n"
	     "\t1:*)");
	fputs("\t\twords=\"", stdout);
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (i != COMMAND_PAIGED)
			printf("%s ", command_infos[i].name);
	puts("--help --version\"\n\t\t;;\n\tesac\n\t[ \"$COMP_CWORD\" -gt 1 ] && case "
	     "${COMP_WORDS[1]} in");
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (i != COMMAND_PAIGED)
			bash_command((enum command_id)i);
	puts("\tesac\n"
	     "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	     "\t[ -n \"$files\" ] && COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
	     "}\n"
	     "complete -F _paigectl paigectl");
}

/* ---- zsh ---- */

static void zsh_option(const struct option_info *option)
{
	const char *values = option_values(option);

	printf(option->argument ? "\t\t\t'(-%c --%s)'{-%c+,--%s=}'["
				: "\t\t\t'(-%c --%s)'{-%c,--%s}'[",
		option->letter, option->name, option->letter, option->name);
	print_quoted(option->meaning, "[]:");
	fputs("]", stdout);
	if (values)
		printf(":%s:(%s)", option->argument, values);
	else if (option->argument)
		printf(":%s:%s", option->argument, takes_file(option) ? "_files" : " ");
	puts("' \\");
}

static void zsh_operands(enum command_id command)
{
	switch (command_infos[command].kind) {
	case OPERAND_WORKERS:
		fputs("\t\t\t'*:worker:(", stdout);
		print_workers(command);
		puts(")' \\");
		break;
	case OPERAND_GUARDS:
		fputs("\t\t\t'1:what:(list show replay)' '2:kind:(", stdout);
		print_guard_kinds();
		puts(")' '3:id: ' \\");
		break;
	case OPERAND_FILES:
		puts("\t\t\t'1:file:_files' \\");
		break;
	case OPERAND_NOTHING:
		break;
	}
}

void completion_zsh(void)
{
	puts("#compdef paigectl\n"
	     "# zsh completion for paigectl; made from its table of commands\n"
	     "local -a commands\n"
	     "commands=(");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (i == COMMAND_PAIGED)
			continue;
		printf("\t'%s:", command_infos[i].name);
		print_quoted(command_infos[i].summary, "");
		puts("'");
	}
	puts(")\n"
	     "if ((CURRENT == 2)); then\n"
	     "\t_describe command commands\n"
	     "\t_arguments '--help[show help]' '--version[show the version]'\n"
	     "\treturn\n"
	     "fi\n"
	     "shift words\n"
	     "((CURRENT--))\n"
	     "case ${words[1]} in");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (i == COMMAND_PAIGED)
			continue;
		printf("\t%s)\n\t\t_arguments -s \\\n", command_infos[i].name);
		zsh_operands((enum command_id)i);
		for (size_t k = 0; k < option_count; k++)
			if (option_applies(&option_infos[k], (enum command_id)i))
				zsh_option(&option_infos[k]);
		puts("\t\t\t&& return\n\t\t;;");
	}
	puts("esac");
}

/* ---- fish ---- */

static void fish_option(const char *command, const struct option_info *option)
{
	const char *values = option_values(option);

	printf("complete -c paigectl -n '__fish_seen_subcommand_from %s' -s %c -l %s -d "
	       "'",
		command, option->letter, option->name);
	print_quoted(option->meaning, "");
	fputs("'", stdout);
	if (values)
		printf(" -x -a '%s'", values);
	else if (option->argument)
		fputs(takes_file(option) ? " -r -F" : " -x", stdout);
	puts("");
}

static void fish_operands(enum command_id command)
{
	const char *name = command_infos[command].name;

	switch (command_infos[command].kind) {
	case OPERAND_WORKERS:
		printf("complete -c paigectl -n '__fish_seen_subcommand_from %s' -a '",
			name);
		print_workers(command);
		puts("'");
		break;
	case OPERAND_GUARDS:
		printf("complete -c paigectl -n '__fish_seen_subcommand_from %s; and not "
		       "__fish_seen_subcommand_from list show "
		       "replay' -a 'list show replay'\n"
		       "complete -c paigectl -n '__fish_seen_subcommand_from show "
		       "replay' -a '",
			name);
		print_guard_kinds();
		puts("'");
		break;
	case OPERAND_FILES:
		printf("complete -c paigectl -n '__fish_seen_subcommand_from %s' -F\n",
			name);
		break;
	case OPERAND_NOTHING:
		break;
	}
}

void completion_fish(void)
{
	puts("# fish completion for paigectl; made from its table of commands\n"
	     "complete -c paigectl -f\n"
	     "complete -c paigectl -n __fish_use_subcommand -l help -d 'show help'\n"
	     "complete -c paigectl -n __fish_use_subcommand -l version -d 'show the "
	     "version'");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (i == COMMAND_PAIGED)
			continue;
		printf("complete -c paigectl -n __fish_use_subcommand -a %s -d '",
			command_infos[i].name);
		print_quoted(command_infos[i].summary, "");
		puts("'");
		fish_operands((enum command_id)i);
		for (size_t k = 0; k < option_count; k++)
			if (option_applies(&option_infos[k], (enum command_id)i))
				fish_option(command_infos[i].name, &option_infos[k]);
	}
}

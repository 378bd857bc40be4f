/*
 * options.h - the table of commands.def, and command lines read by it.
 *
 * Called by paiged, paigectl and the generator of the documentation.
 */
#pragma once

#include "common/base/buf.h"
#include <stdbool.h>

enum command_id {
#define COMMAND(symbol, ...) COMMAND_##symbol,
#define OPTION(...)
#include "supervisor/shared/commands.def"
#undef COMMAND
#undef OPTION
	COMMAND_COUNT,
	COMMAND_EVERY, /* not a command: options that all commands of paigectl have */
};

enum operand_kind { OPERAND_NOTHING, OPERAND_WORKERS, OPERAND_FILES, OPERAND_GUARDS };

struct command_info {
	const char *name;
	const char *operands;
	int most_operands;
	enum operand_kind kind;
	const char *summary;
	const char *description;
};

struct option_info {
	enum command_id command;
	char letter;
	const char *name;
	const char *argument; /* NULL: none */
	const char *meaning;
};

extern const struct command_info command_infos[COMMAND_COUNT];
extern const struct option_info option_infos[];
extern const size_t option_count;

/* True when the option belongs to the command, by itself or as one of EVERY. */
bool option_applies(const struct option_info *option, enum command_id command);
/* The command of paigectl of a name, or -1. */
int command_by_name(const char *name);

#define OPTIONS_MAX 16

/* A command line as it was understood; borrows from argv. */
struct options {
	const char *given[OPTIONS_MAX][2]; /* name and argument ("" without one) */
	size_t count;
	char **operands;
	int operand_count;
};

/*
 * Reads argv[1..] for `command`; the operands may stand anywhere. 0, or -EINVAL with
 * *problem saying what is wrong. Changes the order of argv.
 */
int options_read(struct options *o, enum command_id command, int argc, char **argv,
	struct buf *problem) __attribute__((warn_unused_result));
/* The argument of an option, "" when it has none, NULL when it was not given. */
const char *options_get(const struct options *o, const char *name);
/* The help of one command. `program` is "paiged" or "paigectl status". */
void options_print_help(enum command_id command, struct buf *out);

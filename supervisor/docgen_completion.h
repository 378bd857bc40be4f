/*
 * docgen_completion.h - writes the completions of paigectl for shells to standard output, from
 * commands.def and workers.def.
 *
 * Called by docgen.c while the project is built.
 */
#pragma once

/* For bash-completion, which finds the file by the name of the program. */
void completion_bash(void);
/* For zsh: an autoloaded function, the file is _paigectl in a directory of fpath. */
void completion_zsh(void);
void completion_fish(void);

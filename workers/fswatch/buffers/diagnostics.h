/*
 * diagnostics.h - what the compilers and linters of the editor report about files: kept by
 * path, shown to a model with the errors first.
 *
 * Pure: it reads no file and calls nobody. A message of a window replaces everything that
 * was kept about its file. Everything is bounded; what does not fit is refused, or left out
 * and counted. Texts are data and never interpreted.
 *
 * Diagnostics live as long as the process. Windows send them again whenever they change, so
 * none are written to the disk.
 */
#pragma once

#include "proto/codec/messages.h"

#define DIAGNOSTICS_MAX_FILES 256
/* Kept of one file: the most severe, then those at its start. */
#define DIAGNOSTICS_MAX_OF_FILE 100
/* Of all files together. */
#define DIAGNOSTICS_MAX_BYTES (4u * 1024 * 1024)
/* A longer message or source is cut. */
#define DIAGNOSTICS_MAX_TEXT 1000
/* Limits of one answer to a model: diagnostics, and bytes of paths and texts. */
#define DIAGNOSTICS_SHOWN 100
#define DIAGNOSTICS_SHOWN_BYTES 16000

struct diagnostics_file;

/* Zero is a valid empty one. */
struct diagnostics {
	struct diagnostics_file *first; /* in the order of their paths */
	size_t files, bytes;
};

/*
 * Replaces the diagnostics of `path`; an empty list removes them. 0; -ENFILE when there are
 * too many files; -ENOSPC when there are too many bytes, and then `path` has none.
 */
int diagnostics_set(struct diagnostics *d, struct str path,
	const struct editor_diagnostics *in) __attribute__((warn_unused_result));
/* Forgets a file, or all files in a directory. */
void diagnostics_forget(struct diagnostics *d, struct str path);
/* Forgets the files for which `is_there` is false. */
void diagnostics_forget_unless(
	struct diagnostics *d, bool (*is_there)(void *arg, struct str path), void *arg);
/* The answer for a model, ordered by severity, path and line. In the arena. */
void diagnostics_show(
	const struct diagnostics *d, struct arena *arena, struct state_diagnostics *out);
void diagnostics_fini(struct diagnostics *d);

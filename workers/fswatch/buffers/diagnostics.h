/*
 * diagnostics.h - what the compilers and linters of the editor report about files: kept by
 * path, shown to a model with the errors first.
 *
 * Pure: it reads no file and asks nobody. A message of a window replaces all that was kept
 * of its file. Everything is bounded; what does not fit is refused, or left out
 * and counted. Texts are data: nothing in them is looked at.
 *
 * It lives as long as the process. Windows send diagnostics again whenever they change,
 * so none are written to the disk.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_DIAGNOSTICS_H
#define PAIGE_FSWATCH_BUFFERS_DIAGNOSTICS_H

#include "proto/codec/messages.h"

#define DIAGNOSTICS_MAX_FILES 256
/* Kept of one file: the most severe, then those at its start. */
#define DIAGNOSTICS_MAX_OF_FILE 100
/* Of all files together. */
#define DIAGNOSTICS_MAX_BYTES (4u * 1024 * 1024)
/* A longer message or source is cut. */
#define DIAGNOSTICS_MAX_TEXT 1000
/* Told at once: so many, with so many bytes of paths and texts. */
#define DIAGNOSTICS_SHOWN 100
#define DIAGNOSTICS_SHOWN_BYTES 16000

struct diagnostics_file;

/* Zero is a valid empty one. */
struct diagnostics {
	struct diagnostics_file *first; /* in the order of their paths */
	size_t files, bytes;
};

/*
 * Replaces what is kept of `path`; an empty list removes it. 0; -ENFILE when there are
 * too many files, -ENOSPC when there are too many bytes: then nothing is kept of `path`.
 */
int diagnostics_set(struct diagnostics *d, struct str path,
	const struct editor_diagnostics *in) __attribute__((warn_unused_result));
/* Forgets a file; of a directory, all that is in it. */
void diagnostics_forget(struct diagnostics *d, struct str path);
/* Forgets the files of which `is_there` says no. */
void diagnostics_forget_unless(
	struct diagnostics *d, bool (*is_there)(void *arg, struct str path), void *arg);
/* What a model is told: by severity, then path, then line. All in the arena. */
void diagnostics_show(
	const struct diagnostics *d, struct arena *arena, struct state_diagnostics *out);
void diagnostics_fini(struct diagnostics *d);

#endif

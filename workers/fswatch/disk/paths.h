/*
 * paths.h - the names of files: what a client may ask for, and the one key it stands for.
 *
 * Pure: text in, text out, no file system. A key is the canonical project-relative
 * spelling ("src/auth.ts"; "." is the project itself) under which buffers, open files and
 * messages know a file (P3.4). What a key leads to, links included, is project.h's to
 * say.
 */
#pragma once

#include "common/base/str.h"

/* Longest key, NUL included: what the kernel takes (PATH_MAX). */
#define PATH_KEY_SIZE 4096

/* Absolute, without "." and ".." components, without a slash at the end. */
struct path_roots {
	struct str canonical; /* as the kernel spells it */
	struct str spelled;   /* as the settings spell it; differs when links lead there
			       (R17); may be   absent */
};

enum path_verdict {
	PATH_OK,
	PATH_EMPTY,    /* no text, or only white space */
	PATH_NUL,      /* a NUL byte inside */
	PATH_TOO_LONG, /* longer than the kernel takes */
	PATH_OUTSIDE,  /* leads out of the project (EC-10, R13) */
};

/*
 * Turns what a client asked for, relative to the project or absolute in either spelling
 * of the root, into its key. "." and ".." are taken out component by component, so a path
 * that leaves the project and comes back is fine. `key` is untouched unless the
 * verdict is PATH_OK.
 */
enum path_verdict paths_key(const struct path_roots *roots, struct str asked,
	char key[PATH_KEY_SIZE]) __attribute__((warn_unused_result));

/* Why a path was refused, to go behind the path itself: "leads outside the project". */
const char *paths_verdict_text(enum path_verdict verdict);

/*
 * Takes "." and ".." and doubled slashes out of an absolute path. 0, or -ENAMETOOLONG
 * when it does not fit.
 */
int paths_clean(struct str absolute, char out[PATH_KEY_SIZE])
	__attribute__((warn_unused_result));

/* The last component of a path. */
struct str paths_base(struct str path);
/* True when `path` is `dir` or lies below it, both being keys; everything is below ".".
 */
bool paths_within(struct str path, struct str dir);

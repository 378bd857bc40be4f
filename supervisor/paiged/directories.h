/* directories.h - the daemon's directories and those of its programs. Called by
 * daemon.c. */
#pragma once

#include "common/base/buf.h"

/* Makes DATA_DIR with its parents (FR-007), mode 0700. 0 or -errno with *problem. */
int directories_make_data(const char *path, struct buf *problem)
	__attribute__((warn_unused_result));
#define DIRECTORIES_RUNTIME_SIZE 108 /* of a socket's path (unix(7)) */

/* Makes the runtime directory, or takes one that is ours and nobody else's. In /tmp,
 * where others may have taken the name, `path` becomes another one. 0 or -errno with
 * *problem.
 */
int directories_make_runtime(char path[DIRECTORIES_RUNTIME_SIZE], struct buf *problem)
	__attribute__((warn_unused_result));
/* Removes the sockets in the runtime directory, and the directory if it is ours. */
void directories_clear_runtime(const char *path);
/* The directory of the workers' programs: of the build tree that we run from, else the
 * installed one. Returns new. */
char *directories_find_programs(void);
/* The program paigectl, which lies beside our own. Returns new; NULL when our own is not known. */
char *directories_find_paigectl(void);

/* If something prevents saving files of the project, writes it to *warning. */
void directories_check_project(const char *path, struct buf *warning);

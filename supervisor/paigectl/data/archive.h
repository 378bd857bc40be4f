/*
 * archive.h - DATA_DIR while no daemon uses it, and the program that reads and writes databases there.
 */
#pragma once

#include "supervisor/paigectl/paigectl.h"
#include "supervisor/shared/lock.h"

struct stopped_data {
	struct daemon_place place;
	struct lock lock;
};

/* Takes the lock of DATA_DIR, which is made when it is missing. PAIGECTL_DONE; or an exit code, after having said why: a daemon runs, it is another
 * user's. Given back with archive_leave in either case. */
int archive_take(const struct options *o, struct stopped_data *data);
void archive_leave(struct stopped_data *data);
/* Runs paige-archive (workers/store/archive), which holds the lock as well. An exit code, after having said why. */
int archive_run(const struct stopped_data *data, const char *command, const char *from,
	const char *to);
/* What paige-archive says when all went well. */
#define ARCHIVE_SAID_MAX 4096
/*
 * Makes a paige.db in the empty `folder` of what the database `url` of PostgreSQL has of the learner: paige-mirror reads, paige-archive writes. Its
 * sessions are of `project_dir`. An exit code, after having said why; `came` says what came.
 */
int archive_run_mirror(const struct stopped_data *data, const char *url,
	const char *project_dir, const char *folder, char came[ARCHIVE_SAID_MAX]);

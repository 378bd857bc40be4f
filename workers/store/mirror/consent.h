/*
 * consent.h - whether the learner has agreed that what they did is carried to PostgreSQL.
 *
 * Kept in a small file beside the databases, since paige.db has ten tables. Without the file, and with one that cannot be
 * read, nobody has agreed.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/ids.h"
#include <stdbool.h>

#define CONSENT_FILE "mirror-consent"

/* Zero: nobody has agreed, and nothing is kept. */
struct consent {
	char *path;
	bool allowed;
	char since[WALL_ISO_SIZE]; /* of the last decision; empty before the first */
	char origin[UUID_SIZE];	   /* empty before the learner has ever agreed */
};

/* Reads what an earlier process kept in `directory`. 0, or -errno with nothing allowed. */
int consent_load(struct consent *consent, const char *directory)
	__attribute__((warn_unused_result));
void consent_fini(struct consent *consent);

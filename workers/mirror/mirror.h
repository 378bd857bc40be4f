/*
 * mirror.h - the state of the worker, and its cycle: ask whether it may, connect, bring the schema there, carry what is behind
 * each position, rest.
 *
 * One thing is under way at any time: a call to the store, or a statement at the server. So there is one batch, and no queue.
 * Positions are PostgreSQL's, written with the rows; what is here is a copy that a restart reads again.
 */
#pragma once

#include "common/base/ids.h"
#include "common/worker/worker.h"
#include "workers/mirror/server.h"
#include "workers/mirror/sources.h"

/* Between two cycles: the first after one that carried rows, doubled while there are none. */
#define MIRROR_REST_MIN_MS 1000
#define MIRROR_REST_MAX_MS 15000
/* After a failure: doubled with each. */
#define MIRROR_RETRY_MIN_MS 1000
#define MIRROR_RETRY_MAX_MS 60000
/* While the learner has not agreed. */
#define MIRROR_CONSENT_MS 2000
/* Rows that change are looked at again so long after rows of a log came. */
#define MIRROR_PASS_MS 10000
/* And without, since not everything that changes is logged. */
#define MIRROR_PASS_AGAIN_MS 600000

struct mirror_position {
	int64_t number;
	char id[65];
};

struct mirror {
	struct worker *worker;
	struct server *server;
	struct event *turn;
	struct buf statements[SOURCE_COUNT];
	char origin[UUID_SIZE];
	bool prepared; /* the schema is right, and the positions are those of the origin */
	bool migrated; /* the schema was made on this connection */
	struct mirror_position positions[SOURCE_COUNT];
	int source; /* of the cycle */
	struct batch batch;
	bool moved; /* rows were carried in this cycle */
	bool pass_due, passing;
	struct mono passed;
	int rest_ms, retry_ms;
	double caught_up; /* as the metric has it */
};

/* How long a pause of `ms` is in fact: by chance up to two fifths shorter. Daemons that start together, such as those of a class
 * after a loss of power, would else look, and connect again, together for ever. */
static inline int mirror_pause_ms(int ms, unsigned char dice)
{
	return ms - ms * 2 / 5 * dice / 255;
}

/* Begins the cycles. */
void mirror_begin(struct mirror *m);

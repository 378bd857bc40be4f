/* workers.h - the workers of workers.def as an enumeration with names. */
#pragma once

#include "common/base/str.h"
#include <stdbool.h>

enum worker_id {
#define WORKER(symbol, ...) WORKER_##symbol,
#include "proto/catalogue/workers.def"
#undef WORKER
	WORKER_COUNT
};

struct worker_info {
	const char *name;      /* "guard-engine"; the program is "paige-" and this */
	int start_deadline_ms; /* from exec to READY */
	int stop_grace_ms;     /* from STOP to KILL */
	int stop_stage;
	bool needs_api_key;
	const char *
		needs_setting; /* runs only while this setting is not empty; NULL: always */
	const char *does;
};

extern const struct worker_info worker_infos[WORKER_COUNT];

/* The worker of a name, or -1. */
int worker_by_name(struct str name);

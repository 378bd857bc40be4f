/*
 * environment.h - what a worker finds in its environment (proto/worker.h).
 *
 * Every setting with its resolved value; the API key, and whatever else the daemon itself
 * was given, only for the worker that calls out. The others, and above all the gateway
 * that strangers talk to, get what a program needs to run and nothing that may be a
 * secret.
 */
#pragma once

#include "common/bus/rules/bus_keys.h"
#include "common/settings/settings.h"
#include "proto/tables/workers.h"
#include <stddef.h>

struct environment_given {
	const struct settings *settings;
	const char *runtime_dir;
	bool broker; /* makes its connections */
	const char *token;
	struct bus_keys bus_keys;
	uint64_t epoch;
	uint64_t generation;
	size_t listen_count;
	int port; /* the real one, instead of a PORT of 0 */
};

/* NULL-terminated, "NAME=value" each; returns new, to be freed with environment_free.
 * `inherited` is the supervisor's own environment. */
char **environment_for(
	enum worker_id id, const struct environment_given *given, char *const *inherited);
void environment_free(char **environment);
/* Appends what a running worker is told when the settings change: the body of
 * WORKER_PACKET_RELOAD. */
void environment_changes(
	enum worker_id id, const struct settings *settings, struct buf *json);

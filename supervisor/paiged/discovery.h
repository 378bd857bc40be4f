/*
 * discovery.h - DATA_DIR/paiged.json: how clients find the daemon.
 *
 * Mode 0600, since it holds the access token. Written whole under another name and
 * renamed, removed by a clean stop. After a kill -9 it is stale until the next start, as
 * its pid shows.
 */
#pragma once

#include "common/base/clock.h"

struct discovery {
	int port;
	const char *host;
	const char *url;
	const char *project_dir;
	const char *token;
	struct wall started_at;
};

/* 0 or -errno. */
int discovery_write(const char *data_dir, const struct discovery *d)
	__attribute__((warn_unused_result));
void discovery_remove(const char *data_dir);

/*
 * runtime.h - the directory of the sockets: taken at the start, made again when it goes.
 *
 * A logout removes /run/user/UID, and whoever cleans /tmp may remove what is there. What
 * listens in a directory that is gone is never found again, and a confined worker may not
 * use another one: all are restarted. Called by daemon.c.
 */
#pragma once

#include "common/base/buf.h"
#include "supervisor/paiged/daemon.h"

/* Chooses, makes and locks the directory. 0 or -errno with *problem. */
int runtime_take(struct daemon *d, struct buf *problem)
	__attribute__((warn_unused_result));
/* Looks whether directory and control socket are in place, and puts right what is not;
 * called at each tick of the daemon. */
void runtime_check(struct daemon *d);

/*
 * ctl.h - ctl.sock in the runtime directory: requests of paigectl to the supervisor.
 *
 * One line of JSON (type ctl_request) is answered by one line (proto/catalogue/ctl.def), and the
 * connection closed. Only this user and root may ask, and no worker: an attacker in
 * the gateway must not be able to stop the daemon. Few clients, short lines, deadlines
 * for all.
 *
 * The gateway cannot reach the socket, but may send connections of its own
 * (WORKER_PACKET_ASK), for windows of the user who runs the daemon. On these it may ask for the
 * status, the settings, the last lines of logs and the findings of doctor, and restart one worker: an
 * attacker in the gateway gains only a restart of a worker, which the supervisor restarts anyway.
 */
#pragma once

#include "supervisor/paiged/daemon.h"

/* NULL with errno. */
struct ctl *ctl_new(struct daemon *d);
/* Whether its socket is still where paigectl looks for it. */
bool ctl_in_place(const struct ctl *ctl);
/* A connection of the gateway; takes `fd`. */
void ctl_take(struct ctl *ctl, int fd);
/* A process that it has started and reaps itself; 0 for none. */
pid_t ctl_child(const struct ctl *ctl);
/* After any change of a worker: a restart may be done. */
void ctl_on_change(struct ctl *ctl);
/* NULL does nothing. */
void ctl_free(struct ctl *ctl);

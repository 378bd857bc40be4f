/*
 * sockdiag.h - asks the kernel who owns the other end of a loopback connection.
 *
 * NETLINK_SOCK_DIAG with an exact lookup of one socket: needs no file, so it works in a
 * process that may open none. Called by http.c, once for each connection.
 */
#ifndef PAIGE_GATEWAY_SOCKDIAG_H
#define PAIGE_GATEWAY_SOCKDIAG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct inet_diag_msg;

/* A socket to ask with, or -errno. Open it before the process is confined. */
int sockdiag_open(void);

/*
 * The user that owns the socket at the far end of the TCP connection `fd`. 0, or -errno:
 * -ENOENT when the kernel knows no such socket on this machine, or one that no process
 * holds any more.
 */
int sockdiag_peer_uid(int diag_fd, int fd, uid_t *uid)
	__attribute__((warn_unused_result));

/*
 * Pure. Whether the user in the answer can be believed: a socket that its process has
 * closed (orphaned, or only a TIME_WAIT or FIN_WAIT2 remnant) is reported as owned by
 * user 0.
 */
bool sockdiag_owner_known(const struct inet_diag_msg *msg);

/* Pure. True for 127.0.0.0/8, ::1 and ::ffff:127.0.0.0/8. */
bool sockdiag_is_loopback(const struct sockaddr_storage *address);

#endif

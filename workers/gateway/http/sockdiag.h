/*
 * sockdiag.h - asks the kernel who owns the other end of a loopback connection.
 *
 * NETLINK_SOCK_DIAG with an exact lookup of one socket: needs no file, so it works in a
 * process that may open none. Called by http_conn.c when a connection is accepted.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct inet_diag_msg;
struct inet_diag_req_v2;

/* A socket to ask with, or -errno. Open it before the process is confined. */
int sockdiag_open(void);

/*
 * The user that owns the socket at the far end of the TCP connection `fd`. 0, or -errno:
 * -ENOENT when the kernel does not show that very socket on this machine, held by a
 * process; -ENOTCONN when the connection has ended. Whoever is not proved is a stranger.
 */
int sockdiag_peer_uid(int diag_fd, int fd, uid_t *uid)
	__attribute__((warn_unused_result));

/*
 * Pure. Whether the answer is about the socket that was asked for, and its user can be
 * believed. The kernel answers with another one when that one is gone: with the socket
 * that listens on its port, whoever owns it, or with a remnant of a closed socket, as
 * owned by user 0.
 */
bool sockdiag_proves(
	const struct inet_diag_req_v2 *asked, const struct inet_diag_msg *msg);

/* Pure. True for 127.0.0.0/8, ::1 and ::ffff:127.0.0.0/8. */
bool sockdiag_is_loopback(const struct sockaddr_storage *address);

/* Pure. The address as IPv6, IPv4 in its mapped form; all zeros for another family. */
struct in6_addr sockdiag_address(const struct sockaddr_storage *address);

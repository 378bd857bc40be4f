/*
 * pass_fd.h - sends an open descriptor to the process at the other end of a Unix socket.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Sends `part` with a copy of `fd`, without waiting. False when it could not be sent in
 * one piece. The caller closes its own `fd`. */
bool pass_fd(int socket, struct iovec part, int fd);
/* The descriptor that came with a message of recvmsg, or -1. */
int passed_fd(struct msghdr *message);

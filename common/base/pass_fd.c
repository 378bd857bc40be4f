/* pass_fd.c - see pass_fd.h. Called by channel.c, ctl.c and worker_control.c. */
#include "common/base/pass_fd.h"
#include <string.h>
#include <sys/socket.h>

bool pass_fd(int socket, struct iovec part, int fd)
{
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)part.iov_len;
}

int passed_fd(struct msghdr *message)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

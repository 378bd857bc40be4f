/* sockdiag.c - see sockdiag.h. */
#include "workers/gateway/http/sockdiag.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

struct query {
	struct nlmsghdr header;
	struct inet_diag_req_v2 request;
};

/* The answer is there as soon as the question is sent; later ones of a question given up
 * are skipped. */
#define MAX_ANSWERS 16

int sockdiag_open(void)
{
	int fd = socket(
		AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

static bool is_mapped(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;

	return address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
}

bool sockdiag_is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	if (address->ss_family == AF_INET)
		return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
	if (address->ss_family != AF_INET6)
		return false;
	if (is_mapped(address))
		return v6->sin6_addr.s6_addr[12] == 127;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* Port and address of one side, in the form of the question; 0 or -EAFNOSUPPORT. */
static int put_side(const struct sockaddr_storage *address, __be16 *port, __be32 out[4])
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	memset(out, 0, 4 * sizeof(out[0]));
	if (address->ss_family == AF_INET) {
		*port = v4->sin_port;
		out[0] = v4->sin_addr.s_addr;
	} else if (is_mapped(address)) {
		*port = v6->sin6_port;
		memcpy(out, v6->sin6_addr.s6_addr + 12, 4);
	} else if (address->ss_family == AF_INET6) {
		*port = v6->sin6_port;
		memcpy(out, v6->sin6_addr.s6_addr, 16);
	} else {
		return -EAFNOSUPPORT;
	}
	return 0;
}

/* Asks for the far socket: what is our peer is its own side. */
static int make_query(int fd, uint32_t serial, struct query *q)
{
	struct sockaddr_storage ours = {0}, peer = {0};
	socklen_t ours_len = sizeof(ours), peer_len = sizeof(peer);
	struct inet_diag_sockid id = {
		.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}};
	int rc;

	if (getsockname(fd, (struct sockaddr *)&ours, &ours_len) < 0 ||
		getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0)
		return -errno;
	rc = put_side(&peer, &id.idiag_sport, id.idiag_src);
	if (rc == 0)
		rc = put_side(&ours, &id.idiag_dport, id.idiag_dst);
	if (rc < 0)
		return rc;
	*q = (struct query){
		.header = {.nlmsg_len = sizeof(*q),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_seq = serial},
		.request = {.sdiag_family =
				    is_mapped(&peer) ? AF_INET : (__u8)peer.ss_family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = ~0u,
			.id = id},
	};
	return 0;
}

/* An address of a question or an answer as IPv6, IPv4 in its mapped form: a socket of
 * IPv6 may speak IPv4. */
static struct in6_addr as_v6(unsigned family, const __be32 raw[4])
{
	struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	if (family == AF_INET)
		memcpy(address.s6_addr + 12, raw, 4);
	else
		memcpy(address.s6_addr, raw, 16);
	return address;
}

struct in6_addr sockdiag_address(const struct sockaddr_storage *address)
{
	__be32 raw[4];
	__be16 port;

	if (put_side(address, &port, raw) < 0)
		return in6addr_any;
	return as_v6(is_mapped(address) ? AF_INET : address->ss_family, raw);
}

/* What a client that waits for an answer can be in: connected, or done with sending. */
static bool is_live(unsigned state)
{
	return state == TCP_ESTABLISHED || state == TCP_FIN_WAIT1 ||
	       state == TCP_FIN_WAIT2;
}

bool sockdiag_proves(
	const struct inet_diag_req_v2 *asked, const struct inet_diag_msg *msg)
{
	struct in6_addr asked_src = as_v6(asked->sdiag_family, asked->id.idiag_src),
			asked_dst = as_v6(asked->sdiag_family, asked->id.idiag_dst),
			src = as_v6(msg->idiag_family, msg->id.idiag_src),
			dst = as_v6(msg->idiag_family, msg->id.idiag_dst);

	return (msg->idiag_family == AF_INET || msg->idiag_family == AF_INET6) &&
	       is_live(msg->idiag_state) && msg->idiag_inode != 0 &&
	       msg->id.idiag_sport == asked->id.idiag_sport &&
	       msg->id.idiag_dport == asked->id.idiag_dport &&
	       IN6_ARE_ADDR_EQUAL(&src, &asked_src) &&
	       IN6_ARE_ADDR_EQUAL(&dst, &asked_dst);
}

/* Reads one message. 0 with *uid, -EAGAIN when it answers an earlier question, or -errno.
 */
static int read_answer(int diag_fd, const struct query *q, uid_t *uid)
{
	char raw[1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	ssize_t n = recv(diag_fd, raw, sizeof(raw), MSG_DONTWAIT);
	struct nlmsghdr *header = (void *)raw;
	const struct nlmsgerr *error = NLMSG_DATA(header);
	const struct inet_diag_msg *msg = NLMSG_DATA(header);

	if (n < 0)
		return -errno;
	if (!NLMSG_OK(header, (size_t)n))
		return -EBADMSG;
	if (header->nlmsg_seq != q->header.nlmsg_seq)
		return -EAGAIN;
	if (header->nlmsg_type == NLMSG_ERROR &&
		header->nlmsg_len >= NLMSG_LENGTH(sizeof(*error)))
		return error->error < 0 ? error->error : -EBADMSG;
	if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		header->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)))
		return -EBADMSG;
	if (!sockdiag_proves(&q->request, msg))
		return -ENOENT;
	*uid = msg->idiag_uid;
	return 0;
}

/* Our side is connected still, so no other connection can have had its addresses and
 * ports since it was accepted. */
static bool still_connected(int fd)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &len) == 0;
}

int sockdiag_peer_uid(int diag_fd, int fd, uid_t *uid)
{
	static uint32_t serial;
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct query q;
	int rc;

	if (diag_fd < 0)
		return -EBADF;
	rc = make_query(fd, ++serial, &q);
	if (rc < 0)
		return rc;
	if (sendto(diag_fd, &q, sizeof(q), 0, (const void *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	for (int i = 0; i < MAX_ANSWERS; i++) {
		rc = read_answer(diag_fd, &q, uid);
		if (rc == 0 && !still_connected(fd))
			return -ENOTCONN;
		if (rc != -EAGAIN)
			return rc;
	}
	return -EBADMSG;
}

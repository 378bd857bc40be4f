/* channel.c - see channel.h. */
#include "supervisor/paiged/process/channel.h"
#include "common/loop/timer.h"

#include "common/base/pass_fd.h"
#include "supervisor/paiged/process/launch.h"
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* In one turn of the loop, so that a chatty worker does not starve the others. */
#define PACKETS_PER_TURN 32

int channel_parse(const void *packet, size_t len, uint64_t generation, struct str *body)
{
	struct worker_packet_header header;

	if (len < sizeof(header))
		return -1;
	memcpy(&header, packet, sizeof(header));
	if (header.generation != generation || header.body_bytes != len - sizeof(header))
		return -1;
	switch (header.type) {
	case LAUNCH_FAILED:
	case WORKER_PACKET_READY:
	case WORKER_PACKET_HEARTBEAT:
	case WORKER_PACKET_STATUS:
	case WORKER_PACKET_CONNECTS:
	case WORKER_PACKET_ASK:
		*body = (struct str){
			(const char *)packet + sizeof(header), len - sizeof(header)};
		return header.type;
	default:
		return -1;
	}
}

/* True when something was there. */
static bool receive(struct channel *c)
{
	char packet[WORKER_PACKET_MAX];
	struct str body = {0};
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {packet, sizeof(packet)};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		/* Exactly one: into the padding another would fit, and stay open. */
		.msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t n = recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	int type = -1, fd;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		channel_close(c);
		c->fn(c->arg, -1, body, -1);
		return false;
	}
	fd = passed_fd(&message);
	if ((size_t)n <= sizeof(packet))
		type = channel_parse(packet, (size_t)n, c->generation, &body);
	if (type >= 0)
		c->fn(c->arg, type, body, fd);
	else if (fd >= 0)
		close(fd);
	return true;
}

void channel_drain(struct channel *c)
{
	for (int i = 0; i < PACKETS_PER_TURN && c->fd >= 0; i++)
		if (!receive(c))
			break;
}

static void on_readable(EVENT_UNUSED, void *arg)
{
	channel_drain(arg);
}

/* True when it went out, or never will. */
static bool send_packet(struct channel *c, enum worker_packet_type type, struct str body)
{
	struct worker_packet_header header = {.type = (uint16_t)type,
		.body_bytes = (uint32_t)body.len,
		.generation = c->generation};
	struct iovec parts[] = {
		{&header, sizeof(header)},
		{(void *)(uintptr_t)body.ptr, body.len},
	};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	if (sizeof(header) + body.len > WORKER_PACKET_MAX)
		return true;
	if (sendmsg(c->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	return errno != EAGAIN && errno != EINTR && errno != ENOBUFS;
}

static void flush(struct channel *c)
{
	if (c->fd < 0)
		return;
	if (c->stop && send_packet(c, WORKER_PACKET_STOP, (struct str){0}))
		c->stop = false;
	if (c->reload.len && send_packet(c, WORKER_PACKET_RELOAD, buf_str(&c->reload)))
		buf_clear(&c->reload);
	if (c->fleet.len && send_packet(c, WORKER_PACKET_FLEET, buf_str(&c->fleet)))
		buf_clear(&c->fleet);
	if (c->stop || c->reload.len || c->fleet.len)
		(void)event_add(c->writable, NULL);
}

static void on_writable(EVENT_UNUSED, void *arg)
{
	flush(arg);
}

int channel_open(struct channel *c, struct event_base *base, int fd, uint64_t generation,
	channel_fn *fn, void *arg)
{
	*c = (struct channel){.fd = fd, .generation = generation, .fn = fn, .arg = arg};
	c->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(base, fd, EV_WRITE, on_writable, c);
	if (!c->readable || !c->writable || event_add(c->readable, NULL) != 0) {
		channel_close(c);
		return -ENOMEM;
	}
	return 0;
}

void channel_send_stop(struct channel *c)
{
	c->stop = true;
	flush(c);
}

void channel_send_reload(struct channel *c, struct str json)
{
	buf_clear(&c->reload);
	buf_add_str(&c->reload, json);
	flush(c);
}

void channel_send_fleet(struct channel *c, struct str json)
{
	buf_clear(&c->fleet);
	buf_add_str(&c->fleet, json);
	flush(c);
}

bool channel_send_tap(struct channel *c, int fd)
{
	struct worker_packet_header header = {
		.type = WORKER_PACKET_TAP, .generation = c->generation};

	return c->fd >= 0 && pass_fd(c->fd, (struct iovec){&header, sizeof(header)}, fd);
}

void channel_close(struct channel *c)
{
	if (c->fd < 0)
		return;
	if (c->readable)
		event_free(c->readable);
	if (c->writable)
		event_free(c->writable);
	close(c->fd);
	c->fd = -1;
	c->readable = c->writable = NULL;
	c->stop = false;
	buf_free(&c->reload);
	buf_free(&c->fleet);
}

/* rogue_wire.c - see rogue_wire.h. */
#include "tests/bus/rogue_wire.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define GREETING_BYTES 8
#define SEND_MS 1000
#define GREETING_MS 1000
#define MAX_MESSAGE (64u * 1024 * 1024)

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

int wire_listen(const char *path)
{
	struct sockaddr_un a = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 128) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool greet(struct wire *w, enum wire_protocol self)
{
	char hello[GREETING_BYTES] = {0, 'S', 'P', 0, 0, (char)self, 0, 0};

	return wire_send_raw(w, (struct str){hello, sizeof(hello)});
}

bool wire_dial(struct wire *w, const char *path, enum wire_protocol self)
{
	struct sockaddr_un a = address_of(path);

	*w = (struct wire){
		.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
	if (w->fd < 0)
		return false;
	if (connect(w->fd, (struct sockaddr *)&a, sizeof(a)) == 0 && greet(w, self)) {
		wire_read(w, GREETING_MS);
		if (w->greeted)
			return true;
	}
	wire_close(w);
	return false;
}

void wire_accept(struct wire *w, int fd, enum wire_protocol self)
{
	*w = (struct wire){.fd = fd};
	greet(w, self);
}

void wire_close(struct wire *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	buf_free(&w->in);
}

bool wire_send_raw(struct wire *w, struct str bytes)
{
	struct pollfd p = {.fd = w->fd, .events = POLLOUT};

	while (bytes.len > 0 && w->fd >= 0) {
		ssize_t n =
			send(w->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			bytes = (struct str){bytes.ptr + n, bytes.len - (size_t)n};
		else if (errno != EAGAIN || poll(&p, 1, SEND_MS) < 1)
			wire_close(w);
	}
	return w->fd >= 0;
}

bool wire_send(struct wire *w, struct str message)
{
	char frame[WIRE_FRAME_BYTES] = {1};

	for (int i = 0; i < 8; i++)
		frame[1 + i] = (char)(message.len >> (56 - 8 * i));
	return wire_send_raw(w, (struct str){frame, sizeof(frame)}) &&
	       wire_send_raw(w, message);
}

bool wire_read(struct wire *w, int ms)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};

	if (w->fd < 0)
		return false;
	while (poll(&p, 1, ms) == 1) {
		ssize_t n = recv(w->fd, buf_reserve(&w->in, 65536), 65536, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			wire_close(w);
			return false;
		}
		w->in.len += (size_t)n;
		ms = 0;
	}
	if (!w->greeted && w->in.len >= GREETING_BYTES) {
		w->greeted = true;
		wire_taken(w, GREETING_BYTES);
	}
	return true;
}

bool wire_take(struct wire *w, struct str *message, size_t *at)
{
	const unsigned char *frame;
	uint64_t len = 0;

	if (!w->greeted || w->in.len - *at < WIRE_FRAME_BYTES)
		return false;
	frame = (const unsigned char *)w->in.data + *at;
	for (int i = 0; i < 8; i++)
		len = len << 8 | frame[1 + i];
	if (len > MAX_MESSAGE || w->in.len - *at - WIRE_FRAME_BYTES < len)
		return false;
	*message = (struct str){w->in.data + *at + WIRE_FRAME_BYTES, len};
	*at += WIRE_FRAME_BYTES + len;
	return true;
}

void wire_taken(struct wire *w, size_t at)
{
	memmove(w->in.data, w->in.data + at, w->in.len - at);
	w->in.len -= at;
}

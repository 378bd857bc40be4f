/* listener.c - see listener.h. */
#include "supervisor/shared/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024
/* Free ports of one family that turned out to be taken in another. */
#define FREE_PORT_TRIES 16

/* Where to listen, without the port. */
struct addresses {
	struct sockaddr_storage items[LISTENER_MAX_FDS];
	size_t count;
};

static socklen_t size_of(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

static void set_port(struct sockaddr_storage *address, int port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)address)->sin6_port =
			htons((uint16_t)port);
	else
		((struct sockaddr_in *)(void *)address)->sin_port = htons((uint16_t)port);
}

static int port_of(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return 0;
	if (address.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port);
	return ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
}

/* The socket, or -errno. */
static int listen_on(const struct sockaddr_storage *a)
{
	int fd = socket(a->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;
	int error;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)a, size_of(a)) == 0 &&
		listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

static bool no_such_family(int error)
{
	return error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL ||
	       error == -EPROTONOSUPPORT;
}

/* All addresses with one port; `port` 0 takes that of the first. 0 or -errno. */
static int listen_on_all(struct listener *l, struct addresses *list, int port)
{
	int error = 0;

	for (size_t i = 0; i < list->count; i++) {
		int fd;

		set_port(&list->items[i], port ? port : l->port);
		fd = listen_on(&list->items[i]);
		if (fd >= 0) {
			l->port = port_of(fd);
			l->fds[l->count++] = fd;
			continue;
		}
		error = fd;
		/* A machine without IPv6 still has a localhost. */
		if (!no_such_family(fd) || list->count == 1) {
			listener_close(l);
			return error;
		}
	}
	return l->count > 0 ? 0 : error;
}

static void add_address(
	struct addresses *list, const struct sockaddr *address, socklen_t len)
{
	if (list->count < LISTENER_MAX_FDS && len <= sizeof(list->items[0]))
		memcpy(&list->items[list->count++], address, len);
}

static void add_localhost(struct addresses *list)
{
	struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

	add_address(list, (const struct sockaddr *)&v4, sizeof(v4));
	add_address(list, (const struct sockaddr *)&v6, sizeof(v6));
}

/* 0, or an error of getaddrinfo. */
static int resolve(const char *host, struct addresses *list)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_PASSIVE};
	struct addrinfo *found = NULL;
	char bare[256];
	size_t len = strlen(host);
	int error;

	if (strcmp(host, "localhost") == 0) {
		add_localhost(list);
		return 0;
	}
	if (len > 2 && host[0] == '[' && host[len - 1] == ']')
		snprintf(bare, sizeof(bare), "%.*s", (int)(len - 2), host + 1);
	else
		snprintf(bare, sizeof(bare), "%s", host);
	error = getaddrinfo(bare, "0", &hints, &found);
	if (error == EAI_NONAME) {
		hints.ai_flags = AI_PASSIVE;
		error = getaddrinfo(bare, "0", &hints, &found);
	}
	if (error)
		return error;
	for (const struct addrinfo *a = found; a; a = a->ai_next)
		add_address(list, a->ai_addr, a->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

static void explain(const char *host, int port, int error, struct buf *problem)
{
	buf_printf(problem, "cannot listen on HOST=%s PORT=%d: %s (%s)", host, port,
		strerror(-error), strerrorname_np(-error));
	if (error == -EADDRINUSE)
		buf_printf(problem,
			". Another program uses port %d: stop it, or set PORT to another "
			"one, "
			"or to 0 for any free one.",
			port);
	else if (error == -EACCES)
		buf_printf(problem,
			". Ports below 1024 need a privilege: set PORT to a higher one.");
	else if (error == -EADDRNOTAVAIL)
		buf_printf(problem, ". HOST must be an address of this machine.");
}

int listener_open(struct listener *l, const char *host, int port, struct buf *problem)
{
	struct addresses list = {0};
	int error = resolve(host, &list);

	*l = (struct listener){0};
	if (error) {
		buf_printf(problem,
			"HOST=%s is no address and no name that is known here: %s", host,
			gai_strerror(error));
		return -EINVAL;
	}
	for (int i = 0; i < FREE_PORT_TRIES; i++) {
		error = listen_on_all(l, &list, port);
		if (error != -EADDRINUSE || port != 0)
			break;
	}
	if (error)
		explain(host, port, error, problem);
	return error;
}

void listener_close(struct listener *l)
{
	for (size_t i = 0; i < l->count; i++)
		close(l->fds[i]);
	*l = (struct listener){0};
}

void listener_url(const struct listener *l, const char *host, struct buf *out)
{
	bool bare = strchr(host, ':') && host[0] != '[';

	buf_printf(
		out, "http://%s%s%s:%d", bare ? "[" : "", host, bare ? "]" : "", l->port);
}

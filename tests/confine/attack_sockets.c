/* attack_sockets.c - sockets that it would connect or make, and ways around the filter
 * (attacks.h). */
#include "tests/confine/attacks.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- sockets ---- */

static int connect_unix(const char *path, bool abstract)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return errno;
	snprintf(a.sun_path + abstract, sizeof(a.sun_path) - abstract, "%s", path);
	r = result(connect(fd, (struct sockaddr *)&a,
		(socklen_t)(sizeof(a.sun_family) + abstract + strlen(path) + !abstract)));
	close(fd);
	return r;
}
int attack_unix_path(void)
{
	return connect_unix(getenv("ATTACK_SOCKET"), false);
}
int attack_unix_abstract(void)
{
	const char *name = getenv("ATTACK_ABSTRACT");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, r = connect_unix(name, true);

	if (r != ECONNREFUSED)
		return r;
	/* Older releases of node fill the name up with NULs. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	r = result(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	return r;
}

int attack_session_bus(void)
{
	return connect_unix(getenv("ATTACK_BUS"), false);
}

/* In its folder of the bus. */
static void in_own_folder(char path[108], const char *name)
{
	snprintf(path, 108, "%.70s/%.15s/%.20s", getenv("PAIGE_RUNTIME_DIR"), worker,
		name);
}
int attack_by_link(void)
{
	char path[108];
	int r;

	in_own_folder(path, "link");
	r = result(symlink(getenv("ATTACK_SOCKET"), path));
	if (r == 0)
		r = connect_unix(path, false);
	unlink(path);
	return r;
}
int attack_by_dots(void)
{
	char path[108];

	in_own_folder(path, "../../bus");
	return connect_unix(path, false);
}
int attack_by_relative_path(void)
{
	int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), r;
	const char *path = getenv("ATTACK_SOCKET");

	if (chdir(getenv("ATTACK_ROOT")) < 0)
		return errno;
	r = connect_unix(strrchr(path, '/') + 1, false);
	if (fchdir(before) < 0)
		abort();
	close(before);
	return r;
}
int attack_by_descriptor(void)
{
	int fd = open(getenv("ATTACK_SOCKET"), O_PATH | O_CLOEXEC), r;
	char path[40];

	if (fd < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = connect_unix(path, false);
	close(fd);
	return r;
}

/* ---- other workers ---- */

/* Whom each neither calls nor hears. The gateway has to do with all. */
static const struct {
	const char *worker, *strangers[4];
} business[] = {
	{"store", {"gateway", "llm", "observer", "guard-engine"}},
	{"fswatch", {"gateway", "llm", "observer", "guard-engine"}},
	{"llm", {"gateway", "observer", "guard-engine"}},
	{"observer", {"gateway", "guard-engine"}},
	{"guard-engine", {"gateway", "fswatch", "observer"}},
	{"mirror", {"gateway", "fswatch", "llm", "guard-engine"}},
};

/* With a greeting, as of one that calls or subscribes. */
static int reach(const char *path, char protocol)
{
	const char greeting[8] = {0, 'S', 'P', 0, 0, protocol, 0, 0};
	const struct timeval wait = {5, 0};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char answer[sizeof(greeting)];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	error = result(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	if (error == 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		if (send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL) < 0 ||
			recv(fd, answer, sizeof(answer), MSG_WAITALL) !=
				(ssize_t)sizeof(answer))
			error = EPIPE;
	}
	close(fd);
	return error;
}
static int reach_stranger(const char *stranger, const char *socket, char protocol)
{
	char path[108];
	int r = ENOENT;

	snprintf(path, sizeof(path), "%.70s/%.15s/%s", getenv("PAIGE_RUNTIME_DIR"),
		stranger, socket);
	/* It may still be on its way to listen. */
	for (int i = 0; i < 1000 && (r == ENOENT || r == ECONNREFUSED); i++) {
		r = reach(path, protocol);
		if (r == ENOENT || r == ECONNREFUSED)
			usleep(10000);
	}
	return r;
}
int attack_strangers(void)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(business) / sizeof(business[0]); i++) {
		if (strcmp(business[i].worker, worker) != 0)
			continue;
		for (size_t n = 0; n < 4 && business[i].strangers[n]; n++) {
			const char *stranger = business[i].strangers[n];
			int calls = reach_stranger(stranger, "rep", 0x30);
			int events = reach_stranger(stranger, "pub", 0x21);

			if (calls == 0 || events == 0)
				return 0;
			r = calls != EPERM ? calls : events;
		}
	}
	return r;
}

/* ---- swapped while the call is looked at ---- */

#define SWAPS 200

static struct sockaddr_un swapped = {.sun_family = AF_UNIX};
static atomic_bool swapping;

static void *swap_address(void *arg)
{
	const char *const paths[] = {arg, getenv("ATTACK_SOCKET")};

	for (unsigned i = 0; swapping; i++)
		strcpy(swapped.sun_path, paths[i % 2]);
	return NULL;
}
static void *swap_file(void *arg)
{
	char names[2][108], rep[108];

	in_own_folder(names[0], "1");
	in_own_folder(names[1], "2");
	in_own_folder(rep, "rep");
	while (swapping) {
		if (symlink(getenv("ATTACK_SOCKET"), names[0]) == 0)
			(void)rename(names[0], arg);
		if (link(rep, names[1]) == 0)
			(void)rename(names[1], arg);
	}
	unlink(arg);
	return NULL;
}

/* 0 when one of many connections led to the foreign socket. */
static int connect_often(void *(*swap)(void *arg), char *path)
{
	int r = EPERM;
	pthread_t thread;

	strcpy(swapped.sun_path, path);
	swapping = true;
	if (pthread_create(&thread, NULL, swap, path) != 0)
		abort();
	for (int i = 0, tries = 0; i < SWAPS && tries < 20 * SWAPS && r != 0; tries++) {
		struct sockaddr_un peer = {0};
		socklen_t len = sizeof(peer) - 1;
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		errno = 0;
		if (connect(fd, (struct sockaddr *)&swapped, sizeof(swapped)) == 0 &&
			getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
			strcmp(peer.sun_path, getenv("ATTACK_SOCKET")) == 0)
			r = 0;
		/* With as many connections as a worker may have, nothing was tried. */
		if (errno == EUSERS)
			usleep(5000);
		else
			i++;
		close(fd);
	}
	swapping = false;
	pthread_join(thread, NULL);
	return r;
}
int attack_swapped_address(void)
{
	char path[108];

	in_own_folder(path, "rep");
	return connect_often(swap_address, path);
}
int attack_swapped_file(void)
{
	char path[108];

	in_own_folder(path, "0");
	return connect_often(swap_file, path);
}

/* ---- around the filter ---- */

int attack_datagram(void)
{
	return fd_result(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}
int attack_datagram_raw(void)
{
	return fd_result(socket(AF_UNIX, SOCK_RAW, 0));
}
int attack_datagram_pair(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
		return errno;
	close(ends[0]);
	close(ends[1]);
	return 0;
}
/* Whoever has the listener of the filter can answer for the supervisor. */
int attack_listener(void)
{
	uint64_t id = 0;

	for (int fd = 0; fd < 1024; fd++)
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 || errno == ENOENT)
			return 0;
	return EPERM;
}
int attack_own_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = {1, &allow};

	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return connect_unix(getenv("ATTACK_SOCKET"), false);
}

/* Asks the supervisor to stop; it answers a line when it obeys. */
int attack_control_socket(void)
{
	static const char ask[] = "{\"command\":\"status\"}\n";
	const struct timeval wait = {2, 0};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error = ENOENT;
	ssize_t n;
	char c;

	if (fd < 0)
		return errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/ctl.sock",
		getenv("PAIGE_RUNTIME_DIR"));
	/* The first workers are there before it, and before it listens. */
	for (int i = 0; i < 500 && error; i++) {
		error = connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? errno : 0;
		if (error != ENOENT && error != ECONNREFUSED)
			break;
		usleep(10000);
	}
	if (error) {
		close(fd);
		return error;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	n = send(fd, ask, sizeof(ask) - 1, MSG_NOSIGNAL);
	n = n < 0 ? n : recv(fd, &c, 1, 0);
	close(fd);
	return n == 1 ? 0 : EPERM;
}
static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}
int attack_tcp_connect(void)
{
	struct sockaddr_in a = loopback(tcp_port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return errno;
	r = result(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	return r;
}
int attack_tcp_listen(void)
{
	struct sockaddr_in a = loopback(0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r = EADDRINUSE;

	if (fd < 0)
		return errno;
	/* One that somebody has proves nothing. */
	for (int i = 0; i < 100; i++) {
		a.sin_port = htons((uint16_t)(20000 + (getpid() + 97 * i) % 20000));
		r = result(bind(fd, (struct sockaddr *)&a, sizeof(a)));
		if (r != EADDRINUSE)
			break;
	}
	close(fd);
	return r;
}
int attack_udp(void)
{
	return fd_result(socket(AF_INET, SOCK_DGRAM, 0));
}
int attack_vsock(void)
{
	return fd_result(socket(AF_VSOCK, SOCK_STREAM, 0));
}
int attack_alg(void)
{
	return fd_result(socket(AF_ALG, SOCK_SEQPACKET, 0));
}

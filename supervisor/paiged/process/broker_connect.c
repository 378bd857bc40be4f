/* broker_connect.c - see broker_connect.h. Called by broker.c on its thread. */
#include "supervisor/paiged/process/broker_connect.h"

#include "common/base/file_io.h"
#include "common/bus/rules/bus_folder.h"
#include "proto/tables/methods.h"
#include "proto/tables/topics.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool may_reach(enum worker_id self, enum worker_id other, const char *name)
{
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 ||
		strcmp(name, "..") == 0)
		return false;
	return self == other ||
	       (strcmp(name, BUS_CALLS_SOCKET) == 0 && method_called_by(self, other)) ||
	       (strcmp(name, BUS_EVENTS_SOCKET) == 0 && topic_heard_by(self, other, ""));
}

const char *broker_allowed(
	const struct broker_rules *rules, const char *path, enum worker_id *other)
{
	for (int i = 0; i < WORKER_COUNT; i++) {
		char folder[108];
		size_t len;

		*other = (enum worker_id)i;
		bus_folder(rules->runtime_dir, *other, folder);
		len = strlen(folder);
		if (strncmp(path, folder, len) == 0 && path[len] == '/')
			return may_reach(rules->self, *other, path + len + 1)
				       ? path + len + 1
				       : NULL;
	}
	return NULL;
}

/* A descriptor of the socket itself (O_PATH), or -errno. A link is refused: it may lead
 * anywhere, and a worker can make one in its folder. */
static int open_socket(const char *folder, const char *name)
{
	AUTO_FD directory = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = directory < 0 ? -1
			       : openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int error;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
		return fd;
	error = S_ISLNK(st.st_mode) ? -EPERM : -ECONNREFUSED;
	close(fd);
	return error;
}

/* By the descriptor, so that what was looked at is what is connected to. */
static int connect_unix(struct broker_rules *rules, int fd, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct broker_connections *open;
	enum worker_id other;
	const char *name = broker_allowed(rules, path, &other);
	char folder[108];
	AUTO_FD target = -1;

	if (!name)
		return -EPERM;
	bus_folder(rules->runtime_dir, other, folder);
	target = open_socket(folder, name);
	if (target < 0)
		return target;
	open = &rules->connections[other][strcmp(name, BUS_EVENTS_SOCKET) == 0];
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d", target);
	if (!broker_connections_room(open))
		return -BROKER_TOO_MANY;
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) != 0)
		return -errno;
	broker_connections_add(open, fd);
	return 0;
}

int broker_connect(struct broker_rules *rules, int fd, const struct sockaddr_storage *to,
	socklen_t len)
{
	char path[sizeof(struct sockaddr_un)] = {0};
	int domain = 0;
	socklen_t domain_len = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) != 0)
		return -errno;
	if (domain == AF_UNIX && to->ss_family == AF_UNIX &&
		len > offsetof(struct sockaddr_un, sun_path) &&
		len <= sizeof(struct sockaddr_un)) {
		/* Abstract names begin with a NUL: an empty path, which is in no folder. */
		memcpy(path, ((const struct sockaddr_un *)to)->sun_path,
			len - offsetof(struct sockaddr_un, sun_path));
		return connect_unix(rules, fd, path);
	}
	if (!rules->uses_network || (domain != AF_INET && domain != AF_INET6))
		return -EPERM;
	return connect(fd, (const struct sockaddr *)to, len) == 0 ? 0 : -errno;
}

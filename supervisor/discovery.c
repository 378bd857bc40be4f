/* discovery.c - see discovery.h. Called by daemon.c. */
#include "supervisor/discovery.h"

#include "proto/messages.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int write_file(const char *path, struct str text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t n;

	if (fd < 0)
		return -errno;
	errno = 0;
	n = write(fd, text.ptr, text.len);
	if (n != (ssize_t)text.len) {
		int error = errno ? -errno : -ENOSPC;

		close(fd);
		return error;
	}
	return close(fd) == 0 ? 0 : -errno;
}

int discovery_write(const char *data_dir, const struct discovery *d)
{
	char started_at[WALL_ISO_SIZE];
	char *path, *temporary;
	struct buf text = {0};
	int error;

	if (asprintf(&path, "%s/paiged.json", data_dir) < 0)
		return -ENOMEM;
	if (asprintf(&temporary, "%s.new", path) < 0) {
		free(path);
		return -ENOMEM;
	}
	wall_iso(d->started_at, started_at);
	proto_encode(discovery_file_type(),
		&(struct discovery_file){.pid = getpid(),
			.has_pid = true,
			.port = d->port,
			.has_port = true,
			.host = str_of(d->host),
			.url = str_of(d->url),
			.project_dir = str_of(d->project_dir),
			.started_at = str_of(started_at),
			.token = str_of(d->token)},
		&text);
	buf_add_char(&text, '\n');
	unlink(temporary); /* of a run that was killed; we hold the lock */
	error = write_file(temporary, buf_str(&text));
	if (!error && rename(temporary, path) != 0)
		error = -errno;
	if (error)
		unlink(temporary);
	buf_free(&text);
	free(temporary);
	free(path);
	return error;
}

void discovery_remove(const char *data_dir)
{
	char *path;

	if (asprintf(&path, "%s/paiged.json", data_dir) < 0)
		return;
	unlink(path);
	free(path);
}

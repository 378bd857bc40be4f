/* discovery.c - see discovery.h. Called by daemon.c. */
#include "supervisor/paiged/discovery.h"

#include "common/base/alloc.h"
#include "common/base/private_file.h"
#include "proto/codec/messages.h"
#include <unistd.h>

int discovery_write(const char *data_dir, const struct discovery *d)
{
	char started_at[WALL_ISO_SIZE];
	AUTO_FREE char *path = xasprintf("%s/paiged.json", data_dir);
	AUTO_BUF text = {0};

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
	return private_file_replace(path, buf_str(&text));
}

void discovery_remove(const char *data_dir)
{
	AUTO_FREE char *path = xasprintf("%s/paiged.json", data_dir);

	unlink(path);
}

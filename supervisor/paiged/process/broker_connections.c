/* broker_connections.c - see broker_connections.h. */
#include "supervisor/paiged/process/broker_connections.h"

#include <stdio.h>
#include <sys/stat.h>

/* Of all Unix sockets of the network namespace, which is that of the workers, too. */
#define SOCKETS_FILE "/proc/self/net/unix"

/* Forgets all that are not in the list. */
static void keep_open(struct broker_connections *c, FILE *list)
{
	ino_t open[BROKER_CONNECTIONS_MAX];
	unsigned count = 0;
	char line[256];

	/* A path, which somebody chose and which may hold ends of lines, can only make a
	 * socket seem open that is not. */
	while (fgets(line, sizeof(line), list)) {
		unsigned long inode;

		if (sscanf(line, "%*[0-9a-fA-F]: %*x %*x %*x %*x %*x %lu", &inode) != 1)
			continue;
		for (unsigned i = 0; i < c->count; i++)
			if (c->sockets[i] == inode && count < BROKER_CONNECTIONS_MAX)
				open[count++] = inode;
	}
	for (unsigned i = 0; i < count; i++)
		c->sockets[i] = open[i];
	c->count = count;
}

bool broker_connections_room(struct broker_connections *c)
{
	struct mono now = clock_mono();
	FILE *list;

	if (c->count < BROKER_CONNECTIONS_MAX)
		return true;
	if (c->looked.us != 0 &&
		mono_diff_ms(now, c->looked) < BROKER_CONNECTIONS_LOOK_MS)
		return false;
	c->looked = now;
	list = fopen(SOCKETS_FILE, "re");
	if (!list) {
		c->count = 0;
		return true;
	}
	keep_open(c, list);
	fclose(list);
	return c->count < BROKER_CONNECTIONS_MAX;
}

void broker_connections_add(struct broker_connections *c, int fd)
{
	struct stat st;

	if (c->count < BROKER_CONNECTIONS_MAX && fstat(fd, &st) == 0)
		c->sockets[c->count++] = st.st_ino;
}

/* tap.c - see tap.h. */
#include "supervisor/paiged/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Room for what the client has not read yet; more is dropped by the workers. */
#define PIPE_BYTES (1024 * 1024)

int tap_open(struct tap *tap, int *reader)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return -errno;
	/* As much as this user may have; the default does too. */
	(void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	*tap = (struct tap){.open = true, .fd = ends[1]};
	*reader = ends[0];
	return 0;
}

void tap_offer(struct tap *tap, struct process_table *ps)
{
	if (!tap->open)
		return;
	for (int i = 0; i < WORKER_COUNT; i++) {
		struct process *p = &ps->workers[i];

		if (p->policy.state == POLICY_READY && p->pid != tap->told[i] &&
			channel_send_tap(&p->channel, tap->fd))
			tap->told[i] = p->pid;
	}
}

void tap_close(struct tap *tap)
{
	if (tap->open)
		close(tap->fd);
	*tap = (struct tap){0};
}

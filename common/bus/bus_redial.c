/*
 * bus_redial.c - when a dialer of nng has given up, and is replaced.
 *
 * nng 1.5.2 stops dialing for ever when the owner dies between the connection and the
 * greeting. But a dialer that waits for the greeting must be left alone: to hang up then
 * makes the owner's listener deaf (bus_canary.c). A worker that starts makes a new socket,
 * and its dialers get REDIAL_MS from then on. Called by the ticks of bus_peer.c and
 * bus_subscribe.c, and more often after a connection is lost (bus.c).
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include <string.h>
#include <sys/stat.h>

/* Without a connection for this long while the owner's socket exists: dial anew. */
#define REDIAL_MS 1000

/* True if the socket is not the one that was there at the last look. */
static bool is_new(struct bus_redial *redial, const struct stat *found)
{
	if (found->st_ino == redial->ino &&
		found->st_ctim.tv_sec == redial->made.tv_sec &&
		found->st_ctim.tv_nsec == redial->made.tv_nsec)
		return false;
	redial->ino = found->st_ino;
	redial->made = found->st_ctim;
	return true;
}

void bus_redial_changed(struct bus_redial *redial)
{
	redial->down_since = clock_mono();
}

void bus_redial_tick(struct bus_redial *redial, struct bus_dialer *dialer,
	const char *path, struct mono now)
{
	struct stat found;
	int r;

	if (stat(path, &found) < 0)
		return;
	if (is_new(redial, &found))
		redial->down_since = now;
	if (mono_diff_ms(now, redial->down_since) < REDIAL_MS)
		return;
	redial->down_since = now;
	r = bus_dialer_redial(dialer);
	if (r < 0)
		log_warn("cannot dial a worker again", "socket", "%s", path, "error",
			"%s", strerror(-r), NULL);
}

/*
 * bus_dial.c - when an owner is dialed: when it has made its socket.
 *
 * nng 1.5.2 left to itself dials from a few milliseconds after a connection is lost until
 * there is another. Each of these tries costs a turn of the supervisor, which connects for a
 * confined worker, and two of nng's threads spin meanwhile. That was a third of the
 * processor time of a start and made it 1.5 times as long, on a quiet and on a busy machine.
 * And nng stops for ever when it meets an owner that dies between the connection and the
 * greeting. So its dialer ends with its connection (bus_nng.c), and a new one is made when
 * the owner has a new socket, or the same one for a while. A dialer that waits for the
 * greeting is left alone: to hang up then makes the owner's listener deaf (bus_canary.c).
 *
 * Called by the ticks of bus_peer.c and bus_subscribe.c, and more often after the start and
 * after a connection is lost (bus.c).
 */
#include "common/bus/bus_dial.h"
#include "common/base/log.h"
#include <string.h>

/* A connection was lost, and the owner's socket is the same: it did not end, or has ended
 * and is not there again yet. */
#define SAME_SOCKET_MS 200
/* nng dials for this long without a connection: it may have stopped for ever. */
#define DIALED_MS 1000

/* True if the socket is not the one that was there at the last look. */
static bool is_new(struct bus_dial *dial, const struct stat *found)
{
	if (found->st_ino == dial->ino && found->st_ctim.tv_sec == dial->made.tv_sec &&
		found->st_ctim.tv_nsec == dial->made.tv_nsec)
		return false;
	dial->ino = found->st_ino;
	dial->made = found->st_ctim;
	return true;
}

bool bus_dial_is_due(
	struct bus_dial *dial, const struct stat *found, bool dials, struct mono now)
{
	bool due;

	if (is_new(dial, found)) {
		due = !dials;
		dial->since = now;
	} else {
		due = mono_diff_ms(now, dial->since) >=
		      (dials ? DIALED_MS : SAME_SOCKET_MS);
	}
	if (due)
		dial->since = now;
	return due;
}

void bus_dial_changed(struct bus_dial *dial)
{
	dial->since = clock_mono();
}

void bus_dial_look(struct bus_dial *dial, struct bus_dialer *dialer, struct mono now)
{
	const char *path = bus_dialer_path(dialer);
	struct stat found;
	int r;

	if (stat(path, &found) < 0 ||
		!bus_dial_is_due(dial, &found, bus_dialer_dials(dialer), now))
		return;
	r = bus_dialer_dial(dialer);
	if (r < 0)
		log_warn("cannot dial a worker", "socket", "%s", path, "error", "%s",
			strerror(-r), NULL);
}

/*
 * attacks.c - a library that is loaded into a worker and tries, once the worker is
 * confined, what a worker that was taken over would try. confinement.test.mjs preloads it
 * into the programs of a real daemon.
 *
 * It runs when the worker begins its loop: on the loop's thread, then on one of nng's.
 * For each attack it writes a line "<thread> <attack> <errno, 0 when it succeeded>" to
 * ATTACK_DIR/<worker>.out. All it may damage lies in ATTACK_DIR/<worker>-<thread>.
 * ATTACK_SOCKET and ATTACK_BUS, the latter in XDG_RUNTIME_DIR, are sockets of somebody
 * else; ATTACK_ROOT is the directory of the former.
 * ATTACK_ABI: Landlock as on a kernel that offers no more than this ABI.
 */
#include "tests/confine/attacks.h"
#include <dlfcn.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <nng/nng.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int out_fd = -1;
char place[300];
char worker[32];
pid_t victim;
int tcp_port;

const char *at(const char *directory, const char *name)
{
	static char paths[4][500];
	static unsigned n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

int fd_result(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int result(long r)
{
	return r < 0 ? errno : 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} attacks[] = {
#define ATTACK(name, fn) {name, attack_##fn},
#include "tests/confine/attacks.def"
#undef ATTACK
};

static void attack(const char *thread)
{
	char line[120];

	snprintf(place, sizeof(place), "%s/%s-%s", getenv("ATTACK_DIR"), worker, thread);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		int r = attacks[i].run();
		int n = snprintf(
			line, sizeof(line), "%s %s %d\n", thread, attacks[i].name, r);

		if (write(out_fd, line, (size_t)n) != n)
			abort();
	}
}

static void on_nng_thread(void *arg)
{
	(void)arg;
	attack("nng");
	if (write(out_fd, "done\n", 5) != 5)
		abort();
}

/* ---- where it gets in ---- */

__attribute__((constructor)) static void load(void)
{
	const char *name = getenv("PAIGE_WORKER"), *dir = getenv("ATTACK_DIR");
	char path[400];

	if (!name || !dir)
		return;
	snprintf(worker, sizeof(worker), "%s", name);
	victim = atoi(getenv("ATTACK_VICTIM"));
	tcp_port = atoi(getenv("ATTACK_PORT"));
	snprintf(path, sizeof(path), "%s/%s.out", dir, name);
	out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* The next function of this name; `function` points to a pointer to one. */
static void find(const char *name, void *function)
{
	void *next = dlsym(RTLD_NEXT, name);

	memcpy(function, &next, sizeof(next));
}

int event_base_dispatch(struct event_base *base)
{
	int (*real)(struct event_base *);
	static bool done;
	nng_aio *aio;

	find("event_base_dispatch", &real);
	if (out_fd >= 0 && !done) {
		done = true;
		attack("loop");
		if (nng_aio_alloc(&aio, on_nng_thread, NULL) != 0)
			abort();
		nng_sleep_aio(1, aio);
	}
	return real(base);
}

/* Landlock's ABI as the worker sees it. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	const char *abi = getenv("ATTACK_ABI");
	long a[6], r;
	va_list args;

	if (!real)
		find("syscall", &real);
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	r = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_landlock_create_ruleset && a[0] == 0 && a[2] == 1 && abi &&
		r > atol(abi))
		return atol(abi);
	return r;
}

/*
 * worker_probe.c - a worker under the contract that tells, as its detail, what it may do:
 *
 *   {"read_outside":errno,"write_outside":..,"write_inside":..,"exec":..,"reloaded":".."}
 *
 * It may write in DATA_DIR and start nothing. PROBE=exit78 ends init with that code,
 * PROBE=later is ready half a second after init, PROBE=stuck never returns from RELOAD,
 * PROBE=deaf has no handler for its method, PROBE=blocked never returns from init.
 */
#include "common/base/log.h"
#include "common/worker/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char inside[4200];

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int try_exec(void)
{
	int status = 0;
	pid_t child = fork();

	if (child < 0)
		return errno;
	if (child == 0) {
		execl("/bin/true", "true", NULL);
		_exit(errno);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void tell(struct worker *w, const char *reloaded)
{
	char text[400];
	int n = snprintf(text, sizeof(text),
		"{\"read_outside\":%d,\"write_outside\":%d,\"write_inside\":%d,\"exec\":%"
		"d,"
		"\"reloaded\":\"%s\"}",
		try_open("/etc/passwd", O_RDONLY),
		try_open("/tmp/paige-probe-outside", O_CREAT | O_WRONLY),
		try_open(inside, O_CREAT | O_WRONLY), try_exec(), reloaded);

	worker_set_detail(w, (struct str){text, (size_t)n});
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	worker_ready(w);
	tell(w, "");
}

static void serve(void *arg, struct bus_request *request, const void *message)
{
	(void)arg;
	(void)message;
	bus_answer(request, (struct str){0});
}

static int init(struct worker *w)
{
	const char *probe = getenv("PROBE");
	struct timeval later = {0, probe && strcmp(probe, "later") == 0 ? 500000 : 0};

	if (probe && strcmp(probe, "exit78") == 0) {
		log_error("the probe was told so", NULL);
		return WORKER_EXIT_CONFIG;
	}
	if (probe && strcmp(probe, "blocked") == 0) {
		log_info("init blocks", NULL);
		for (;;)
			pause();
	}
	/* Every method of the observer, in whose name it speaks; the library serves what it counts. */
	for (int m = 0; m < METHOD_COUNT && (!probe || strcmp(probe, "deaf") != 0); m++)
		if (method_infos[m].owner == WORKER_OBSERVER &&
			m != METHOD_OBSERVER_METRICS)
			bus_serve(w->bus, (enum method)m, serve, w);
	snprintf(inside, sizeof(inside), "%s/probe", w->settings->data_dir);
	return event_base_once(w->base, -1, EV_TIMEOUT, on_ready, w, &later) < 0
		       ? WORKER_EXIT_INTERNAL
		       : 0;
}

static void confine(struct worker *w, struct confinement *c)
{
	c->read_write[0] = w->settings->data_dir;
}

static void reload(struct worker *w)
{
	const char *probe = getenv("PROBE");

	while (probe && strcmp(probe, "stuck") == 0)
		pause();
	tell(w, w->settings->model_haiku);
}

static void fleet(struct worker *w, struct str json)
{
	worker_set_condition(w, WORKER_DEGRADED, json.len > 2 ? "fleet" : "empty");
}

static const struct worker_spec spec = {
	.id = WORKER_OBSERVER,
	.init = init,
	.confine = confine,
	.reload = reload,
	.fleet = fleet,
	.ready_later = true,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}

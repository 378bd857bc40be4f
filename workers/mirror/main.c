/*
 * main.c - paige-mirror, the worker that carries what the learner did to PostgreSQL (MIRROR_URL). With --schema it prints the
 * statement that makes the schema, for whoever owns the database; with --learner, for paigectl, what PostgreSQL has of the learner.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "workers/mirror/learner.h"
#include "workers/mirror/mirror.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char schema_sql[];

static struct mirror mirror;

static int init(struct worker *w)
{
	AUTO_FREE char *problem = server_check_url(w->settings->mirror_url);

	if (problem) {
		log_error("MIRROR_URL cannot be used", "problem", "%s", problem, NULL);
		return WORKER_EXIT_CONFIG;
	}
	mirror.worker = w;
	mirror.server = server_new(w->base, w->settings->mirror_url);
	if (!mirror.server)
		return WORKER_EXIT_INTERNAL;
	mirror_begin(&mirror);
	return WORKER_EXIT_OK;
}

/* It reaches the server; of files it reads what names, TLS and MIRROR_URL need. */
static void confine(struct worker *w, struct confinement *c)
{
	static const char *const system[] = {"/etc", "/usr", "/lib", "/lib64",
		"/run/NetworkManager", "/run/resolvconf", "/run/systemd/resolve"};
	static char *files[SERVER_FILES_MAX + 1];
	size_t count = sizeof(system) / sizeof(system[0]);

	server_files(w->settings->mirror_url, files);
	c->uses_network = true;
	memcpy(c->read_only, system, sizeof(system));
	for (size_t i = 0; files[i]; i++)
		c->read_only[count++] = files[i];
}

static const struct worker_spec spec = {
	.id = WORKER_MIRROR,
	.init = init,
	.confine = confine,
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--schema") == 0) {
		printf("%s;\n", schema_sql);
		return EXIT_SUCCESS;
	}
	if (argc == 2 && strcmp(argv[1], "--learner") == 0)
		return learner_print(getenv("MIRROR_URL"));
	return worker_main(&spec, argc, argv);
}

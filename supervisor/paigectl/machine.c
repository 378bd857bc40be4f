/*
 * machine.c - all daemons of this machine; see paigectl.h. Called by client.c and
 * command_list.c.
 *
 * The kernel names every socket that somebody listens on, so no directory has to be
 * guessed. A stranger may listen on such a name, too: what he says of himself is shown
 * under the name of the user that the kernel knows, and acted upon only by that user, or
 * by root where systemd vouches for the process.
 */
#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "supervisor/paigectl/paigectl.h"
#include "supervisor/shared/places.h"
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#define LISTENING 0x10000 /* __SO_ACCEPTCON, which is not exported */
#define ANSWER_MS 2000
#define LOOK_MS 6000 /* for all of them */
#define DIRECTORY_PREFIX "paige"

static struct str user_name(uid_t uid, struct arena *a)
{
	const struct passwd *user = getpwuid(uid);

	return user ? arena_str(a, str_of(user->pw_name))
		    : arena_printf(a, "%u", (unsigned)uid);
}

/* The service that runs the process; absent when it is none, as in a terminal. */
static struct str unit_of(pid_t pid, struct arena *a)
{
	struct str unit = {0};
	AUTO_FREE char *name = NULL;
	size_t len;

	if (pid <= 0 ||
		(sd_pid_get_user_unit(pid, &name) < 0 && sd_pid_get_unit(pid, &name) < 0))
		return unit;
	len = strlen(name);
	if (len > 8 && strcmp(name + len - 8, ".service") == 0)
		unit = arena_str(a, str_of(name));
	return unit;
}

/* Whether the directory that it names as its own is. */
static bool owns(uid_t uid, struct str path)
{
	struct stat st;
	AUTO_FREE char *copy = xstrndup(path.ptr, path.len);

	return stat(copy, &st) == 0 && st.st_uid == uid;
}

static void add_status(struct machine *m, const struct ctl_status *s,
	const struct ucred *peer, const char *dir)
{
	struct machine_entry *e = &m->items[m->count++];
	struct arena *a = &m->arena;

	e->shown = (struct machine_daemon){.user = user_name(peer->uid, a),
		.unit = unit_of(peer->pid, a),
		.pid = peer->pid,
		.has_pid = peer->pid > 0,
		.port = s->port,
		.has_port = true,
		.url = s->url,
		.state = s->state,
		.project_dir = s->project_dir,
		.data_dir = s->data_dir,
		.runtime_dir = arena_str(a, str_of(dir))};
	e->config_file = s->config_file;
	e->session = s->session;
	e->ours = (peer->uid == geteuid() || (geteuid() == 0 && e->shown.unit.len > 0)) &&
		  owns(peer->uid, s->data_dir);
}

/* One that does not answer is only known by its directory. */
static void add_silent(struct machine *m, int error, const char *dir, uid_t uid)
{
	const char *base = strrchr(dir, '/') + 1;
	bool private = error == -EACCES || error == -ECONNRESET || error == -EPIPE;

	if (strncmp(base, DIRECTORY_PREFIX, strlen(DIRECTORY_PREFIX)) != 0 ||
		!(private || error == -ETIMEDOUT || error == -EAGAIN))
		return;
	m->items[m->count++].shown =
		(struct machine_daemon){.user = user_name(uid, &m->arena),
			.state = private ? STR_LIT("private") : STR_LIT("silent"),
			.runtime_dir = arena_str(&m->arena, str_of(dir))};
}

/* Whose the directory is or, where we may not look at it, the nearest one above it: for
 * each user there is one in /run/user. False when it is gone. */
static bool owner_of(const char *dir, uid_t *uid)
{
	char path[108];
	struct stat st;

	snprintf(path, sizeof(path), "%s", dir);
	while (stat(path, &st) != 0) {
		char *slash = strrchr(path, '/');

		if (errno != EACCES || !slash || slash == path)
			return false;
		*slash = '\0';
	}
	*uid = st.st_uid;
	return true;
}

static void look_at(struct machine *m, const char *dir, int limit_ms)
{
	const struct str request = STR_LIT("{\"command\":\"status\"}");
	struct ctl_status status;
	struct proto_error problem;
	struct ucred peer = {0};
	AUTO_DOC *doc = NULL;
	uid_t owner;
	int error;

	if (!owner_of(dir, &owner))
		return;
	error = client_try(dir, request, limit_ms, &peer, &doc);
	if (error)
		add_silent(m, error, dir, owner);
	else if (proto_decode(ctl_status_type(), yyjson_doc_get_root(doc), "status",
			 DECODE_LENIENT, &m->arena, &status, &problem) == 0) {
		status.url = arena_str(&m->arena, status.url);
		status.state = arena_str(&m->arena, status.state);
		status.project_dir = arena_str(&m->arena, status.project_dir);
		status.data_dir = arena_str(&m->arena, status.data_dir);
		if (status.session.ptr)
			status.session = arena_str(&m->arena, status.session);
		if (status.config_file.ptr)
			status.config_file = arena_str(&m->arena, status.config_file);
		add_status(m, &status, &peer, dir);
	}
}

/* A line of /proc/net/unix. The directory of a control socket that is listened on, cut
 * out of the line; or NULL. */
static char *control_directory(char *line)
{
	static const char name[] = "/" CTL_SOCKET;
	unsigned flags;
	char *path = strchr(line, '/');
	size_t len = path ? strcspn(path, "\n") : 0;

	if (len < sizeof(name) || len >= 108 ||
		memcmp(path + len - (sizeof(name) - 1), name, sizeof(name) - 1) != 0 ||
		sscanf(line, "%*s %*s %*s %x", &flags) != 1 || !(flags & LISTENING))
		return NULL;
	path[len - (sizeof(name) - 1)] = '\0';
	return path;
}

static int by_user(const void *left, const void *right)
{
	const struct machine_daemon *a = &((const struct machine_entry *)left)->shown;
	const struct machine_daemon *b = &((const struct machine_entry *)right)->shown;
	int order = strcmp(a->user.ptr, b->user.ptr);

	return order ? order : strcmp(a->runtime_dir.ptr, b->runtime_dir.ptr);
}

void machine_look(struct machine *m)
{
	struct mono end = mono_add_ms(clock_mono(), LOOK_MS);
	FILE *file = fopen("/proc/net/unix", "re");
	AUTO_FREE char *line = NULL;
	size_t room = 0;

	*m = (struct machine){0};
	while (file && m->count < MACHINE_MAX && getline(&line, &room, file) > 0) {
		int64_t left = mono_diff_ms(end, clock_mono());
		const char *dir = control_directory(line);

		if (left <= 0)
			break;
		if (dir)
			look_at(m, dir, left < ANSWER_MS ? (int)left : ANSWER_MS);
	}
	if (file)
		fclose(file);
	qsort(m->items, m->count, sizeof(m->items[0]), by_user);
}

/* The nearest directory above the path that exists, without links. */
static char *real_directory(const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	char *real, *slash;

	while (!(real = realpath(copy, NULL)) && (slash = strrchr(copy, '/')) &&
		slash != copy)
		*slash = '\0';
	return real;
}

const struct machine_entry *machine_of_project(const struct machine *m, const char *path)
{
	const struct machine_entry *found = NULL;
	AUTO_FREE char *real = real_directory(path);

	for (size_t i = 0; real && i < m->count; i++) {
		const struct machine_entry *e = &m->items[i];
		size_t len = e->shown.project_dir.len;

		/* Of projects within each other, the innermost. */
		if (e->ours && len > 0 &&
			str_starts(str_of(real), e->shown.project_dir.ptr) &&
			(real[len] == '/' || real[len] == '\0') &&
			(!found || len > found->shown.project_dir.len))
			found = e;
	}
	return found;
}

void machine_free(struct machine *m)
{
	arena_free(&m->arena);
}

static int several(const struct machine *m)
{
	paigectl_fail(PAIGECTL_FAILED,
		"several daemons run here; say which one by DATA_DIR, or by --config:");
	for (size_t i = 0; i < m->count; i++) {
		const struct machine_daemon *d = &m->items[i].shown;
		AUTO_BUF shown = {0};

		if (!m->items[i].ours)
			continue;
		terminal_add_shown(&shown, d->data_dir);
		fprintf(stderr, "  DATA_DIR=%.*s  (%.*s, port %d)\n",
			STR_ARG(buf_str(&shown)),
			STR_ARG(d->unit.len ? d->unit : d->user), (int)d->port);
	}
	return PAIGECTL_FAILED;
}

void machine_place(const struct machine_entry *entry, struct daemon_place *place)
{
	const struct machine_daemon *d = &entry->shown;

	free(place->data_dir);
	place->data_dir = xstrndup(d->data_dir.ptr, d->data_dir.len);
	place->pid = (pid_t)d->pid;
	snprintf(place->runtime_dir, sizeof(place->runtime_dir), "%.*s",
		STR_ARG(d->runtime_dir));
}

int machine_find(const char *config_file, struct daemon_place *place)
{
	AUTO_FREE char *path = config_file ? realpath(config_file, NULL) : NULL;
	const struct machine_entry *found = NULL;
	struct machine m;
	int code = 0;

	machine_look(&m);
	for (size_t i = 0; i < m.count && code == 0; i++) {
		const struct machine_entry *e = &m.items[i];

		if (!e->ours || (config_file && !(path && str_is(e->config_file, path))))
			continue;
		if (found)
			code = several(&m);
		found = e;
	}
	if (found && code == 0)
		machine_place(found, place);
	machine_free(&m);
	return code;
}

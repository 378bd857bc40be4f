/*
 * confine.c - Landlock (confine.h). Called by worker.c after init and before nng makes
 * its threads.
 *
 * The kernel's numbers are written out here: the headers of the oldest system that Paige
 * is built on know less than the kernels that it runs on.
 */
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/confine/confine_private.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the kernel's interface ---- */

#define RULE_PATH_BENEATH 1

struct ruleset {
	uint64_t files, network, scopes; /* rights that are denied unless a rule allows */
};

/* <linux/landlock.h> packs it, too. */
struct path_rule {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_CHAR = 1 << 6,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	MAKE_SOCK = 1 << 9,
	MAKE_FIFO = 1 << 10,
	MAKE_BLOCK = 1 << 11,
	MAKE_SYM = 1 << 12,
	REFER = 1 << 13,
	TRUNCATE = 1 << 14,
	IOCTL_DEV = 1 << 15,
	RESOLVE_UNIX = 1 << 16,
};

#define BIND_TCP 1u
#define CONNECT_TCP 2u
#define SCOPE_ABSTRACT_UNIX_SOCKET 1u
#define SCOPE_SIGNAL 2u

/* What may be allowed for a file that is not a directory. */
#define OF_ONE_FILE                                                                      \
	(EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX)
#define TO_READ (READ_FILE | READ_DIR)
#define TO_WRITE                                                                         \
	(TO_READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG |         \
		MAKE_SYM | REFER | TRUNCATE)
#define TO_LISTEN (TO_WRITE | MAKE_SOCK | RESOLVE_UNIX)

/* Everything that the kernel can deny, but for what the worker is for. */
static struct ruleset ruleset_for(const struct confinement *c, int abi)
{
	struct ruleset r = {.files = MAKE_SYM | (MAKE_SYM - 1)};

	/* Without this one files may not move between directories at all. */
	if (abi >= 2)
		r.files |= REFER;
	if (abi >= 3)
		r.files |= TRUNCATE;
	if (abi >= 4)
		r.network = c->uses_network ? BIND_TCP : BIND_TCP | CONNECT_TCP;
	if (abi >= 5)
		r.files |= IOCTL_DEV;
	if (abi >= 6)
		r.scopes = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	if (abi >= 9)
		r.files |= RESOLVE_UNIX;
	return r;
}

/* ---- rules ---- */

struct rules {
	int fd;
	uint64_t handled;
};

static void allow(const struct rules *r, const char *path, uint64_t rights)
{
	struct path_rule rule = {.allowed = rights & r->handled};
	struct stat st;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0 && errno == ENOENT)
		return;
	if (rule.parent_fd < 0 || fstat(rule.parent_fd, &st) < 0)
		goto failed;
	if (!S_ISDIR(st.st_mode))
		rule.allowed &= OF_ONE_FILE;
	/* A rule that allows nothing is an error. */
	if (rule.allowed &&
		syscall(SYS_landlock_add_rule, r->fd, RULE_PATH_BENEATH, &rule, 0) < 0)
		goto failed;
	close(rule.parent_fd);
	return;
failed:
	log_warn("cannot be allowed", "path", "%s", path, "error", "%s", strerror(errno),
		NULL);
	if (rule.parent_fd >= 0)
		close(rule.parent_fd);
}

static void allow_all(const struct rules *r, const struct confinement *c,
	const struct confine_sockets *sockets)
{
	allow(r, sockets->own, TO_LISTEN);
	for (int i = 0; i < CONFINE_MAX_PATHS && sockets->others[i]; i++)
		allow(r, sockets->others[i], RESOLVE_UNIX);
	for (int i = 0; i < CONFINE_MAX_PATHS && c->read_write[i]; i++)
		allow(r, c->read_write[i], TO_WRITE);
	for (int i = 0; i < CONFINE_MAX_PATHS && c->read_only[i]; i++)
		allow(r, c->read_only[i], TO_READ);
}

static bool apply_landlock(
	const struct confinement *c, const struct confine_sockets *sockets)
{
	int abi = confine_landlock_abi();
	struct ruleset set = ruleset_for(c, abi);
	struct rules rules = {.handled = set.files};
	long r;

	if (abi == 0)
		return false;
	/* An older kernel takes what it does not know when it is 0. */
	rules.fd = (int)syscall(SYS_landlock_create_ruleset, &set, sizeof(set), 0);
	if (rules.fd < 0)
		return false;
	allow_all(&rules, c, sockets);
	r = syscall(SYS_landlock_restrict_self, rules.fd, 0);
	close(rules.fd);
	return r == 0;
}

/* ---- both ---- */

static size_t count_threads(void)
{
	AUTO_DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t count = 0;

	while (tasks && (entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	return count;
}

const char *confine_apply(
	const struct confinement *c, const struct confine_sockets *sockets, int *connects)
{
	size_t threads = count_threads();
	bool files, calls;

	if (connects)
		*connects = -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return "none";
	files = apply_landlock(c, sockets);
	if (files && threads > 1) {
		log_error("a thread was made before confinement and may touch any file",
			"threads", "%zu", threads, NULL);
		files = false;
	}
	calls = confine_system_calls(c, connects);
	if (files && calls)
		return "landlock+seccomp";
	return files ? "landlock" : calls ? "seccomp" : "none";
}

/*
 * confine.c - Landlock and seccomp (confine.h). Called by worker.c after init and before
 * nng makes its threads: Landlock holds for the calling thread and those made later.
 *
 * Landlock denies every file below no listed directory. Seccomp denies starting programs
 * and what no worker needs; it covers all threads.
 */
#include "common/confine.h"
#include "common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Landlock ---- */

#define ACCESS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_FILE                                                                      \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |                  \
		LANDLOCK_ACCESS_FS_EXECUTE)
#define ACCESS_ALL_1                                                                     \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                    \
		LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |             \
		LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |         \
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |             \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |             \
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |           \
		LANDLOCK_ACCESS_FS_MAKE_SYM)
#ifdef LANDLOCK_ACCESS_FS_REFER
#define ACCESS_REFER LANDLOCK_ACCESS_FS_REFER
#else
#define ACCESS_REFER 0
#endif

static int ruleset_new(__u64 *handled)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = ACCESS_ALL_1};
	long version = syscall(
		SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (version < 1)
		return -1;
	/* Without this right in the set, files may not move between directories at all.
	 */
	if (version >= 2)
		attr.handled_access_fs |= ACCESS_REFER;
	*handled = attr.handled_access_fs;
	return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

static void allow(int ruleset, const char *path, __u64 access)
{
	struct landlock_path_beneath_attr attr = {.allowed_access = access};
	struct stat st;

	attr.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (attr.parent_fd < 0 || fstat(attr.parent_fd, &st) < 0) {
		log_warn("cannot be allowed", "path", "%s", path, "error", "%s",
			strerror(errno), NULL);
		return;
	}
	if (!S_ISDIR(st.st_mode))
		attr.allowed_access &= ACCESS_FILE;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr,
		    0) < 0)
		log_warn("cannot be allowed", "path", "%s", path, "error", "%s",
			strerror(errno), NULL);
	close(attr.parent_fd);
}

static bool apply_landlock(const struct confinement *c, const char *runtime_dir)
{
	const __u64 exec = c->may_exec ? LANDLOCK_ACCESS_FS_EXECUTE : 0;
	__u64 handled;
	int ruleset = ruleset_new(&handled);
	long r;

	if (ruleset < 0)
		return false;
	handled &= ~(__u64)LANDLOCK_ACCESS_FS_EXECUTE;
	allow(ruleset, runtime_dir, handled);
	for (int i = 0; i < CONFINE_MAX_PATHS; i++) {
		if (c->read_write[i])
			allow(ruleset, c->read_write[i], handled | exec);
		if (c->read_only[i])
			allow(ruleset, c->read_only[i], ACCESS_READ | exec);
	}
	r = syscall(SYS_landlock_restrict_self, ruleset, 0);
	close(ruleset);
	return r == 0;
}

/* ---- seccomp ---- */

static const int never[] = {
	SCMP_SYS(acct),
	SCMP_SYS(add_key),
	SCMP_SYS(bpf),
	SCMP_SYS(chroot),
	SCMP_SYS(delete_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fsopen),
	SCMP_SYS(init_module),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(kexec_load),
	SCMP_SYS(keyctl),
	SCMP_SYS(mount),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(open_tree),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(pivot_root),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(ptrace),
	SCMP_SYS(quotactl),
	SCMP_SYS(reboot),
	SCMP_SYS(request_key),
	SCMP_SYS(setns),
	SCMP_SYS(swapoff),
	SCMP_SYS(swapon),
	SCMP_SYS(umount2),
	SCMP_SYS(unshare),
	SCMP_SYS(userfaultfd),
};

/* What a started program may want, and a worker that starts none does not. */
static const int never_without_exec[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(io_uring_setup),
};

static bool deny(scmp_filter_ctx filter, const int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);

		/* A call that this architecture lacks needs no rule. */
		if (r < 0 && r != -EDOM && r != -EFAULT)
			return false;
	}
	return true;
}

static bool apply_seccomp(bool may_exec)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	bool done;

	if (!filter)
		return false;
	done = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
	       deny(filter, never, sizeof(never) / sizeof(never[0])) &&
	       (may_exec || deny(filter, never_without_exec,
				    sizeof(never_without_exec) /
					    sizeof(never_without_exec[0]))) &&
	       seccomp_load(filter) == 0;
	seccomp_release(filter);
	return done;
}

const char *confine_apply(const struct confinement *c, const char *runtime_dir)
{
	bool files, calls;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return "none";
	files = apply_landlock(c, runtime_dir);
	calls = apply_seccomp(c->may_exec);
	if (files && calls)
		return "landlock+seccomp";
	return files ? "landlock" : calls ? "seccomp" : "none";
}

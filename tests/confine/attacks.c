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
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <nng/nng.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int out_fd = -1;
static char place[300]; /* of this worker and thread */
static char worker[32];
static pid_t victim;
static int tcp_port;

#define OWN(name) at(place, name)

static const char *at(const char *directory, const char *name)
{
	static char paths[4][500];
	static unsigned n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

/* 0 when the call succeeded, closing what it opened; else its errno. */
static int fd_result(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int result(long r)
{
	return r < 0 ? errno : 0;
}

/* ---- files ---- */

static int read_file(void)
{
	return fd_result(open(OWN("file"), O_RDONLY));
}
static int read_ssh(void)
{
	return fd_result(open(at(getenv("HOME"), ".ssh/id"), O_RDONLY));
}
static int read_proc(void)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)victim);
	return fd_result(open(path, O_RDONLY));
}
static int list(void)
{
	return fd_result(open(place, O_RDONLY | O_DIRECTORY));
}
static int write_file(void)
{
	return fd_result(open(OWN("file"), O_WRONLY));
}
static int empty_by_open(void)
{
	return fd_result(open(OWN("file"), O_RDONLY | O_TRUNC));
}
static int truncate_file(void)
{
	return result(truncate(OWN("file"), 0));
}
static int create(void)
{
	return fd_result(open(OWN("new"), O_CREAT | O_WRONLY, 0600));
}
static int make_directory(void)
{
	return result(mkdir(OWN("dir"), 0700));
}
static int make_link(void)
{
	return result(link(OWN("file"), OWN("linked")));
}
static int make_symlink(void)
{
	return result(symlink("file", OWN("symlink")));
}
static int rename_file(void)
{
	return result(rename(OWN("rename"), OWN("renamed")));
}
static int remove_file(void)
{
	return result(unlink(OWN("remove")));
}
static int mode(void)
{
	return result(chmod(OWN("file"), 0644));
}
static int mode_at(void)
{
	return result(fchmodat(AT_FDCWD, OWN("file"), 0644, 0));
}
static int mode_at2(void)
{
	return result(syscall(452, AT_FDCWD, OWN("file"), 0644, 0));
}
static int owner(void)
{
	return result(chown(OWN("file"), getuid(), getgid()));
}
static int owner_link(void)
{
	return result(lchown(OWN("file"), getuid(), getgid()));
}
static int attribute(void)
{
	return result(setxattr(OWN("file"), "user.x", "y", 1, 0));
}
static int attribute_at(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = {(uintptr_t) "y", 1, 0};

	return result(
		syscall(463, AT_FDCWD, OWN("file"), 0, "user.x", &args, sizeof(args)));
}
static int attribute_off(void)
{
	return result(removexattr(OWN("file"), "user.there"));
}
static int times(void)
{
	return result(utimensat(AT_FDCWD, OWN("file"), NULL, 0));
}
static int others_folder(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s/attack", getenv("PAIGE_RUNTIME_DIR"),
		strcmp(worker, "observer") == 0 ? "store" : "observer");
	return fd_result(open(path, O_CREAT | O_WRONLY, 0600));
}
static int stores_data(void)
{
	return fd_result(open(at(getenv("DATA_DIR"), "kept"), O_RDONLY));
}
static int read_token(void)
{
	return fd_result(open(at(getenv("DATA_DIR"), "token"), O_RDONLY));
}
static int read_project(void)
{
	return fd_result(open(at(getenv("PROJECT_DIR"), "README.md"), O_RDONLY));
}

/* ---- sockets ---- */

static int connect_unix(const char *path, bool abstract)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return errno;
	snprintf(a.sun_path + abstract, sizeof(a.sun_path) - abstract, "%s", path);
	r = result(connect(fd, (struct sockaddr *)&a,
		(socklen_t)(sizeof(a.sun_family) + abstract + strlen(path) + !abstract)));
	close(fd);
	return r;
}
static int unix_path(void)
{
	return connect_unix(getenv("ATTACK_SOCKET"), false);
}
static int unix_abstract(void)
{
	const char *name = getenv("ATTACK_ABSTRACT");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, r = connect_unix(name, true);

	if (r != ECONNREFUSED)
		return r;
	/* Older releases of node fill the name up with NULs. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	r = result(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	return r;
}

static int session_bus(void)
{
	return connect_unix(getenv("ATTACK_BUS"), false);
}

/* In its folder of the bus. */
static void in_own_folder(char path[108], const char *name)
{
	snprintf(path, 108, "%.70s/%.15s/%.20s", getenv("PAIGE_RUNTIME_DIR"), worker,
		name);
}
static int by_link(void)
{
	char path[108];
	int r;

	in_own_folder(path, "link");
	r = result(symlink(getenv("ATTACK_SOCKET"), path));
	if (r == 0)
		r = connect_unix(path, false);
	unlink(path);
	return r;
}
static int by_dots(void)
{
	char path[108];

	in_own_folder(path, "../../bus");
	return connect_unix(path, false);
}
static int by_relative_path(void)
{
	int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), r;
	const char *path = getenv("ATTACK_SOCKET");

	if (chdir(getenv("ATTACK_ROOT")) < 0)
		return errno;
	r = connect_unix(strrchr(path, '/') + 1, false);
	if (fchdir(before) < 0)
		abort();
	close(before);
	return r;
}
static int by_descriptor(void)
{
	int fd = open(getenv("ATTACK_SOCKET"), O_PATH | O_CLOEXEC), r;
	char path[40];

	if (fd < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = connect_unix(path, false);
	close(fd);
	return r;
}

/* ---- swapped while the call is looked at ---- */

#define SWAPS 200

static struct sockaddr_un swapped = {.sun_family = AF_UNIX};
static atomic_bool swapping;

static void *swap_address(void *arg)
{
	const char *const paths[] = {arg, getenv("ATTACK_SOCKET")};

	for (unsigned i = 0; swapping; i++)
		strcpy(swapped.sun_path, paths[i % 2]);
	return NULL;
}
static void *swap_file(void *arg)
{
	char names[2][108], rep[108];

	in_own_folder(names[0], "1");
	in_own_folder(names[1], "2");
	in_own_folder(rep, "rep");
	while (swapping) {
		if (symlink(getenv("ATTACK_SOCKET"), names[0]) == 0)
			(void)rename(names[0], arg);
		if (link(rep, names[1]) == 0)
			(void)rename(names[1], arg);
	}
	unlink(arg);
	return NULL;
}

/* 0 when one of many connections led to the foreign socket. */
static int connect_often(void *(*swap)(void *arg), char *path)
{
	int r = EPERM;
	pthread_t thread;

	strcpy(swapped.sun_path, path);
	swapping = true;
	if (pthread_create(&thread, NULL, swap, path) != 0)
		abort();
	for (int i = 0; i < SWAPS && r != 0; i++) {
		struct sockaddr_un peer = {0};
		socklen_t len = sizeof(peer) - 1;
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (connect(fd, (struct sockaddr *)&swapped, sizeof(swapped)) == 0 &&
			getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
			strcmp(peer.sun_path, getenv("ATTACK_SOCKET")) == 0)
			r = 0;
		close(fd);
	}
	swapping = false;
	pthread_join(thread, NULL);
	return r;
}
static int swapped_address(void)
{
	char path[108];

	in_own_folder(path, "rep");
	return connect_often(swap_address, path);
}
static int swapped_file(void)
{
	char path[108];

	in_own_folder(path, "0");
	return connect_often(swap_file, path);
}

/* ---- around the filter ---- */

static int datagram(void)
{
	return fd_result(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}
static int datagram_raw(void)
{
	return fd_result(socket(AF_UNIX, SOCK_RAW, 0));
}
static int datagram_pair(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
		return errno;
	close(ends[0]);
	close(ends[1]);
	return 0;
}
/* Whoever has the listener of the filter can answer for the supervisor. */
static int listener(void)
{
	uint64_t id = 0;

	for (int fd = 0; fd < 1024; fd++)
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 || errno == ENOENT)
			return 0;
	return EPERM;
}
static int own_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = {1, &allow};

	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return connect_unix(getenv("ATTACK_SOCKET"), false);
}

/* Asks the supervisor to stop; it answers a line when it obeys. */
static int control_socket(void)
{
	static const char ask[] = "{\"command\":\"status\"}\n";
	const struct timeval wait = {2, 0};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error = ENOENT;
	ssize_t n;
	char c;

	if (fd < 0)
		return errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/ctl.sock",
		getenv("PAIGE_RUNTIME_DIR"));
	/* The first workers are there before it, and before it listens. */
	for (int i = 0; i < 500 && error; i++) {
		error = connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? errno : 0;
		if (error != ENOENT && error != ECONNREFUSED)
			break;
		usleep(10000);
	}
	if (error) {
		close(fd);
		return error;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	n = send(fd, ask, sizeof(ask) - 1, MSG_NOSIGNAL);
	n = n < 0 ? n : recv(fd, &c, 1, 0);
	close(fd);
	return n == 1 ? 0 : EPERM;
}
static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}
static int tcp_connect(void)
{
	struct sockaddr_in a = loopback(tcp_port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return errno;
	r = result(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	return r;
}
static int tcp_listen(void)
{
	struct sockaddr_in a = loopback(0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r = EADDRINUSE;

	if (fd < 0)
		return errno;
	/* One that somebody has proves nothing. */
	for (int i = 0; i < 100; i++) {
		a.sin_port = htons((uint16_t)(20000 + (getpid() + 97 * i) % 20000));
		r = result(bind(fd, (struct sockaddr *)&a, sizeof(a)));
		if (r != EADDRINUSE)
			break;
	}
	close(fd);
	return r;
}
static int udp(void)
{
	return fd_result(socket(AF_INET, SOCK_DGRAM, 0));
}
static int vsock(void)
{
	return fd_result(socket(AF_VSOCK, SOCK_STREAM, 0));
}
static int alg(void)
{
	return fd_result(socket(AF_ALG, SOCK_SEQPACKET, 0));
}

/* ---- other processes; SIGURG is ignored by who is hit ---- */

static int signal_other(void)
{
	return result(kill(victim, SIGURG));
}
static int signal_parent(void)
{
	return result(kill(getppid(), SIGURG));
}
static int signal_group(void)
{
	return result(kill(-victim, SIGURG));
}
static int signal_thread(void)
{
	return result(syscall(SYS_tgkill, victim, victim, SIGURG));
}
static int signal_tkill(void)
{
	return result(syscall(SYS_tkill, victim, SIGURG));
}
static int signal_queue(void)
{
	return result(sigqueue(victim, SIGURG, (union sigval){0}));
}
static int signal_fd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, victim, 0), r;

	if (fd < 0)
		return errno;
	r = result(syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0));
	close(fd);
	return r;
}
static int signal_owner(void)
{
	int ends[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return errno;
	r = result(fcntl(ends[0], F_SETOWN, victim));
	close(ends[0]);
	close(ends[1]);
	return r;
}
static int limit(void)
{
	struct rlimit l;

	return result(prlimit(victim, RLIMIT_NOFILE, NULL, &l));
}
static int affinity(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	return result(sched_setaffinity(victim, sizeof(all), &all));
}
static int trace(void)
{
	if (ptrace(PTRACE_SEIZE, victim, NULL, NULL) < 0)
		return errno;
	ptrace(PTRACE_DETACH, victim, NULL, NULL);
	return 0;
}
static int memory(void)
{
	char c;
	struct iovec here = {&c, 1}, there = {(void *)0x1000, 1};
	ssize_t n = process_vm_readv(victim, &here, 1, &there, 1, 0);

	return n < 0 && errno != EFAULT ? errno : 0;
}

/* ---- programs, namespaces, the machine ---- */

static int wait_for(long child)
{
	if (child < 0)
		return errno;
	if (child == 0)
		_exit(0);
	waitpid((pid_t)child, NULL, 0);
	return 0;
}
static int process(void)
{
	return wait_for(syscall(SYS_fork));
}
static int process_clone(void)
{
	return wait_for(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}
static int program(void)
{
	char name[] = "nowhere", *argv[] = {name, NULL};

	/* Nothing is there to be started where it is allowed. */
	syscall(SYS_execve, "/nowhere", argv, NULL);
	return errno == ENOENT ? 0 : errno;
}
static int namespace_clone(void)
{
	return wait_for(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
static int namespace_clone3(void)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};

	return wait_for(syscall(SYS_clone3, &args, sizeof(args)));
}
static int namespace_unshare(void)
{
	return result(unshare(CLONE_FILES));
}
static int namespace_enter(void)
{
	return result(setns(-1, 0)) == EBADF ? 0 : errno;
}
/* These are called with wrong arguments: any error but EPERM means that the kernel took
 * the call. */
static int reaches(long r)
{
	return r < 0 && errno == EPERM ? EPERM : 0;
}
static int mount_any(void)
{
	return reaches(mount(NULL, NULL, NULL, 0, NULL));
}
static int bpf(void)
{
	return reaches(syscall(SYS_bpf, 9999, NULL, 0));
}
static int uring(void)
{
	return reaches(syscall(SYS_io_uring_setup, 0, NULL));
}
static int module(void)
{
	return reaches(syscall(SYS_init_module, NULL, 0, NULL));
}
static int perf(void)
{
	return reaches(syscall(SYS_perf_event_open, NULL, 0, 0, -1, 0));
}
static int keys(void)
{
	return reaches(syscall(SYS_keyctl, 9999, 0, 0, 0, 0));
}
static int faults(void)
{
	return reaches(syscall(SYS_userfaultfd, ~0));
}

static const struct {
	const char *name;
	int (*run)(void);
} attacks[] = {
#define ATTACK(name, fn) {name, fn},
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

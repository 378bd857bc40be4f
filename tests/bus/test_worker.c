/*
 * The worker contract (proto/worker.h), with this process as the supervisor of
 * worker_probe and of the real workers.
 */
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/bus/bus.h"
#include "proto/worker.h"
#include "tests/beside.h"
#include "tests/unit/scratch.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yyjson.h>

#define GENERATION 0x0123456789abcdefull

struct child {
	pid_t pid;
	int control, log;
	struct buf log_text, body;
};

static char directory[64];
static struct child child;

static void set_up(void)
{
	strcpy(directory, "/tmp/paige-worker-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	child = (struct child){.control = -1, .log = -1};
}

static void tear_down(void)
{
	if (child.pid) {
		kill(child.pid, SIGKILL);
		waitpid(child.pid, NULL, 0);
	}
	scratch_remove(directory);
	buf_free(&child.log_text);
	buf_free(&child.body);
}

/* ---- starting ---- */

/* `control` false: without fd 3. `runtime_dir` NULL: the scratch directory. */
static void start(const char *program, const char *argument, const char *probe,
	bool control, const char *runtime_dir)
{
	int pair[2], log[2];
	char text[300];
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ck_assert_int_eq(pipe2(log, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		dup2(log[1], STDOUT_FILENO);
		dup2(log[1], STDERR_FILENO);
		if (control)
			dup2(pair[1], WORKER_CONTROL_FD);
		else
			close(WORKER_CONTROL_FD);
		clearenv();
		setenv("PAIGE_WORKER", "observer", 1);
		setenv("PAIGE_GENERATION", "0123456789abcdef", 1);
		setenv("PAIGE_EPOCH", "0000000000000001", 1);
		setenv("PAIGE_RUNTIME_DIR", runtime_dir ? runtime_dir : directory, 1);
		setenv("PROJECT_DIR", directory, 1);
		setenv("DATA_DIR", directory, 1);
		snprintf(text, sizeof(text), "%s", probe ? probe : "");
		setenv("PROBE", text, 1);
		execl(program, program, argument, NULL);
		_exit(127);
	}
	close(pair[1]);
	close(log[1]);
	child.pid = pid;
	child.control = pair[0];
	child.log = log[0];
	fcntl(child.log, F_SETFL, O_NONBLOCK);
}

static void start_probe(const char *probe)
{
	start(PROBE_PROGRAM, NULL, probe, true, NULL);
}

/* ---- talking ---- */

static void drain_log(void)
{
	ssize_t n;

	while ((n = read(child.log, buf_reserve(&child.log_text, 4096), 4096)) > 0)
		child.log_text.len += (size_t)n;
}

/* The type of the next packet within so long, its body in child.body; 0 without. */
static int packet(int ms)
{
	struct pollfd p = {.fd = child.control, .events = POLLIN};
	char bytes[WORKER_PACKET_MAX];
	struct worker_packet_header header;
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	n = recv(child.control, bytes, sizeof(bytes), 0);
	if (n < (ssize_t)sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	ck_assert_uint_eq(header.generation, GENERATION);
	ck_assert_uint_eq(header.body_bytes, (size_t)n - sizeof(header));
	buf_clear(&child.body);
	buf_add(&child.body, bytes + sizeof(header), (size_t)n - sizeof(header));
	return header.type;
}

static void expect(int type, int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);
	int got;

	do
		got = packet(100);
	while (got != type && clock_mono().us < end.us);
	drain_log();
	ck_assert_msg(got == type, "packet %d did not come; log:\n%.*s", type,
		STR_ARG(buf_str(&child.log_text)));
}

static void send_packet(uint16_t type, const char *body)
{
	struct worker_packet_header header = {.type = type,
		.body_bytes = (uint32_t)strlen(body),
		.generation = GENERATION};
	struct buf bytes = {0};

	buf_add(&bytes, &header, sizeof(header));
	buf_add_str(&bytes, str_of(body));
	ck_assert_int_eq(send(child.control, bytes.data, bytes.len, 0), (int)bytes.len);
	buf_free(&bytes);
}

/* The wait status, or -1 when it did not end within so long. */
static int wait_end(int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);
	int status;

	do {
		if (waitpid(child.pid, &status, WNOHANG) == child.pid) {
			child.pid = 0;
			drain_log();
			return status;
		}
		nanosleep(&(struct timespec){0, 5000000}, NULL);
	} while (clock_mono().us < end.us);
	return -1;
}

static void expect_exit(int code, int ms)
{
	int status = wait_end(ms);

	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == code,
		"status %x instead of exit %d; log:\n%.*s", (unsigned)status, code,
		STR_ARG(buf_str(&child.log_text)));
}

/* A member of the last body, "detail.exec" for one below; as text. */
static const char *member(const char *parent, const char *name)
{
	static char text[256];
	yyjson_doc *d = yyjson_read(child.body.data, child.body.len, 0);
	yyjson_val *v = yyjson_doc_get_root(d);

	if (parent)
		v = yyjson_obj_get(v, parent);
	v = yyjson_obj_get(v, name);
	if (yyjson_is_str(v))
		snprintf(text, sizeof(text), "%s", yyjson_get_str(v));
	else
		snprintf(text, sizeof(text), "%lld", (long long)yyjson_get_sint(v));
	yyjson_doc_free(d);
	return text;
}

static bool logged(const char *text)
{
	drain_log();
	buf_add_char(&child.log_text, '\0');
	child.log_text.len--;
	return strstr(child.log_text.data, text) != NULL;
}

/* ---- by hand ---- */

START_TEST(by_hand_it_explains_itself)
{
	start(PROBE_PROGRAM, NULL, NULL, false, NULL);
	expect_exit(WORKER_EXIT_USAGE, 2000);
	ck_assert(logged("paige-observer is started by paiged"));
}
END_TEST

START_TEST(help_and_version)
{
	start(PROBE_PROGRAM, "--help", NULL, false, NULL);
	expect_exit(0, 2000);
	ck_assert(logged("--version"));
	start(PROBE_PROGRAM, "--version", NULL, false, NULL);
	expect_exit(0, 2000);
	ck_assert(logged("paige-observer "));
	start(PROBE_PROGRAM, "--nonsense", NULL, true, NULL);
	expect_exit(WORKER_EXIT_USAGE, 2000);
}
END_TEST

/* ---- ready, status, heartbeat ---- */

START_TEST(ready_then_status_then_heartbeats)
{
	struct mono begun;

	start_probe("");
	ck_assert_int_eq(packet(2000), WORKER_PACKET_READY);
	ck_assert_int_eq(packet(2000), WORKER_PACKET_STATUS);
	ck_assert_str_eq(member(NULL, "condition"), "fine");
	begun = clock_mono();
	expect(WORKER_PACKET_HEARTBEAT, 2 * WORKER_HEARTBEAT_MS);
	expect(WORKER_PACKET_HEARTBEAT, 2 * WORKER_HEARTBEAT_MS);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), begun), WORKER_HEARTBEAT_MS * 9 / 4);
	send_packet(WORKER_PACKET_STOP, "");
	expect_exit(0, 2500);
}
END_TEST

START_TEST(ready_waits_for_the_worker)
{
	struct mono begun = clock_mono();

	start_probe("later");
	expect(WORKER_PACKET_READY, 3000);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), begun), 450);
}
END_TEST

START_TEST(init_decides_the_exit_code)
{
	start_probe("exit78");
	expect_exit(WORKER_EXIT_CONFIG, 2000);
	ck_assert(logged("the probe was told so"));
}
END_TEST

START_TEST(a_method_without_a_handler_ends_the_start)
{
	start_probe("deaf");
	expect_exit(WORKER_EXIT_INTERNAL, 2000);
	ck_assert(logged("a method of this worker has no handler"));
	ck_assert(logged("observer.mute"));
}
END_TEST

START_TEST(a_long_socket_path_is_told)
{
	char path[120];

	memset(path, 'd', sizeof(path));
	path[0] = '/';
	path[100] = '\0';
	start(PROBE_PROGRAM, NULL, "", true, path);
	expect_exit(WORKER_EXIT_CONFIG, 2000);
	ck_assert(logged("too long"));
}
END_TEST

/* ---- confinement ---- */

START_TEST(only_what_it_may)
{
	char enforced[64];

	start_probe("");
	do
		expect(WORKER_PACKET_STATUS, 2000);
	while (strcmp(member("detail", "reloaded"), "0") == 0);
	snprintf(enforced, sizeof(enforced), "%s", member(NULL, "confinement"));
	if (strstr(enforced, "seccomp"))
		ck_assert_str_eq(member("detail", "exec"), "1");
	if (strstr(enforced, "landlock")) {
		ck_assert_str_eq(member("detail", "read_outside"), "13");
		ck_assert_str_eq(member("detail", "write_outside"), "13");
	}
	ck_assert_str_eq(member("detail", "write_inside"), "0");
	/* A silent loss of what the kernel offers must not pass. */
	if (access("/proc/sys/kernel/seccomp", F_OK) == 0)
		ck_assert_ptr_nonnull(strstr(enforced, "seccomp"));
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0)
		ck_assert_ptr_nonnull(strstr(enforced, "landlock"));
}
END_TEST

static int connect_to(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", directory, name);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Confined, it can still remove its socket and make another. Later releases of nng than
 * 1.5 cannot be deafened; their socket is taken away. */
START_TEST(a_confined_worker_listens_again)
{
	struct mono begun = clock_mono();
	int64_t gone;
	char path[128];

	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	snprintf(path, sizeof(path), "%s/observer/rep", directory);
	while (!logged("listener accepts again") &&
		(gone = mono_diff_ms(clock_mono(), begun)) < 22000) {
		if (!logged("deaf") && gone < 10000)
			close(connect_to("observer/rep"));
		else if (!logged("deaf"))
			(void)unlink(path);
		packet(20);
	}
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_msg(logged("listener accepts again"), "log:\n%.*s",
		STR_ARG(buf_str(&child.log_text)));
}
END_TEST

/* As after nng has stopped to close what has ended: more connections than there are others. */
START_TEST(too_many_connections_end_it)
{
	static const char greeting[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
	struct rlimit files;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	start_probe("");
	expect(WORKER_PACKET_READY, 5000);
	for (int i = 0; i < BUS_CONNECTIONS_MAX + 100; i++) {
		int fd = connect_to("observer/rep");
		char answer[8];

		if (send(fd, greeting, 8, MSG_NOSIGNAL) != 8 ||
			recv(fd, answer, 8, MSG_WAITALL) != 8)
			break; /* it has ended */
		if (i == BUS_CONNECTIONS_MAX / 2)
			expect(WORKER_PACKET_HEARTBEAT, 10000);
	}
	expect_exit(WORKER_EXIT_INTERNAL, 10000);
	ck_assert(logged("connections of the bus are not closed any more"));
}
END_TEST

/* ---- told by the supervisor ---- */

START_TEST(reload_and_fleet)
{
	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	send_packet(WORKER_PACKET_RELOAD, "{\"MODEL_HAIKU\":\"other\"}");
	do
		expect(WORKER_PACKET_STATUS, 2000);
	while (strcmp(member("detail", "reloaded"), "other") != 0);
	send_packet(WORKER_PACKET_FLEET, "{\"workers\":[]}");
	expect(WORKER_PACKET_STATUS, 2000);
	ck_assert_str_eq(member(NULL, "condition"), "degraded");
	ck_assert_str_eq(member(NULL, "reason"), "fleet");
}
END_TEST

START_TEST(a_packet_of_another_generation_is_ignored)
{
	struct worker_packet_header header = {
		.type = WORKER_PACKET_STOP, .generation = 7};

	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	ck_assert_int_eq(send(child.control, &header, sizeof(header), 0), sizeof(header));
	ck_assert_int_eq(wait_end(300), -1);
	ck_assert(logged("ignored"));
}
END_TEST

START_TEST(term_is_like_stop)
{
	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	kill(child.pid, SIGTERM);
	expect_exit(0, 2500); /* ThreadSanitizer delivers it at the next tick */
	ck_assert(logged("msg=stopped"));
}
END_TEST

START_TEST(without_a_supervisor_it_leaves)
{
	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	close(child.control);
	expect_exit(0, WORKER_ORPHAN_MS);
}
END_TEST

START_TEST(even_when_its_loop_is_stuck)
{
	start_probe("stuck");
	expect(WORKER_PACKET_READY, 2000);
	send_packet(WORKER_PACKET_RELOAD, "{}");
	ck_assert_int_eq(wait_end(200), -1);
	close(child.control);
	/* ThreadSanitizer adds a second to every exit. */
	expect_exit(0, WORKER_ORPHAN_MS + 1500);
}
END_TEST

/* A descriptor of the worker, whose supervisor is the process `middle`. */
static int start_below(pid_t *middle)
{
	pid_t pid = 0;
	int told[2], pidfd;

	ck_assert_int_eq(pipe(told), 0);
	*middle = fork();
	ck_assert_int_ge(*middle, 0);
	if (*middle == 0) {
		start_probe("blocked");
		while (!logged("init blocks"))
			usleep(10000);
		if (write(told[1], &child.pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		for (;;)
			pause();
	}
	close(told[1]);
	ck_assert_int_eq(read(told[0], &pid, sizeof(pid)), sizeof(pid));
	close(told[0]);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	ck_assert_int_ge(pidfd, 0);
	return pidfd;
}

START_TEST(even_when_its_init_is_stuck)
{
	pid_t middle;
	struct pollfd worker = {.fd = start_below(&middle), .events = POLLIN};

	kill(middle, SIGKILL);
	waitpid(middle, NULL, 0);
	ck_assert_int_eq(poll(&worker, 1, WORKER_ORPHAN_MS), 1);
	close(worker.fd);
}
END_TEST

/* ---- signals ---- */

START_TEST(usr2_shows_where_the_loop_is)
{
	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	kill(child.pid, SIGUSR2);
	expect(WORKER_PACKET_HEARTBEAT, 2 * WORKER_HEARTBEAT_MS); /* it goes on */
	ck_assert(logged("backtrace of the loop:"));
	ck_assert(logged("event_base_loop"));
}
END_TEST

START_TEST(a_crash_leaves_a_backtrace)
{
	struct rlimit none = {0, 0};
	int status;

	setrlimit(RLIMIT_CORE, &none);
	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	kill(child.pid, SIGABRT);
	status = wait_end(2000);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGABRT);
	ck_assert_msg(logged("worker crashed by signal 06"), "log:\n%.*s",
		STR_ARG(buf_str(&child.log_text)));
	ck_assert(logged("worker_main"));
}
END_TEST

static void read_signals(unsigned long long *blocked, unsigned long long *ignored)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)child.pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "SigBlk: %llx", blocked);
		sscanf(line, "SigIgn: %llx", ignored);
	}
	fclose(f);
}

START_TEST(signals_do_not_leak_in)
{
	const unsigned long long wanted = 1ull << (SIGTERM - 1) | 1ull << (SIGUSR2 - 1);
	unsigned long long blocked = wanted, ignored = 0;
	struct mono end = mono_add_ms(clock_mono(), 2000);

	start_probe("");
	expect(WORKER_PACKET_READY, 2000);
	/* nng blocks all for as long as it makes a thread. */
	while ((blocked & wanted) != 0 && clock_mono().us < end.us) {
		read_signals(&blocked, &ignored);
		packet(5);
	}
	ck_assert_uint_eq(blocked & wanted, 0);
	ck_assert(ignored & (1ull << (SIGPIPE - 1)));
}
END_TEST

int main(void)
{
	const TTest *const cases[] = {
		by_hand_it_explains_itself,
		help_and_version,
		ready_then_status_then_heartbeats,
		ready_waits_for_the_worker,
		init_decides_the_exit_code,
		a_method_without_a_handler_ends_the_start,
		a_long_socket_path_is_told,
		only_what_it_may,
		a_confined_worker_listens_again,
		too_many_connections_end_it,
		reload_and_fleet,
		a_packet_of_another_generation_is_ignored,
		term_is_like_stop,
		without_a_supervisor_it_leaves,
		even_when_its_loop_is_stuck,
		even_when_its_init_is_stuck,
		usr2_shows_where_the_loop_is,
		a_crash_leaves_a_backtrace,
		signals_do_not_leak_in,
	};
	const struct beside how = {set_up, tear_down, 30};

	return beside_run(&how, cases, sizeof(cases) / sizeof(cases[0]));
}

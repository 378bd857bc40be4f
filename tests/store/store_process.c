/* store_process.c - a real paige-store under a test (store_process.h). */
#include "tests/store/store_process.h"
#include "common/base/ids.h"
#include "proto/codec/messages.h"
#include "proto/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GENERATION 0x1234

/* For the leak sanitizer: what nng has under way when a test ends is freed by nobody, as when
 * a worker ends (bus_drain in common/bus/bus.h). */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libnng.so\n";
}

static _Noreturn void fail(const char *what)
{
	perror(what);
	abort();
}

void store_process_init(struct store_process *p, const char *data_dir)
{
	sigset_t all, before;

	*p = (struct store_process){.control = -1};
	strcpy(p->directory, "/tmp/paige-store-XXXXXX");
	if (!mkdtemp(p->directory))
		fail("mkdtemp");
	if (data_dir)
		snprintf(p->data_dir, sizeof(p->data_dir), "%s", data_dir);
	else
		snprintf(p->data_dir, sizeof(p->data_dir), "%s/data", p->directory);
	snprintf(p->database, sizeof(p->database), "%s/paige.db", p->data_dir);
	snprintf(p->log, sizeof(p->log), "%s/log", p->directory);
	if (mkdir(p->data_dir, 0700) < 0 && errno != EEXIST)
		fail(p->data_dir);
	p->base = event_base_new();
	p->bus = bus_open(p->base, WORKER_GATEWAY, p->directory, 1);
	p->llm = bus_open(p->base, WORKER_LLM, p->directory, 1);
	if (!p->base || !p->bus || !p->llm)
		fail("bus_open");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (bus_start(p->bus) < 0 || bus_start(p->llm) < 0)
		fail("bus_start");
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void run_child(const struct store_process *p, int control)
{
	struct rlimit limit = {(rlim_t)p->file_limit, (rlim_t)p->file_limit};
	int log = open(p->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	dup2(null, 0);
	dup2(log, 1);
	dup2(log, 2);
	dup2(control, WORKER_CONTROL_FD);
	fcntl(WORKER_CONTROL_FD, F_SETFD, 0);
	setenv("PAIGE_WORKER", "store", 1);
	setenv("PAIGE_GENERATION", "1234", 1);
	setenv("PAIGE_EPOCH", "1", 1);
	setenv("PAIGE_RUNTIME_DIR", p->directory, 1);
	setenv("DATA_DIR", p->data_dir, 1);
	setenv("PROJECT_DIR", p->directory, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (p->file_limit > 0)
		setrlimit(RLIMIT_FSIZE, &limit);
	execl(STORE_PROGRAM, STORE_PROGRAM, (char *)NULL);
	_exit(127);
}

static void take_status(struct store_process *p, struct str body)
{
	struct worker_status status;
	struct proto_error error;
	struct arena arena = {0};
	yyjson_doc *doc = proto_parse(body, &error);
	char *text;

	if (!doc || proto_decode(worker_status_type(), yyjson_doc_get_root(doc), "status",
			    DECODE_STRICT, &arena, &status, &error) < 0)
		fail(error.text);
	snprintf(p->condition, sizeof(p->condition), "%.*s", STR_ARG(status.condition));
	buf_clear(&p->reason);
	buf_add_str(&p->reason, status.reason);
	if (status.detail.val) {
		text = yyjson_val_write(status.detail.val, 0, NULL);
		buf_clear(&p->detail);
		buf_add_str(&p->detail, str_of(text));
		free(text);
	}
	yyjson_doc_free(doc);
	arena_free(&arena);
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
	struct store_process *p = arg;
	char packet[sizeof(struct worker_packet_header) + WORKER_PACKET_MAX];
	struct worker_packet_header header;
	ssize_t n = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

	(void)what;
	if (n < (ssize_t)sizeof(header)) {
		if (n == 0 || errno != EAGAIN)
			event_del(p->control_event);
		return;
	}
	memcpy(&header, packet, sizeof(header));
	if (header.type == WORKER_PACKET_READY)
		p->ready = true;
	else if (header.type == WORKER_PACKET_HEARTBEAT)
		p->heartbeats++;
	else if (header.type == WORKER_PACKET_STATUS)
		take_status(p, (struct str){packet + sizeof(header),
				       (size_t)n - sizeof(header)});
}

void store_process_start(struct store_process *p)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		fail("socketpair");
	p->ready = false;
	p->pid = fork();
	if (p->pid < 0)
		fail("fork");
	if (p->pid == 0)
		run_child(p, ends[1]);
	close(ends[1]);
	p->control = ends[0];
	p->control_event =
		event_new(p->base, p->control, EV_READ | EV_PERSIST, on_control, p);
	event_add(p->control_event, NULL);
}

static void close_control(struct store_process *p)
{
	event_free(p->control_event);
	close(p->control);
	p->control = -1;
	p->pid = 0;
}

bool store_process_turn(struct store_process *p, const bool *done, int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);

	while (!*done && clock_mono().us < end.us) {
		struct timeval at_most = {0, 10000};

		event_base_loopexit(p->base, &at_most);
		event_base_loop(p->base, EVLOOP_ONCE);
	}
	return *done;
}

bool store_process_wait_ready(struct store_process *p)
{
	for (int i = 0; i < 3000 && !p->ready; i++) {
		siginfo_t ended = {0};

		if (store_process_turn(p, &p->ready, 10))
			break;
		/* It is left for store_process_wait_end to collect. */
		if (waitid(P_PID, (id_t)p->pid, &ended, WEXITED | WNOHANG | WNOWAIT) ==
				0 &&
			ended.si_pid == p->pid)
			return false;
	}
	return p->ready;
}

void store_process_kill(struct store_process *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	close_control(p);
}

int store_process_wait_end(struct store_process *p)
{
	const bool never = false;
	int status = 0;

	for (int i = 0; i < 1000; i++) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
			close_control(p);
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		}
		store_process_turn(p, &never, 10);
	}
	store_process_kill(p);
	return -1;
}

int store_process_stop(struct store_process *p)
{
	struct worker_packet_header stop = {
		.type = WORKER_PACKET_STOP, .generation = GENERATION};

	if (send(p->control, &stop, sizeof(stop), MSG_NOSIGNAL) < 0)
		fail("send");
	return store_process_wait_end(p);
}

static int remove_one(const char *name, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(name);
}

void store_process_fini(struct store_process *p)
{
	if (p->pid > 0)
		store_process_kill(p);
	nftw(p->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	buf_free(&p->reason);
	buf_free(&p->detail);
}

struct waited {
	struct arena *arena;
	struct bus_reply reply;
	bool done;
};

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct waited *w = arg;

	w->reply = (struct bus_reply){
		.status = reply->status,
		.body = arena_str(w->arena, reply->body),
		.code = arena_str(w->arena, reply->code),
		.message = arena_str(w->arena, reply->message),
	};
	w->done = true;
}

struct bus_reply store_call(struct store_process *p, enum method method, const char *key,
	const char *body, struct arena *arena)
{
	struct waited w = {.arena = arena};

	bus_call(method_infos[method].callers & BY_GATEWAY ? p->bus : p->llm, method,
		str_of(key), str_of(body), 0, on_reply, &w);
	if (!store_process_turn(p, &w.done, 70000))
		fail("a call was never answered");
	return w.reply;
}

void store_query(const struct store_process *p, const char *sql, char out[256])
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;

	out[0] = '\0';
	if (sqlite3_open_v2(p->database, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
		sqlite3_busy_timeout(db, 5000) != SQLITE_OK ||
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) !=
			SQLITE_OK ||
		sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		abort();
	}
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		snprintf(out, 256, "%s", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

long store_count(const struct store_process *p, const char *sql)
{
	char text[256];

	store_query(p, sql, text);
	return strtol(text, NULL, 10);
}

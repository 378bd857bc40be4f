/* process.c - see process.h. */
#include "workers/agent/process/process.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES (64 * 1024)
/* After the end: a pipe holds less than this many reads. */
#define LAST_READS 64
/* Written to the program in one turn of the loop, however fast it reads. */
#define FLUSH_BYTES (256u * 1024)
/* Shorter pieces of a line are copied. */
#define COPIED_BYTES 4096

enum { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAM_COUNT };

struct process {
	struct event_base *base;
	struct process_events events;
	pid_t reaper;
	int pidfd;
	int control_fd;
	int fds[STREAM_COUNT]; /* -1: closed */
	struct event *readable[STREAM_COUNT];
	struct event *writable; /* stdin */
	struct event *ended;	/* the reaper's pidfd */
	struct event *timer;	/* the next stage of the end */
	struct evbuffer *input;
	struct line_reader out, err;
	char *errors[PROCESS_ERROR_LINES]; /* a ring */
	size_t error_count;
	struct mono started;
	enum process_stage stage;
	bool over; /* the reaper has ended: what is left is read, then `end` is told */
	struct process_end end;
	int last_reads[STREAM_COUNT]; /* since it was over */
};

/* ---- streams ---- */

static void close_stream(struct process *p, int stream)
{
	if (p->readable[stream])
		event_free(p->readable[stream]);
	p->readable[stream] = NULL;
	if (p->fds[stream] >= 0)
		close(p->fds[stream]);
	p->fds[stream] = -1;
}

static void close_input(struct process *p)
{
	if (p->writable)
		event_free(p->writable);
	p->writable = NULL;
	close_stream(p, STREAM_IN);
}

static void on_error_line(void *arg, struct buf *whole)
{
	struct process *p = arg;
	size_t i = p->error_count % PROCESS_ERROR_LINES;
	struct str line;

	if (!whole || whole->len == 0)
		return;
	line = buf_str(whole);
	if (line.len > PROCESS_ERROR_LINE_MAX)
		line.len = PROCESS_ERROR_LINE_MAX;
	log_info("agent wrote to stderr", "reaper", "%d", (int)p->reaper, "text", "%.*s",
		STR_ARG(line), NULL);
	free(p->errors[i]);
	p->errors[i] = xstrndup(line.ptr, line.len);
	p->error_count++;
}

static void on_output_line(void *arg, struct buf *line)
{
	struct process *p = arg;

	p->events.on_line(p->events.arg, line);
}

/* Reads once. False at the end of the stream, or when nothing is there. */
static bool take(struct process *p, int stream)
{
	static char piece[READ_BYTES];
	ssize_t n = read(p->fds[stream], piece, sizeof(piece));
	struct str bytes = {piece, n > 0 ? (size_t)n : 0};

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_stream(p, stream);
		return false;
	}
	if (stream == STREAM_OUT)
		line_reader_feed(&p->out, bytes, on_output_line, p);
	else
		line_reader_feed(&p->err, bytes, on_error_line, p);
	return true;
}

static void on_output(EVENT_UNUSED, void *arg)
{
	(void)take(arg, STREAM_OUT);
}

static void on_errors(EVENT_UNUSED, void *arg)
{
	(void)take(arg, STREAM_ERR);
}

static void flush_input(struct process *p)
{
	size_t most = FLUSH_BYTES;

	while (p->fds[STREAM_IN] >= 0 && evbuffer_get_length(p->input) > 0) {
		int n = most == 0 ? 0
				  : evbuffer_write_atmost(p->input, p->fds[STREAM_IN],
					    (ev_ssize_t)most);

		if (n > 0) {
			most -= (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 || errno == EAGAIN)
			event_add(p->writable, NULL);
		else
			close_input(p);
		return;
	}
}

static void on_writable(EVENT_UNUSED, void *arg)
{
	flush_input(arg);
}

static void release(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	free(arg);
}

/* Takes its memory. */
static void add_input(struct process *p, struct buf *piece)
{
	if (piece->len <= COPIED_BYTES) {
		evbuffer_add(p->input, piece->data, piece->len);
		buf_free(piece);
	} else if (evbuffer_add_reference(
			   p->input, piece->data, piece->len, release, piece->data) < 0) {
		abort(); /* out of memory */
	}
	*piece = (struct buf){0};
}

/* 0, or why so much cannot be written. */
static int has_room(const struct process *p, size_t len)
{
	if (p->fds[STREAM_IN] < 0)
		return -EPIPE;
	return evbuffer_get_length(p->input) + len > PROCESS_INPUT_MAX ? -ENOBUFS : 0;
}

static int end_line(struct process *p)
{
	evbuffer_add(p->input, "\n", 1);
	flush_input(p);
	return p->fds[STREAM_IN] < 0 ? -EPIPE : 0;
}

int process_write(struct process *p, struct buf *pieces, size_t count)
{
	size_t len = 0;
	int r;

	for (size_t i = 0; i < count; i++)
		len += pieces[i].len;
	r = has_room(p, len);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		add_input(p, &pieces[i]);
	return end_line(p);
}

int process_write_shared(struct process *p, struct str before, struct str shared,
	evbuffer_ref_cleanup_cb done, void *arg, struct str after)
{
	int r = has_room(p, before.len + shared.len + after.len);

	if (r < 0) {
		done(shared.ptr, shared.len, arg);
		return r;
	}
	evbuffer_add(p->input, before.ptr, before.len);
	if (evbuffer_add_reference(p->input, shared.ptr, shared.len, done, arg) < 0)
		abort(); /* out of memory */
	evbuffer_add(p->input, after.ptr, after.len);
	return end_line(p);
}

/* ---- the end ---- */

static void arm(struct process *p, int64_t ms)
{
	event_add_ms(p->timer, ms);
}

static void tell_reaper(const struct process *p, enum reaper_command command)
{
	const char byte = (char)command;

	(void)send(p->control_fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void process_stop(struct process *p, enum process_stage first)
{
	static const char *const signals[] = {"", "none yet", "INT", "TERM", "KILL"};

	if (first <= p->stage)
		return;
	p->stage = first;
	if (p->over)
		return;
	log_info("ending the agent", "reaper", "%d", (int)p->reaper, "signal", "%s",
		signals[first], NULL);
	switch (first) {
	case PROCESS_ASKED:
		arm(p, PROCESS_ASK_MS);
		break;
	case PROCESS_INTERRUPTED:
		tell_reaper(p, REAPER_INTERRUPT);
		arm(p, PROCESS_INTERRUPT_MS);
		break;
	case PROCESS_TERMINATED:
		tell_reaper(p, REAPER_TERMINATE);
		arm(p, PROCESS_TERMINATE_MS);
		break;
	case PROCESS_KILLED:
		tell_reaper(p, REAPER_KILL);
		arm(p, PROCESS_TERMINATE_MS);
		break;
	case PROCESS_RUNNING:
		break;
	}
}

static void on_timer(EVENT_UNUSED, void *arg)
{
	struct process *p = arg;

	if (p->stage == PROCESS_ASKED) {
		process_stop(p, PROCESS_INTERRUPTED);
	} else if (p->stage == PROCESS_INTERRUPTED) {
		process_stop(p, PROCESS_TERMINATED);
	} else if (p->stage == PROCESS_TERMINATED) {
		process_stop(p, PROCESS_KILLED);
	} else if (p->stage == PROCESS_KILLED) {
		log_error("the reaper of an agent hangs: killing it", "reaper", "%d",
			(int)p->reaper, NULL);
		(void)pidfd_send_signal(p->pidfd, SIGKILL, NULL, 0);
	}
}

void process_go_on(struct process *p)
{
	if (p->stage > PROCESS_INTERRUPTED)
		return;
	p->stage = PROCESS_RUNNING;
	event_del(p->timer);
}

enum process_stage process_stage_of(const struct process *p)
{
	return p->stage;
}

bool process_is_over(const struct process *p)
{
	return p->over;
}

pid_t process_reaper(const struct process *p)
{
	return p->reaper;
}

static struct str last_errors(const struct process *p, struct buf *out)
{
	size_t kept = p->error_count < PROCESS_ERROR_LINES ? p->error_count
							   : PROCESS_ERROR_LINES;

	for (size_t i = p->error_count - kept; i < p->error_count; i++)
		buf_printf(out, "%s%s", out->len ? "\n" : "",
			p->errors[i % PROCESS_ERROR_LINES]);
	return out->len ? buf_str(out) : STR_LIT("");
}

static void process_free(struct process *p)
{
	close_input(p);
	close_stream(p, STREAM_OUT);
	close_stream(p, STREAM_ERR);
	if (p->ended)
		event_free(p->ended);
	if (p->timer)
		event_free(p->timer);
	if (p->input)
		evbuffer_free(p->input);
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->control_fd >= 0)
		close(p->control_fd);
	line_reader_fini(&p->out);
	line_reader_fini(&p->err);
	for (size_t i = 0; i < PROCESS_ERROR_LINES; i++)
		free(p->errors[i]);
	free(p);
}

/* Nobody writes any more, unless the reaper was killed: soon all is read. */
static void read_last(struct process *p, int stream, const struct line_reader *reader)
{
	while (p->last_reads[stream]++ < LAST_READS && p->fds[stream] >= 0 &&
		!reader->paused)
		if (!take(p, stream))
			break;
}

/* Reads what is left and tells the end; when lines are not taken, process_resume goes on. */
static void finish(struct process *p)
{
	AUTO_BUF errors = {0};

	read_last(p, STREAM_OUT, &p->out);
	if (!p->out.paused)
		line_reader_end(&p->out, on_output_line, p);
	if (p->out.paused)
		return;
	read_last(p, STREAM_ERR, &p->err);
	line_reader_end(&p->err, on_error_line, p);
	p->end.errors = last_errors(p, &errors);
	p->events.on_end(p->events.arg, &p->end);
	process_free(p);
}

static void on_reaper_ended(EVENT_UNUSED, void *arg)
{
	struct process *p = arg;
	struct reaper_report report;

	(void)waitpid(p->reaper, NULL, 0); /* its pidfd says that it has ended */
	p->end.report = (struct reaper_report){.code = -1, .signal = SIGKILL};
	if (recv(p->control_fd, &report, sizeof(report), MSG_DONTWAIT) == sizeof(report))
		p->end.report = report;
	else
		log_warn("the reaper of an agent was killed", "reaper", "%d",
			(int)p->reaper, NULL);
	p->end.uptime_ms = mono_diff_ms(clock_mono(), p->started);
	p->over = true;
	event_del(p->timer);
	if (!p->out.paused)
		finish(p);
}

void process_pause(struct process *p)
{
	p->out.paused = true;
	if (p->readable[STREAM_OUT])
		event_del(p->readable[STREAM_OUT]);
}

void process_resume(struct process *p)
{
	if (!p->out.paused)
		return;
	line_reader_resume(&p->out, on_output_line, p);
	if (p->out.paused)
		return;
	if (p->over)
		finish(p);
	else if (p->readable[STREAM_OUT])
		event_add(p->readable[STREAM_OUT], NULL);
}

/* ---- the beginning ---- */

/* Our ends and the reaper's. */
struct ends {
	int ours[STREAM_COUNT + 1], theirs[STREAM_COUNT + 1];
};

static void close_all(int fds[STREAM_COUNT + 1])
{
	for (int i = 0; i <= STREAM_COUNT; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int make_ends(struct ends *e)
{
	int pair[2];

	for (int i = 0; i <= STREAM_COUNT; i++)
		e->ours[i] = e->theirs[i] = -1;
	for (int i = 0; i < STREAM_COUNT; i++) {
		bool in = i == STREAM_IN;

		if (pipe2(pair, O_CLOEXEC) < 0)
			return -errno;
		e->ours[i] = pair[in];
		e->theirs[i] = pair[!in];
		if (fcntl(e->ours[i], F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	e->ours[STREAM_COUNT] = pair[0];
	e->theirs[STREAM_COUNT] = pair[1];
	return 0;
}

/* argv behind our own program and REAPER_ARGUMENT. */
static char **reaper_argv(char *const *argv, struct arena *arena)
{
	size_t n = 0;
	char **list;

	while (argv[n])
		n++;
	list = arena_array(arena, n + 3, sizeof(*list));
	list[0] = arena_cstr(arena, str_of("paige-agent"));
	list[1] = arena_cstr(arena, str_of(REAPER_ARGUMENT));
	memcpy(list + 2, argv, n * sizeof(*list));
	return list;
}

static int spawn(char *const *argv, char *const *environment, int cwd_fd, int lock_fd,
	const struct ends *e, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	AUTO_ARENA arena = {0};
	sigset_t all;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addfchdir_np(&actions, cwd_fd);
	for (int i = 0; i <= STREAM_COUNT; i++)
		posix_spawn_file_actions_adddup2(&actions, e->theirs[i], i);
	posix_spawn_file_actions_adddup2(&actions, lock_fd, REAPER_LOCK_FD);
	posix_spawnattr_init(&attributes);
	/* Blocked until the reaper listens to signals. */
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attributes, &all);
	posix_spawnattr_setflags(
		&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(pid, "/proc/self/exe", &actions, &attributes,
		reaper_argv(argv, &arena), environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

static void listen_to(struct process *p)
{
	const int in = p->fds[STREAM_IN];

	p->readable[STREAM_OUT] = alloc_checked(event_new(
		p->base, p->fds[STREAM_OUT], EV_READ | EV_PERSIST, on_output, p));
	p->readable[STREAM_ERR] = alloc_checked(event_new(
		p->base, p->fds[STREAM_ERR], EV_READ | EV_PERSIST, on_errors, p));
	p->writable = alloc_checked(event_new(p->base, in, EV_WRITE, on_writable, p));
	p->ended =
		alloc_checked(event_new(p->base, p->pidfd, EV_READ, on_reaper_ended, p));
	p->timer = alloc_checked(event_new(p->base, -1, 0, on_timer, p));
	p->input = alloc_checked(evbuffer_new());
	event_add(p->readable[STREAM_OUT], NULL);
	event_add(p->readable[STREAM_ERR], NULL);
	event_add(p->ended, NULL);
}

struct process *process_new(struct event_base *base, char *const *argv,
	char *const *environment, int cwd_fd, int lock_fd, struct process_events events)
{
	struct process *p = xcalloc(1, sizeof(*p));
	struct ends e;
	int r;

	r = make_ends(&e);
	if (r == 0)
		r = spawn(argv, environment, cwd_fd, lock_fd, &e, &p->reaper);
	close_all(e.theirs);
	if (r == 0) {
		p->pidfd = pidfd_open(p->reaper, 0);
		if (p->pidfd < 0) {
			r = -errno;
			kill(p->reaper, SIGKILL);
			(void)waitpid(p->reaper, NULL, 0);
		}
	}
	if (r < 0) {
		close_all(e.ours);
		free(p);
		errno = -r;
		return NULL;
	}
	p->base = base;
	p->events = events;
	memcpy(p->fds, e.ours, sizeof(p->fds));
	p->control_fd = e.ours[STREAM_COUNT];
	p->out.max = PROCESS_LINE_MAX;
	p->err.max = PROCESS_LINE_MAX;
	p->started = clock_mono();
	listen_to(p);
	return p;
}

/*
 * worker_signals.c - signals of a worker: crashes leave a backtrace in its log, SIGUSR2
 * shows where the loop is. Called by worker.c before any thread exists. Handlers use only
 * what is safe in them; backtrace(3) is, once libgcc has been loaded by a first call.
 */
#include "common/worker/worker_private.h"
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAMES_MAX 64
#define STACK_BYTES (64 * 1024)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_HANDLES_CRASHES 1
#else
#define SANITIZER_HANDLES_CRASHES 0
#endif

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
static pthread_t loop_thread;

static void say(const char *text, size_t len)
{
	ssize_t n = write(STDERR_FILENO, text, len);

	(void)n;
}

static void write_backtrace(void)
{
	void *frames[FRAMES_MAX];
	int n = backtrace(frames, FRAMES_MAX);

	backtrace_symbols_fd(frames, n, STDERR_FILENO);
}

static void on_crash(int number)
{
	char text[] = "worker crashed by signal 00, backtrace:\n";

	text[25] = (char)('0' + number / 10 % 10);
	text[26] = (char)('0' + number % 10);
	say(text, sizeof(text) - 1);
	write_backtrace();
	/* The handler was reset to the default: the signal now ends the process. */
	raise(number);
}

static void on_usr2(int number)
{
	static const char text[] = "backtrace of the loop:\n";

	if (!pthread_equal(pthread_self(), loop_thread)) {
		pthread_kill(loop_thread, number);
		return;
	}
	say(text, sizeof(text) - 1);
	write_backtrace();
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

void worker_signals_init(void)
{
	const size_t count = sizeof(crash_signals) / sizeof(crash_signals[0]);
	stack_t stack = {.ss_size = STACK_BYTES, .ss_sp = malloc(STACK_BYTES)};
	void *frames[1];
	sigset_t blocked;

	loop_thread = pthread_self();
	sigfillset(&blocked);
	for (size_t i = 0; i < count; i++)
		sigdelset(&blocked, crash_signals[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	backtrace(frames, 1);
	if (stack.ss_sp)
		sigaltstack(&stack, NULL);
	for (size_t i = 0; i < count; i++)
		if (!SANITIZER_HANDLES_CRASHES || crash_signals[i] == SIGABRT)
			handle(crash_signals[i], on_crash,
				SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
	handle(SIGUSR2, on_usr2, SA_RESTART | SA_ONSTACK);
	handle(SIGPIPE, SIG_IGN, 0);
	handle(SIGHUP, SIG_IGN, 0);
	handle(SIGINT, SIG_IGN, 0);
}

void worker_signals_unblock(void)
{
	sigset_t mine;

	sigemptyset(&mine);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGUSR2);
	pthread_sigmask(SIG_UNBLOCK, &mine, NULL);
}

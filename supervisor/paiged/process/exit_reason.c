/* exit_reason.c - see exit_reason.h. Pure but for memory. */
#include "supervisor/paiged/process/exit_reason.h"

#include "proto/worker.h"
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

void exit_reason_set(
	struct exit_reason *e, const siginfo_t *info, int spawn_error, struct wall at)
{
	e->at = at;
	e->core = info->si_code == CLD_DUMPED;
	if (spawn_error) {
		e->kind = EXIT_REASON_SPAWN;
		e->code = spawn_error;
	} else {
		e->kind = info->si_code == CLD_EXITED ? EXIT_REASON_EXIT
						      : EXIT_REASON_SIGNAL;
		e->code = info->si_status;
	}
}

bool exit_reason_parks(const struct exit_reason *e)
{
	return e->kind == EXIT_REASON_EXIT &&
	       (e->code == WORKER_EXIT_CONFIG || e->code == WORKER_EXIT_USAGE);
}

const char *exit_reason_kind_name(enum exit_reason_kind kind)
{
	static const char *const names[] = {"none", "exit", "signal", "spawn"};

	return names[kind];
}

static void print_exit(int code, struct buf *out)
{
	static const struct {
		int code;
		const char *doc;
	} known[] = {
#define WORKER_EXIT(symbol, code_, does, doc_) {code_, doc_},
#include "proto/catalogue/exits.def"
#undef WORKER_EXIT
	};

	buf_printf(out, "exit code %d", code);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].code == code)
			buf_printf(out, ": %s", known[i].doc);
}

void exit_reason_print(const struct exit_reason *e, struct buf *out)
{
	switch (e->kind) {
	case EXIT_REASON_NONE:
		break;
	case EXIT_REASON_EXIT:
		print_exit(e->code, out);
		break;
	case EXIT_REASON_SIGNAL:
		buf_printf(out, "killed by signal %d (%s)%s", e->code, strsignal(e->code),
			e->core ? ", core dumped" : "");
		break;
	case EXIT_REASON_SPAWN:
		buf_printf(out, "could not be started: %s%s", strerror(e->code),
			e->code == ENOENT ? "; its program is not installed" : "");
		break;
	}
}

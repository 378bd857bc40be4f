/*
 * process.h - one agent as a process behind its reaper: started, written to, read from,
 * ended by INT, TERM and KILL.
 *
 * Called by sessions.c; all on the worker's loop, never blocking. Knows lines, not what
 * they mean. The callbacks may not free the process but from `on_end`.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "workers/agent/process/line_reader.h"
#include "workers/agent/process/reaper.h"
#include <event2/buffer.h>
#include <event2/event.h>
#include <stdbool.h>

/* A line of output; longer ones are skipped. */
#define PROCESS_LINE_MAX (16u * 1024 * 1024)
/* Bytes queued for an agent that does not read. */
#define PROCESS_INPUT_MAX (16u * 1024 * 1024)
/* From a message to INT, from INT to TERM, and from TERM to KILL. All that INT leads to
 * is over within 5 s, also on a machine that is at work. */
#define PROCESS_ASK_MS 2000
#define PROCESS_INTERRUPT_MS 1500
#define PROCESS_TERMINATE_MS 2000
#define PROCESS_ERROR_LINES 20
#define PROCESS_ERROR_LINE_MAX 500

struct process;

struct process_end {
	struct reaper_report report;
	int64_t uptime_ms;
	struct str errors; /* its last lines of stderr; borrowed during on_end */
};

struct process_events {
	/* A line of stdout (line_reader.h); NULL: one that was too long. */
	line_fn *on_line;
	/* It has ended, with all it had started. Frees the process afterwards. */
	void (*on_end)(void *arg, const struct process_end *end);
	void *arg;
};

/* Starts argv in the directory `cwd_fd`; the reaper keeps `lock_fd` open as long as it is
 * there. NULL with errno. If the program cannot be executed, on_end reports it. */
struct process *process_new(struct event_base *base, char *const *argv,
	char *const *environment, int cwd_fd, int lock_fd, struct process_events events)
	__attribute__((warn_unused_result));

/* Writes a line that is made of pieces and takes their memory: it goes out as the program reads, some of it
 * in each turn of the loop. 0; -ENOBUFS: too much waits already, and -EPIPE: it has closed its input;
 * then the memory is left or taken, and the pieces say which. */
int process_write(struct process *p, struct buf *pieces, size_t count)
	__attribute__((warn_unused_result));

/* The same for a line with a part that is `shared`: it is borrowed until `done` is called with
 * `arg`, in any case and once, perhaps within this call. */
int process_write_shared(struct process *p, struct str before, struct str shared,
	evbuffer_ref_cleanup_cb done, void *arg, struct str after)
	__attribute__((warn_unused_result));

/* No line comes before process_resume, nor on_end when it ends meanwhile; it is not read from. */
void process_pause(struct process *p);
/* Not from on_line. Lines and the end may come during the call: the process may be freed then. */
void process_resume(struct process *p);

/* Ends it: INT, TERM and KILL, one after the other until it has ended. It never goes back
 * to an earlier stage. PROCESS_ASKED: the caller has asked it by a message to
 * stop what it does; the signals follow when process_go_on does not come in time. */
enum process_stage {
	PROCESS_RUNNING,
	PROCESS_ASKED,
	PROCESS_INTERRUPTED,
	PROCESS_TERMINATED,
	PROCESS_KILLED
};
void process_stop(struct process *p, enum process_stage first);
/* The interrupted turn has ended, so the process continues. Does nothing once TERM was sent. */
void process_go_on(struct process *p);
enum process_stage process_stage_of(const struct process *p);

/* It has ended: on_end comes as soon as its last lines are taken. */
bool process_is_over(const struct process *p);

/* Number of the reaper's process, which is a child of this one. */
pid_t process_reaper(const struct process *p);

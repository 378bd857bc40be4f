/*
 * process.h - one worker as a process: does what policy.h says.
 *
 * Owns the process, its pidfd and its control socket. Decides nothing by itself: every
 * event goes through policy_step. Called by process_table.c, which owns all of them, and
 * read by status.c; all on the one loop.
 */
#pragma once

#include "common/bus/rules/bus_keys.h"
#include "common/settings/settings.h"
#include "supervisor/paiged/logs/logs.h"
#include "supervisor/paiged/process/broker.h"
#include "supervisor/paiged/process/channel.h"
#include "supervisor/paiged/process/exit_reason.h"
#include "supervisor/paiged/process/policy.h"
#include "supervisor/paiged/process/usage.h"
#include "supervisor/shared/listener.h"

/* What is the same for all workers. Borrowed, and not changed while there are processes.
 */
struct process_shared {
	struct event_base *base;
	const struct settings *settings;
	const struct listener *listener;
	struct logs *logs;
	const char *program_dir; /* holds <name>/paige-<name> (the build tree), or
				    paige-<name> */
	const char *runtime_dir; /* what it says may change: the next start takes it */
	const char *token;
	struct broker *broker; /* NULL: workers connect by themselves */
	uint64_t epoch;
	struct bus_key bus_keys[WORKER_COUNT][WORKER_COUNT]; /* by caller and owner */
	bool booted;   /* all were READY once: what fails now may be a passing trouble */
	bool stopping; /* nothing is started any more */
	/* The gateway has a question (WORKER_PACKET_ASK); takes `fd`. */
	void (*on_ask)(void *arg, int fd);
	void *arg;
	/* Made active after anything that others may want to know. */
	struct event *changed;
};

struct process {
	struct process_shared *shared;
	enum worker_id id;
	struct policy policy;
	bool held; /* somebody has stopped it: it stays so until somebody starts it */
	pid_t pid; /* 0: no process */
	int pidfd; /* -1: no process */
	struct event *exited;
	struct event *timer; /* policy.deadline */
	struct channel channel;
	char runtime_dir[108]; /* that it was started with */
	bool brokered;	       /* the broker has been given to it */
	bool cut_off;	       /* the broker may no longer connect for it */
	struct mono started_at;
	int spawn_error; /* errno that the child reported instead of running the program
			  */
	struct exit_reason last;
	/* What it said of itself last (type worker_status); empty when it said nothing.
	 */
	struct buf condition, reason, confinement, detail;
	struct usage_sample usage; /* an earlier one, for the share of a processor */
};

/* `shared` is borrowed. */
void process_init(struct process *p, enum worker_id id, struct process_shared *shared);
void process_step(struct process *p, enum policy_event_kind event);
/* Whether the settings ask for it (workers.def). */
bool process_enabled(const struct process *p);
/* Enabled, and nobody has stopped it. */
bool process_wanted(const struct process *p);
/* That of the policy; "stopped" for one that somebody has stopped. */
const char *process_state_name(const struct process *p);
/* Neither asked for nor there: nobody is told of it. */
bool process_absent(const struct process *p);
/* Looks whether the broker may still connect for it; logs when that has changed. */
void process_look(struct process *p);
/* How it is, for whoever asks: what it said of itself last, unless it is silent since or
 * the broker may no longer connect for it, of which it knows nothing.
 * Borrowed; the reason is absent when there is none. */
struct str process_condition(const struct process *p);
struct str process_reason(const struct process *p);
/* Ends a process that is still there by force, and waits for it. */
void process_fini(struct process *p);

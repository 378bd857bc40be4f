/*
 * daemon.h - the supervisor as a whole: start, run, reload, stop.
 *
 * Called by paiged.c; its parts call back on the one loop. Links libevent, yyjson and
 * libsystemd only, has one thread beside broker.c's, never touches the bus or a
 * database.
 */
#pragma once

#include "supervisor/paiged/process/process_table.h"
#include "supervisor/shared/listener.h"
#include "supervisor/shared/lock.h"
#include "supervisor/shared/token.h"

struct ctl;

struct daemon {
	const char *config_file; /* NULL: none */
	struct settings settings;
	char runtime_dir[108];
	char *program_dir;
	char token[TOKEN_SIZE];
	struct wall started_wall;
	struct mono started;
	struct buf url;
	int port; /* the actual one, also after the listener is closed */
	struct lock lock;
	struct listener listener;
	struct event_base *base;
	struct logs *logs;
	struct event *signals;
	int signal_fd;
	struct event *tick;
	struct mono last_tick;
	int64_t tick_ms;
	struct broker *broker; /* NULL: the kernel does not allow it */
	struct process_table processes;
	struct ctl *ctl;
	bool runtime_lost; /* the directory is gone, and that was logged */
	bool announced;	   /* ready was announced */
	int exit_code;
};

/* Runs until it is stopped. `settings` are valid and taken. All signals that the daemon
 * handles are blocked. Returns the exit code of the program. */
int daemon_run(struct settings *settings, const char *config_file);
/* Stops in order; a second call hurries. `why` is logged. Callable from callbacks. */
void daemon_stop(struct daemon *d, const char *why, int exit_code);
/* Makes a new token, for clients and in paiged.json, and restarts the gateway with it.
 * 0, or -errno with the old token still valid. */
int daemon_rotate_token(struct daemon *d) __attribute__((warn_unused_result));
/* "starting", "running", "stopping" */
const char *daemon_state_name(const struct daemon *d);

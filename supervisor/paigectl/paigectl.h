/*
 * paigectl.h - what the commands of paigectl share.
 *
 * paigectl is short-lived and never joins the bus: it asks the supervisor over ctl.sock,
 * reads log files, and speaks HTTP to the gateway.
 */
#pragma once

#include "common/settings/settings.h"
#include "proto/codec/codec.h"
#include "proto/codec/messages.h"
#include "supervisor/shared/options.h"
#include <sys/socket.h>

enum paigectl_exit {
#define PAIGECTL_EXIT(symbol, code, doc) PAIGECTL_##symbol = (code),
#include "supervisor/shared/paigectl_exits.def"
#undef PAIGECTL_EXIT
};

/* The commands; each returns an exit code, and prints why when it is not 0. */
int paigectl_status(const struct options *o);
int paigectl_top(const struct options *o);
int paigectl_list(const struct options *o);
int paigectl_open(const struct options *o);
int paigectl_sessions(const struct options *o);
int paigectl_start(const struct options *o);
int paigectl_restart(const struct options *o);
int paigectl_wait(const struct options *o);
int paigectl_reload(const struct options *o);
int paigectl_stop(const struct options *o);
int paigectl_logs(const struct options *o);
int paigectl_config(const struct options *o);
int paigectl_doctor(const struct options *o);
int paigectl_cost(const struct options *o);
int paigectl_backup(const struct options *o);
int paigectl_restore(const struct options *o);
int paigectl_export(const struct options *o);
int paigectl_import(const struct options *o);
int paigectl_token(const struct options *o);
int paigectl_guard(const struct options *o);
int paigectl_hook(const struct options *o);
int paigectl_mirror(const struct options *o);
int paigectl_edits(const struct options *o);
int paigectl_tap(const struct options *o);

/* Prints to standard error, with the program's name in front and a newline at the end.
 * Returns `code`. */
int paigectl_fail(int code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The whole number that an option gives; *value stays as it is without the option. PAIGECTL_DONE; or
 * PAIGECTL_USAGE, after having said what is wrong. */
int paigectl_number(
	const struct options *o, const char *name, long least, long most, long *value);

/* For --json: prints what came as JSON, with indentation, or what a command made, as JSON of its type. An exit code. */
int paigectl_print_json(yyjson_val *value);
int paigectl_print_message(const struct type *type, const void *message);

/* Whether `name` is a worker, or `also` unless that is NULL. PAIGECTL_DONE; or
 * PAIGECTL_USAGE, after having said what may be meant. */
int paigectl_check_worker(const char *name, const char *also);

/* One line for each worker, in 80 columns; of worker_table.c. */
void worker_table_print(const struct ctl_status *s);
/* Whether a worker that should run is not ready; of command_status.c. */
bool paigectl_worker_lacks(const struct ctl_worker *w);

/* ---- client.c: the supervisor ---- */

struct daemon_place {
	char *data_dir;
	pid_t pid; /* 0: not running */
	char runtime_dir[108];
};

/* Where the daemon of these settings is. Where they do not name DATA_DIR and none runs on
 * the default, it is the one that machine_find knows. Prints what is wrong and returns
 * an exit code other than 0 when DATA_DIR is unknown. The place is freed with
 * place_free. */
int place_find(const struct options *o, struct daemon_place *place);
void place_free(struct daemon_place *place);
/* AUTO_PLACE place = {0}; is freed at the end of its block. */
#define AUTO_PLACE __attribute__((cleanup(place_free))) struct daemon_place
/*
 * Sends one request (JSON) and waits for the answer, for at most `limit_ms`. 0 with *doc
 * to be freed; or an exit code, after having said why: not running, refused, an error in
 * the answer.
 */
int client_ask(const struct daemon_place *place, struct str request, int limit_ms,
	yyjson_doc **doc);
/* Reads an answer, or a part of one, into a message, which borrows from both. 0, or an exit code
 * after having said what is wrong. */
int client_read(
	yyjson_val *answer, const struct type *type, struct arena *arena, void *out);
/* Asks for the status. 0 with *status, which borrows from the arena and *doc, to be freed; or an
 * exit code, after having said why. */
int client_status(const struct daemon_place *place, int limit_ms, struct arena *arena,
	struct ctl_status *status, yyjson_doc **doc);
/* As client_ask, but prints nothing: 0 with *doc and the daemon that answered, or -errno. */
int client_try(const char *runtime_dir, struct str request, int limit_ms,
	struct ucred *peer, yyjson_doc **doc);
/* Asks for the tap. 0 with a pipe to read lines of type tapped from, and the connection,
 * which ends the tap when it is closed; or an exit code, after having said why. */
int client_tap(const struct daemon_place *place, int *pipe_fd, int *connection);

/* ---- machine.c: all daemons of this machine ---- */

#define MACHINE_MAX 64

struct machine_entry {
	struct machine_daemon shown;
	struct str config_file; /* absent when there is none */
	struct str session;	/* id of the active coaching session; absent: none */
	bool ours; /* to steer: it is of this user, or we are root and a unit runs it */
};

struct machine {
	struct machine_entry items[MACHINE_MAX];
	size_t count;
	struct arena arena; /* the strings */
};

/* Asks every control socket that has a listener. Takes 10 seconds at most. Free it with
 * machine_free. */
void machine_look(struct machine *m);
/*
 * The daemon that is meant where DATA_DIR is not named: the one that was started with
 * this
 * --config FILE; without a FILE, the only one that is ours. *place stays as it is when
 * there is none; an exit code when there are several, after having said which.
 */
int machine_find(const char *config_file, struct daemon_place *place);
/* The daemon that is ours and in whose project the path is, which need not exist; NULL: none. */
const struct machine_entry *machine_of_project(const struct machine *m, const char *path);
/* Where it is; freed with place_free. */
void machine_place(const struct machine_entry *entry, struct daemon_place *place);
void machine_free(struct machine *m);

/* ---- gateway_client.c: the gateway ---- */

/*
 * Sends one HTTP request to the gateway, a POST of the JSON text `post` or a GET when it
 * is NULL, and waits for the answer, for at most `limit_ms`. 0 with *doc to be freed when
 * it went well; or an exit code, after having said why.
 */
int gateway_ask(const struct daemon_place *place, const char *path, const char *post,
	int limit_ms, yyjson_doc **doc);

/* ---- terminal.c ---- */

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_DIM };

/*
 * Call it first. What is printed to the standard output from then on may hold text from
 * outside: whatever would act on a terminal is escaped, but for newlines and tabs.
 */
void terminal_init(void);
/* Appends text so escaped. */
void terminal_add_shown(struct buf *out, struct str text);
/* Prints text, coloured on a terminal that wants colours (NO_COLOR unset, TERM not
 * "dumb"). */
void terminal_print(enum colour colour, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints one column, `width` characters wide: of a text that is too long its end, or its
 * beginning, is cut off and marked. Absent text is a dash. */
enum terminal_cut { TERMINAL_CUT_END, TERMINAL_CUT_BEGINNING };
void terminal_cell(struct str text, int width, enum terminal_cut cut);
/* "3 h 12 min", "45 s", "120 ms" */
void terminal_duration(int64_t ms, char out[32]);
/* The same in at most 6 characters: "3h12m", "45s", "12d4h" */
void terminal_age(int64_t ms, char out[32]);
/* Empties the terminal, so that what follows stands at its top. */
void terminal_clear(void);
/* The width of the terminal, at least 80; 80 without a terminal. */
int terminal_columns(void);
/* "8.1 MiB" */
void terminal_bytes(int64_t bytes, char out[32]);

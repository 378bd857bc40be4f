/*
 * agents.h - the agent sessions, their clients, and the bus between them: the core of
 * the worker.
 *
 * clients.c speaks with clients, sessions.c owns sessions and their programs, output.c is what
 * they say, session_recovery.c restores sessions in a new worker; requests.c serves requests of clients; main.c
 * starts and ends. One loop, nothing blocks. Messages to a client go out
 * as bus events agent/<connectionId>, in order, many messages in one event.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/ids.h"
#include "common/loop/jobs.h"
#include "common/worker/worker.h"
#include "proto/codec/messages.h"
#include "workers/agent/folders.h"
#include "workers/agent/idle_driver.h"
#include "workers/agent/process/process.h"
#include "workers/agent/prompts.h"
#include "workers/agent/session_record.h"
#include <stdarg.h>
#include <sys/queue.h>

#define AGENTS_MAX_SESSIONS 32
#define AGENTS_MAX_CLIENTS 512
/* Messages to a client are published when this much is queued, or at the end of the turn. */
#define CLIENT_OUTGOING_BYTES (256u * 1024)
/* A longer message is published in such pieces, one in a turn of the loop. */
#define CLIENT_PIECE_BYTES (256u * 1024)
/* While a client has more to read than this, the program of its session is not read from: for so
 * long at most since it has read something. Less than its queue in the gateway may hold. */
#define CLIENT_UNREAD_BYTES (4u * 1024 * 1024)
#define CLIENT_WAIT_MS 5000
/* A program that ends by itself within this time failed to start. */
#define AGENTS_EARLY_MS 2000
/* How long the end of a program that has closed its input is waited for, and how many prompts may wait
 * for it. */
#define AGENTS_CLOSED_MS 5000
#define AGENTS_UNWRITTEN_MAX 64

/* Requests of a program that wait for an answer, and their ids. */
#define AGENT_ASKS_MAX 64
#define AGENT_ASK_ID_MAX 128

struct agents;
struct agent_ask;
struct control;
struct said;

/* What is said in a session, in order (output.c). */
struct session_output {
	struct said *under_way; /* on the thread; or NULL */
	bool sending; /* the newest message goes to one client after the other */
	STAILQ_HEAD(, said) waiting;
	struct event *step;
};

/* A program that has closed its input is most often about to end, and its end says more (talk.c). */
struct session_input {
	size_t unwritten;	/* prompts that wait for that */
	bool stays;		/* it has not ended in time */
	struct event *deadline; /* of its end */
};

struct agent_session {
	LIST_ENTRY(agent_session) link;
	struct agents *agents;
	char id[UUID_SIZE];
	struct folder folder;
	bool beginning; /* what happened before is being read: who joins waits for it */
	bool ending;	/* is removed when its program has ended; nobody may join */
	struct process *process; /* NULL: the next prompt starts it */
	struct record record;	 /* of what follows */
	struct record_state state;
	struct idle_driver driver;
	struct prompts prompts;
	struct session_input input;
	struct session_output output;
	bool aborted; /* a turn of this program was interrupted */
	LIST_HEAD(, agent_ask) asks;
	size_t ask_count;
	struct event *timer; /* idle_driver_deadline */
};

struct agent_client {
	LIST_ENTRY(agent_client) link;
	struct agents *agents;
	char id[UUID_SIZE];	       /* connectionId */
	struct agent_session *session; /* NULL: in the lobby */
	bool owed; /* the newest message of the session, which is long; what is queued waits */
	size_t owed_at;	     /* what it has of it */
	struct buf outgoing; /* messages to publish, one a line */
	size_t unread_bytes; /* published and not told to be read (client_has_read) */
	struct mono read_at; /* when it has last read something, or had little to read */
	size_t requests_beside; /* requests.c */
};

LIST_HEAD(agent_clients, agent_client);

struct agents {
	struct worker *worker;
	struct jobs *jobs;  /* reads and records what is long */
	struct arena arena; /* of the following two */
	char **command;
	char **environment;
	char *claude_dir; /* where Claude Code keeps its sessions */
	struct folder root;
	int records_fd; /* DATA_DIR/agents */
	int lock_fd;	/* in it; reapers hold it, too */
	LIST_HEAD(, agent_session) sessions;
	struct agent_clients clients;
	size_t session_count, client_count, process_count;
	char gateway[17]; /* generation of the gateway that the clients came by */
	struct event *flush;
	struct event *states; /* tells those who follow the sessions */
	struct buf told;      /* what they were told last */
	struct event *sweep;  /* children that a killed reaper has left */
	bool stopping;
};

/* ---- clients.c ---- */

struct agent_client *client_of(struct agents *a, struct str id);
/* NULL: too many. */
struct agent_client *client_new(struct agents *a, struct str id);
/* Leaves its session. */
void client_free(struct agent_client *client);
/* Queues one message, JSON text. */
void client_send(struct agent_client *client, struct str message);
/* The client is owed a long message behind those that are queued. */
void client_owe(struct agent_client *client);
/* The gateway has passed on so many bytes of what was published. */
void client_has_read(struct agent_client *client, size_t bytes);
/* How long the program is to wait for this client; 0: not at all. */
int64_t client_wait_ms(const struct agent_client *client);
/* Publishes the next piece of it. */
void client_send_piece(struct agent_client *client, struct str message);
/* Encodes a message of proto/catalogue/agent.def. */
void client_say(
	struct agent_client *client, const struct type *type, const void *message);
void client_say_notice(struct agent_client *client, const char *type);
/* An error that Paige itself tells; its text is of the arena. */
struct agent_error error_message(struct arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void client_say_error(struct agent_client *client, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Publishes the queued messages of all clients; called at the end of the turn. */
void clients_flush(struct agents *a);

/* ---- sessions.c ---- */

struct agent_session *session_of(struct agents *a, struct str id);
struct agent_session *session_in(struct agents *a, const char *folder);
/* Begins a session and records it; takes folder.fd, in any case. `known`: the program was
 * in it before, and its record is read beside the loop (session_begun). NULL, or why not;
 * static text. */
const char *session_begin(struct agents *a, const char *id, struct folder folder,
	bool known, struct agent_session **out);
/* Restores a session of an earlier worker, without clients. Takes all three. */
void session_restore(struct agents *a, const char *id, struct folder folder,
	struct record *record, struct record_state *state);
/* Its record is read and written anew, or could not be (-errno): who has joined gets the history, or
 * is told so. */
void session_begun(struct agent_session *session, int error);
/* Adds the client; it gets the history first. What it asks for until then is served behind it
 * (requests.c). */
void session_join(
	struct agent_session *session, struct agent_client *client, bool resumed);
void session_leave(struct agent_client *client);
/* Starts the program. NULL, or why not; static text. */
const char *session_start(struct agent_session *session);
/* One of enum idle_item has happened (idle_driver.h). */
void session_happened(struct agent_session *session, int event);
/* Ends program and session; its clients are in the lobby then. */
void session_close(struct agent_session *session);
/* All that was said is recorded and sent: what waited for that goes on, in a later turn. */
void session_settled(struct agent_session *session);
void sessions_stop(struct agents *a);

/* ---- output.c ---- */

void output_init(struct agent_session *session);
/* Only when it is not busy. */
void output_fini(struct agent_session *session);
/* Whether something that was said is not yet recorded and sent; session_settled follows. Until then
 * the record belongs to it. */
bool output_is_busy(const struct agent_session *session);
/* A line of the program; for process_events, with the session. */
line_fn output_line;
/* Sends to all clients of the session, and to those that come later. */
void session_tell(struct agent_session *session, enum record_line line,
	const struct type *type, const void *message);
/* The same for a message that is encoded already; takes its memory. */
void session_tell_text(
	struct agent_session *session, enum record_line line, struct buf *message);
void session_tell_error(struct agent_session *session, enum record_line line,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sends the newest message to a client that joins, at once or in pieces. */
void output_send_newest(struct agent_session *session, struct agent_client *client);
/* A client has read: perhaps the program may be read from again. */
void output_go_on(struct agent_session *session);
/* First of all: takes up the record that was put aside; session_begun follows. */
void output_begin(struct agent_session *session);
/* Recorded behind all that was said before: at once, unless that takes its time. The program is
 * about to be started; it could not be. */
void output_started(struct agent_session *session);
void output_not_started(struct agent_session *session);
/* The session ends: a client may resume it; or it is told that none may, and leaves. */
void output_put_aside(struct agent_session *session);
void output_close(
	struct agent_session *session, const struct agent_session_closed *closed);

/* ---- talk.c ---- */

void talk_init(struct agent_session *session);
void talk_fini(struct agent_session *session);
/* Sends a prompt of a client to the program, starting it when needed. `content` is JSON, a string or
 * an array; its memory is taken. NULL, or why not; static text. If the program has closed its input, its
 * end is waited for, which says why; the client is told of the input alone when that does not come. */
const char *session_prompt(struct agent_session *session,
	const struct agent_client *client, struct buf *content);
/* Interrupts the turn: by a message to the program, and by signals when that does not
 * help (process.h). False when there is none. */
bool session_abort(struct agent_session *session);
/* The program has ended; before session_keep_prompts. Whether prompts have waited for that. */
bool session_input_over(struct agent_session *session);
/* The program has ended. If an abort ended it, prompts that it had not read are kept;
 * otherwise it may have done part of them, so the clients decide. Returns how many are
 * kept. */
size_t session_keep_prompts(struct agent_session *session, const struct process_end *end);
/* Sends them to a new program. */
void session_send_kept(struct agent_session *session);

/* ---- asks.c ---- */

/* What a line of the program says if it belongs to the control protocol; or NULL. On any
 * thread. `answer_ms`: how long a request may wait. */
struct control *asks_read(yyjson_val *message, int64_t answer_ms);
void control_free(struct control *control);
/* Handles it, and takes it. */
void asks_take(struct agent_session *session, struct control *control);
/* A client answers. `input`, JSON or empty, is that of the request, and may be taken. NULL, or why
 * not; static text or of the arena. */
const char *asks_answer(struct agent_session *session,
	const struct agent_request *request, struct buf *input, struct arena *arena);
/* The program has ended: drops its open requests and tells the clients. */
void asks_cancel(struct agent_session *session);
/* The same without telling the clients. */
void asks_forget(struct agent_session *session);

/* ---- session_recovery.c ---- */

/* Writes the record of a session, or writes it anew. 0 or -errno. On any thread, as all of the
 * following. */
int session_record(struct agent_session *session) __attribute__((warn_unused_result));
/* Records a line. Call it before a client hears of it, and before starting the program. If it
 * cannot be written, the session continues without; each later line tries again,
 * except the many within a turn. On any thread; record_apply is the caller's. */
void session_write(
	struct agent_session *session, enum record_line line, struct str about);
/* Whether this line would have the record written anew: up to 22 MiB. */
bool session_rewrites(const struct agent_session *session, enum record_line line);

/* A session that a client may resume has ended: its record is set aside. See output_put_aside. */
void session_put_aside(struct agent_session *session);
/* The history of a session that was put aside, if that was in the same folder: up to
 * RECORD_MAX_BYTES are read. */
/* Then it is recorded anew. 0 or -errno. The history is not to be used meanwhile. */
int session_take_up(struct agent_session *session) __attribute__((warn_unused_result));

/* Once, before any client connects: waits until the processes of an earlier worker have
 * ended, and restores its sessions. 0 or -errno. */
int sessions_open(struct agents *a) __attribute__((warn_unused_result));

/* ---- session_states.c ---- */

/* Before the first session. */
void session_states_init(struct agents *a);
/* Serves METHOD_AGENT_SESSIONS; `arg` is the agents. */
void session_states_serve(void *arg, struct bus_request *request, const void *message);
/* Something has happened in a session: those who follow are told soon, once for all that
 * happens until then. */
void session_states_changed(struct agents *a);

/* ---- requests.c ---- */

/* Serves METHOD_AGENT_MESSAGE; `arg` is the agents. A long message is read beside the loop; what the
 * client sends behind it is, too. */
void requests_serve(void *arg, struct bus_request *request, const void *message);
/* A client came with ?session=. */
void request_session(struct agent_client *client, struct str id);

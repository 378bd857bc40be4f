/*
 * server.h - the connection to PostgreSQL: one, and at most one statement under way on it.
 *
 * The connection is made on a thread, because libpq looks up names and shakes hands for TLS without a loop; statements go over
 * the worker's loop. Everything has a deadline. Only server.c knows libpq.
 */
#pragma once

#include "common/base/str.h"
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

/* To one address; MIRROR_URL may say otherwise (connect_timeout). */
#define SERVER_CONNECT_SECONDS "10"
/* For a statement, which may wait for the migration of others. */
#define SERVER_STATEMENT_MS 60000
/* PostgreSQL gives up first, and says why. A statement that only this end has given up waits on there, perhaps for hours, and
 * keeps a connection of its own, while the next attempt takes another. */
#define SERVER_LOCK_WAIT "30s"
#define SERVER_STATEMENT_WAIT "55s"
#define SERVER_PARAMETERS_MAX 4
/* Files that MIRROR_URL may name: sslrootcert, sslcert, sslkey, sslcrl, passfile. */
#define SERVER_FILES_MAX 5

struct server;

/* What came of it; borrowed until the callback returns. */
struct server_answer {
	bool ok;
	char state
		[6]; /* SQLSTATE of what the server refused; empty: the connection is at fault */
	const char *message; /* when not ok: one line */
	void *rows;	     /* for server_row */
};

#define SERVER_WHY_MAX 600
/* Why an answer is not ok, in a sentence for people. */
void server_explain(const struct server_answer *answer, char why[SERVER_WHY_MAX]);

typedef void server_fn(void *arg, const struct server_answer *answer);

/* Looks at a URL without connecting: NULL when it can be used, else why not, in a sentence that tells no secret; to be freed. */
char *server_check_url(const char *url);
/* The files that the URL names, ended by NULL; to be freed with all of them when the process ends. */
void server_files(const char *url, char *files[SERVER_FILES_MAX + 1]);

/* NULL with errno when no descriptor is left. The URL is borrowed. */
struct server *server_new(struct event_base *base, const char *url);
bool server_is_connected(const struct server *server);
/* Connects; a connection that there is must be closed before. Callbacks never run inside these calls. */
void server_connect(struct server *server, server_fn *fn, void *arg);
/* Sends the statement that has PostgreSQL give up in time; the first one of a connection that writes. */
void server_send_limits(struct server *server, server_fn *fn, void *arg);
/* Sends a statement with its parameters as text, which are copied. Without a connection that is what is told. */
void server_send(struct server *server, const char *sql, size_t count,
	const char *const values[], server_fn *fn, void *arg);
/* Column `column` of row `row` of an answer; false when there is no such row. */
bool server_row(const struct server_answer *answer, int row, int column, struct str *out);
/* Closes the connection, if there is one. Not while something is under way. */
void server_close(struct server *server);

/* server.c - see server.h. */
#include "workers/mirror/server.h"
#include "common/base/alloc.h"
#include "common/loop/jobs.h"
#include "common/loop/timer.h"
#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX 400

struct server {
	const char *url;
	struct event_base *base;
	struct jobs *jobs;
	struct job connecting;
	PGconn *connection; /* while connecting, the thread's */
	bool connected;
	struct event *readable, *writable, *deadline;
	PGresult *result; /* the first that came of the statement under way */
	server_fn *fn;	  /* of what is under way, else NULL */
	void *arg;
};

/* ---- the URL ---- */

static const char *option(const PQconninfoOption *options, const char *keyword)
{
	for (; options && options->keyword; options++)
		if (strcmp(options->keyword, keyword) == 0)
			return options->val;
	return NULL;
}

char *server_check_url(const char *url)
{
	PQconninfoOption *options;
	const char *host;
	char *error = NULL, *problem = NULL;

	if (strncmp(url, "postgresql://", 13) != 0 &&
		strncmp(url, "postgres://", 11) != 0)
		return xstrdup("it must begin with postgresql://");
	options = PQconninfoParse(url, &error);
	PQfreemem(error); /* it may quote a part of the URL, and that the password */
	if (!options)
		return xstrdup("it is no connection URI of PostgreSQL");
	host = option(options, "host");
	if (!host || !*host)
		host = option(options, "hostaddr");
	if (!host || !*host || *host == '/' || strstr(host, ",/"))
		problem = xstrdup("it must name a host, and not a socket of Unix, which "
				  "this worker may not reach");
	PQconninfoFree(options);
	return problem;
}

void server_files(const char *url, char *files[SERVER_FILES_MAX + 1])
{
	static const char *const keywords[SERVER_FILES_MAX] = {
		"sslrootcert", "sslcert", "sslkey", "sslcrl", "passfile"};
	PQconninfoOption *options = PQconninfoParse(url, NULL);
	size_t count = 0;

	for (size_t i = 0; i < SERVER_FILES_MAX; i++) {
		const char *file = option(options, keywords[i]);

		if (file && *file == '/')
			files[count++] = xstrdup(file);
	}
	files[count] = NULL;
	PQconninfoFree(options);
}

/* ---- what came of it ---- */

/* The first line of a message of libpq. */
static void first_line(const char *message, char out[MESSAGE_MAX])
{
	snprintf(out, MESSAGE_MAX, "%.*s", (int)strcspn(message, "\n"), message);
}

/* Nothing is under way any more: tells it. */
static void settle(struct server *s, struct server_answer *answer)
{
	server_fn *fn = s->fn;

	s->fn = NULL;
	event_del(s->deadline);
	if (!answer->ok && !answer->state[0])
		server_close(s);
	fn(s->arg, answer);
	PQclear(s->result);
	s->result = NULL;
}

static void settle_failed(struct server *s, const char *message)
{
	char line[MESSAGE_MAX];
	struct server_answer answer = {.message = line};

	first_line(message, line);
	settle(s, &answer);
}

void server_explain(const struct server_answer *answer, char why[SERVER_WHY_MAX])
{
	if (!answer->state[0])
		snprintf(why, SERVER_WHY_MAX, "PostgreSQL cannot be reached: %s",
			answer->message);
	else if (strcmp(answer->state, "42501") == 0)
		snprintf(why, SERVER_WHY_MAX,
			"PostgreSQL refuses: %s. The role of MIRROR_URL must be a member "
			"of paige_learner, and the owner of the database makes the "
			"schema: see docs/mirror.md",
			answer->message);
	else if (strcmp(answer->state, "55P03") == 0)
		snprintf(why, SERVER_WHY_MAX,
			"PostgreSQL refuses: %s. Somebody there has locked what the "
			"mirror needs for more than " SERVER_LOCK_WAIT
			": see docs/mirror.md",
			answer->message);
	else
		snprintf(why, SERVER_WHY_MAX, "PostgreSQL refuses: %s (%s)",
			answer->message, answer->state);
}

/* ---- connecting, on the thread ---- */

static void run_connect(struct job *job)
{
	struct server *s =
		(struct server *)((char *)job - offsetof(struct server, connecting));
	/* Those behind the URL win over what it says. */
	const char *const keywords[] = {"connect_timeout", "gssencmode",
		"fallback_application_name", "dbname", "client_encoding", NULL};
	const char *const values[] = {
		SERVER_CONNECT_SECONDS, "disable", "paige", s->url, "UTF8", NULL};

	s->connection = PQconnectdbParams(keywords, values, 1);
}

static void on_readable(evutil_socket_t fd, short what, void *arg);
static void on_writable(evutil_socket_t fd, short what, void *arg);

static void done_connect(struct job *job)
{
	struct server *s =
		(struct server *)((char *)job - offsetof(struct server, connecting));
	struct server_answer answer = {.ok = true};
	evutil_socket_t fd;

	if (!s->connection || PQstatus(s->connection) != CONNECTION_OK ||
		PQsetnonblocking(s->connection, 1) != 0) {
		settle_failed(s,
			s->connection ? PQerrorMessage(s->connection) : "out of memory");
		return;
	}
	fd = PQsocket(s->connection);
	s->readable = alloc_checked(
		event_new(s->base, fd, EV_READ | EV_PERSIST, on_readable, s));
	s->writable = alloc_checked(event_new(s->base, fd, EV_WRITE, on_writable, s));
	event_add(s->readable, NULL);
	s->connected = true;
	settle(s, &answer);
}

void server_connect(struct server *s, server_fn *fn, void *arg)
{
	s->fn = fn;
	s->arg = arg;
	s->connecting = (struct job){.run = run_connect, .done = done_connect};
	jobs_add(s->jobs, &s->connecting);
}

/* ---- statements, on the loop ---- */

static void take_result(struct server *s)
{
	struct server_answer answer = {.ok = true, .rows = s->result};
	ExecStatusType status = PQresultStatus(s->result);
	char line[MESSAGE_MAX];
	const char *state;

	if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
		settle(s, &answer);
		return;
	}
	state = PQresultErrorField(s->result, PG_DIAG_SQLSTATE);
	snprintf(answer.state, sizeof(answer.state), "%s", state ? state : "");
	state = PQresultErrorField(s->result, PG_DIAG_MESSAGE_PRIMARY);
	first_line(state ? state : PQerrorMessage(s->connection), line);
	answer.ok = false;
	answer.message = line;
	settle(s, &answer);
}

static void on_readable(EVENT_UNUSED, void *arg)
{
	struct server *s = arg;
	PGresult *result;

	if (!PQconsumeInput(s->connection)) {
		if (s->fn)
			settle_failed(s, PQerrorMessage(s->connection));
		else
			server_close(
				s); /* between two statements; the next one connects */
		return;
	}
	if (!s->fn)
		return;
	/* What it sends depends on what it has read, when the connection has TLS. */
	if (PQflush(s->connection) == 1)
		event_add(s->writable, NULL);
	while (!PQisBusy(s->connection)) {
		result = PQgetResult(s->connection);
		if (!result) {
			take_result(s);
			return;
		}
		if (s->result)
			PQclear(result);
		else
			s->result = result;
	}
}

static void flush(struct server *s)
{
	int left = PQflush(s->connection);

	if (left == 1)
		event_add(s->writable, NULL);
	/* What fails is told by what is read next. */
}

static void on_writable(EVENT_UNUSED, void *arg)
{
	flush(arg);
}

static void on_deadline(EVENT_UNUSED, void *arg)
{
	const struct server *s = arg;

	settle_failed(arg, s->connected ? "it did not answer a statement within a minute"
					: "it closed the connection");
}

void server_send(struct server *s, const char *sql, size_t count,
	const char *const values[], server_fn *fn, void *arg)
{
	s->fn = fn;
	s->arg = arg;
	if (!s->connected) {
		event_active(s->deadline, EV_TIMEOUT, 0);
		return;
	}
	event_add_ms(s->deadline, SERVER_STATEMENT_MS);
	if (PQsendQueryParams(
		    s->connection, sql, (int)count, NULL, values, NULL, NULL, 0))
		flush(s);
	else
		event_active(s->readable, EV_READ, 0); /* which finds no answer */
}

void server_send_limits(struct server *s, server_fn *fn, void *arg)
{
	static const char *const values[] = {SERVER_LOCK_WAIT, SERVER_STATEMENT_WAIT};

	server_send(s,
		"SELECT set_config('lock_timeout', $1, false), "
		"set_config('statement_timeout', $2, false)",
		2, values, fn, arg);
}

bool server_row(const struct server_answer *answer, int row, int column, struct str *out)
{
	const PGresult *result = answer->rows;

	if (!result || row >= PQntuples(result) || column >= PQnfields(result))
		return false;
	*out = (struct str){PQgetvalue(result, row, column),
		(size_t)PQgetlength(result, row, column)};
	return true;
}

/* ---- life ---- */

struct server *server_new(struct event_base *base, const char *url)
{
	struct server *s = xcalloc(1, sizeof(*s));

	s->url = url;
	s->base = base;
	s->jobs = jobs_new(base);
	s->deadline = alloc_checked(evtimer_new(base, on_deadline, s));
	if (s->jobs)
		return s;
	event_free(s->deadline);
	free(s);
	return NULL;
}

bool server_is_connected(const struct server *s)
{
	return s->connected;
}

void server_close(struct server *s)
{
	if (s->readable)
		event_free(s->readable);
	if (s->writable)
		event_free(s->writable);
	s->readable = s->writable = NULL;
	PQfinish(s->connection);
	s->connection = NULL;
	s->connected = false;
}

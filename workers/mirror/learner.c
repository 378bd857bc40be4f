/* learner.c - see learner.h. */
#include "workers/mirror/learner.h"
#include "common/base/alloc.h"
#include "workers/mirror/server.h"
#include "workers/mirror/sources.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a cursor at a time. */
#define FETCH "FETCH 200 FROM came"
/* A line ends with the row that passes it. */
#define LINE_BYTES (512 * 1024)
/* The largest that is ever sent is a fifth of it. */
#define ROW_BYTES (1024 * 1024)

/* What others belong to comes first. Guard events are not enough to make a machine of. */
static const int order[] = {MIRROR_SESSIONS, MIRROR_PHASES, MIRROR_ASSESSMENTS,
	MIRROR_ACTIONS, MIRROR_API_CALLS};
#define SOURCES (sizeof(order) / sizeof(order[0]))

static struct reader {
	struct server *server;
	struct event_base *base;
	size_t at; /* in `order` */
	struct buf rows;
	int code;
} reader;

/* ---- what is printed ---- */

static void print_line(const struct mirror_part *part)
{
	AUTO_BUF line = {0};

	proto_encode(mirror_part_type(), part, &line);
	buf_add_char(&line, '\n');
	fwrite(line.data, 1, line.len, stdout);
}

/* That is the last line. */
static void end(const struct mirror_part *part)
{
	print_line(part);
	reader.code = part->whole && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	event_base_loopbreak(reader.base);
}

static void end_with(const char *problem)
{
	end(&(struct mirror_part){.problem = str_of(problem)});
}

static bool failed(const struct server_answer *answer)
{
	char why[SERVER_WHY_MAX];

	if (answer->ok)
		return false;
	server_explain(answer, why);
	end_with(why);
	return true;
}

static void print_rows(void)
{
	if (!reader.rows.len)
		return;
	buf_add_char(&reader.rows, ']');
	print_line(&(struct mirror_part){.source = order[reader.at],
		.has_source = true,
		.rows.raw = buf_str(&reader.rows)});
	buf_clear(&reader.rows);
}

/* ---- one source after the other ---- */

static void declare(void);

static void on_closed(void *arg, const struct server_answer *answer)
{
	(void)arg;
	if (failed(answer))
		return;
	reader.at++;
	declare();
}

static void on_fetched(void *arg, const struct server_answer *answer)
{
	struct str row;
	int count = 0;

	if (failed(answer))
		return;
	for (; server_row(answer, count, 0, &row); count++) {
		if (row.len > ROW_BYTES) {
			end_with("A row of PostgreSQL is longer than any that Paige "
				 "sends");
			return;
		}
		buf_add_char(&reader.rows, reader.rows.len ? ',' : '[');
		buf_add_str(&reader.rows, row);
		if (reader.rows.len > LINE_BYTES)
			print_rows();
	}
	print_rows();
	if (count)
		server_send(reader.server, FETCH, 0, NULL, on_fetched, arg);
	else
		server_send(reader.server, "CLOSE came", 0, NULL, on_closed, arg);
}

static void on_declared(void *arg, const struct server_answer *answer)
{
	if (!failed(answer))
		server_send(reader.server, FETCH, 0, NULL, on_fetched, arg);
}

static void declare(void)
{
	AUTO_BUF sql = {0};

	if (reader.at == SOURCES) {
		end(&(struct mirror_part){.whole = true, .has_whole = true});
		return;
	}
	source_query(order[reader.at], &sql);
	server_send(reader.server, sql.data, 0, NULL, on_declared, NULL);
}

/* ---- the beginning ---- */

static void on_version(void *arg, const struct server_answer *answer)
{
	struct str text;
	char why[200];

	(void)arg;
	if (failed(answer))
		return;
	if (server_row(answer, 0, 0, &text) &&
		strtoll(text.ptr, NULL, 10) == SCHEMA_VERSION) {
		declare();
		return;
	}
	snprintf(why, sizeof(why),
		"The schema of PostgreSQL has another version than %d, which this Paige "
		"knows: use the Paige that wrote it",
		SCHEMA_VERSION);
	end_with(why);
}

static void on_begun(void *arg, const struct server_answer *answer)
{
	if (!failed(answer))
		server_send(reader.server, "SELECT version FROM paige.schema_version", 0,
			NULL, on_version, arg);
}

static void on_connected(void *arg, const struct server_answer *answer)
{
	if (!failed(answer))
		server_send(reader.server,
			"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL,
			on_begun, arg);
}

int learner_print(const char *url)
{
	AUTO_FREE char *problem =
		url && *url ? server_check_url(url) : xstrdup("it is not set");
	char why[SERVER_WHY_MAX];

	reader.code = EXIT_FAILURE;
	reader.base = alloc_checked(event_base_new());
	if (problem) {
		snprintf(why, sizeof(why), "MIRROR_URL cannot be used: %s", problem);
		end_with(why);
		return EXIT_FAILURE;
	}
	reader.server = server_new(reader.base, url);
	if (!reader.server) {
		end_with("No descriptor is left");
		return EXIT_FAILURE;
	}
	server_connect(reader.server, on_connected, NULL);
	event_base_dispatch(reader.base);
	server_close(reader.server);
	buf_free(&reader.rows);
	return reader.code;
}

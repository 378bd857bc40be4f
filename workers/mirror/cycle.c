/* cycle.c - see mirror.h. */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/metrics.h"
#include "workers/mirror/mirror.h"
#include <stdio.h>
#include <stdlib.h>

extern const char schema_sql[];

/* ---- the end of a cycle ---- */

static void tell(struct mirror *m, const char *state)
{
	char detail[80];

	snprintf(detail, sizeof(detail), "{\"mirror\":\"%s\"}", state);
	worker_set_detail(m->worker, str_of(detail));
}

static int doubled(int ms, int most)
{
	return 2 * ms < most ? 2 * ms : most;
}

static void turn_within(struct mirror *m, int ms)
{
	unsigned char dice;

	random_bytes(&dice, 1);
	event_add_ms(m->turn, mirror_pause_ms(ms, dice));
}

/* Tries again later. `why` is a sentence. */
static void fail(struct mirror *m, const char *why)
{
	log_warn("the mirror does not get on", "why", "%s", why, "again_in_ms", "%d",
		m->retry_ms, NULL);
	metric_add(METRIC_MIRROR_FAILURES, NULL, 1);
	worker_set_condition(m->worker, WORKER_DEGRADED, why);
	tell(m, "waiting");
	server_close(m->server);
	m->prepared = false;
	turn_within(m, m->retry_ms);
	m->retry_ms = doubled(m->retry_ms, MIRROR_RETRY_MAX_MS);
}

static void fail_with(struct mirror *m, const struct server_answer *answer)
{
	char why[SERVER_WHY_MAX];

	server_explain(answer, why);
	fail(m, why);
}

static void fail_at_store(struct mirror *m, const struct bus_reply *reply)
{
	char why[300];

	snprintf(why, sizeof(why), "The store gives no rows: %.*s",
		STR_ARG(reply->message));
	fail(m, why);
}

/* There is nothing that may be sent and is not in PostgreSQL. At the start nobody knows, and the time counts from there. */
static void count_caught_up(struct mirror *m)
{
	double now = (double)wall_ms(clock_wall()) / 1000;

	metric_add(METRIC_MIRROR_CAUGHT_UP, NULL, now - m->caught_up);
	m->caught_up = now;
}

static void rest(struct mirror *m)
{
	count_caught_up(m);
	m->rest_ms =
		m->moved ? MIRROR_REST_MIN_MS : doubled(m->rest_ms, MIRROR_REST_MAX_MS);
	m->retry_ms = MIRROR_RETRY_MIN_MS;
	worker_set_condition(m->worker, WORKER_FINE, NULL);
	tell(m, "caught up");
	turn_within(m, m->rest_ms);
}

/* ---- another origin ---- */

static void read_positions(struct mirror *m);

static void take_origin(struct mirror *m, struct str origin)
{
	if (str_is(origin, m->origin))
		return;
	snprintf(m->origin, sizeof(m->origin), "%.*s", STR_ARG(origin));
	m->prepared = false;
}

/* Decodes a reply of type mirror_consent. False: it failed, and the cycle is over. */
static bool read_consent(struct mirror *m, enum method method,
	const struct bus_reply *reply, struct arena *arena,
	struct mirror_consent *consent)
{
	struct proto_error error;

	if (reply->status == BUS_OK &&
		bus_reply_decode(method, reply, arena, consent, &error) == 0)
		return true;
	fail_at_store(m, reply);
	return false;
}

static void on_forked(void *arg, const struct bus_reply *reply)
{
	struct mirror *m = arg;
	AUTO_ARENA arena = {0};
	struct mirror_consent consent;

	if (read_consent(m, METHOD_MIRROR_FORK, reply, &arena, &consent)) {
		take_origin(m, consent.origin);
		read_positions(m);
	}
}

/* The database is an earlier one than the positions were made with. Its rows come again by another origin; those that are there
 * are known by their ids. */
static void fork_origin(struct mirror *m)
{
	const struct mirror_origin request = {.origin = str_of(m->origin)};
	char key[UUID_SIZE];

	log_warn("the database is not the one whose rows were carried, such as a backup "
		 "that was "
		 "put back: it goes on by another origin",
		"source", "%s", source_name(m->source), "position", "%lld",
		(long long)m->positions[m->source].number, "origin", "%s", m->origin,
		NULL);
	uuid4(key);
	bus_call_message(m->worker->bus, METHOD_MIRROR_FORK, str_of(key), &request, 0,
		on_forked, m);
}

/* ---- carrying ---- */

static void carry(struct mirror *m);

static void on_sent(void *arg, const struct server_answer *answer)
{
	struct mirror *m = arg;
	struct mirror_position *position = &m->positions[m->source];
	struct metric_labels labels = {0};

	if (!answer->ok) {
		batch_free(&m->batch);
		fail_with(m, answer);
		return;
	}
	position->number = m->batch.last;
	memcpy(position->id, m->batch.last_id, sizeof(position->id));
	metric_label(&labels, "table", source_name(m->source));
	metric_add(METRIC_MIRROR_ROWS, &labels, (double)m->batch.count);
	if (source_is_log(m->source))
		m->moved = m->pass_due = true;
	batch_free(&m->batch);
	carry(m);
}

static void send_batch(struct mirror *m)
{
	char number[24];
	const char *values[SERVER_PARAMETERS_MAX] = {
		m->batch.rows.data, m->origin, number, m->batch.last_id};

	if (m->batch.damaged)
		log_error("rows of the database are damaged and were not carried",
			"table", "%s", source_name(m->source), "rows", "%zu",
			m->batch.damaged, "up_to", "%lld", (long long)m->batch.last,
			NULL);
	snprintf(number, sizeof(number), "%lld", (long long)m->batch.last);
	tell(m, "carrying");
	server_send(m->server, m->statements[m->source].data,
		source_is_log(m->source) ? 4 : 2, values, on_sent, m);
}

static void on_rows(void *arg, const struct bus_reply *reply)
{
	struct mirror *m = arg;
	AUTO_ARENA arena = {0};
	struct mirror_rows rows;
	struct proto_error error;
	enum method method = m->source == MIRROR_GUARD_EVENTS ? METHOD_MIRROR_GUARD_ROWS
							      : METHOD_MIRROR_ROWS;

	if (reply->status == BUS_ERROR && str_is(reply->code, "NOT_ALLOWED")) {
		event_add_ms(m->turn, 0);
	} else if (reply->status != BUS_OK ||
		   bus_reply_decode(method, reply, &arena, &rows, &error) < 0) {
		fail_at_store(m, reply);
	} else if (rows.diverged) {
		fork_origin(m);
	} else if (yyjson_arr_size(rows.rows.val) == 0) {
		m->source++;
		carry(m);
	} else {
		batch_make(m->source, rows.rows.val, &m->batch);
		send_batch(m);
	}
}

/* The next batch of the cycle, or its end. Positions of what changes are of one pass. */
static void carry(struct mirror *m)
{
	struct mirror_query query;
	const struct mirror_position *position;

	if (m->source == MIRROR_SESSIONS && !m->passing) {
		struct mono now = clock_mono();

		if (mono_diff_ms(now, m->passed) <
			(m->pass_due ? MIRROR_PASS_MS : MIRROR_PASS_AGAIN_MS)) {
			rest(m);
			return;
		}
		m->passing = true;
		m->pass_due = false;
		m->passed = now;
	}
	if (m->source == SOURCE_COUNT) {
		rest(m);
		return;
	}
	position = &m->positions[m->source];
	query = (struct mirror_query){.source = m->source, .after = position->number};
	if (source_is_log(m->source) && position->number > 0)
		query.after_id = str_of(position->id);
	bus_call_message(m->worker->bus,
		m->source == MIRROR_GUARD_EVENTS ? METHOD_MIRROR_GUARD_ROWS
						 : METHOD_MIRROR_ROWS,
		(struct str){NULL, 0}, &query, 0, on_rows, m);
}

static void begin_cycle(struct mirror *m)
{
	m->source = 0;
	m->moved = m->passing = false;
	for (int i = 0; i < SOURCE_COUNT; i++)
		if (!source_is_log(i))
			m->positions[i] = (struct mirror_position){0};
	carry(m);
}

/* ---- getting ready ---- */

static void on_positions(void *arg, const struct server_answer *answer)
{
	struct mirror *m = arg;
	struct str name, number, id;

	if (!answer->ok) {
		fail_with(m, answer);
		return;
	}
	memset(m->positions, 0, sizeof(m->positions));
	for (int row = 0;
		server_row(answer, row, 0, &name) &&
		server_row(answer, row, 1, &number) && server_row(answer, row, 2, &id);
		row++) {
		int source = enumeration_index(mirror_source_enumeration(), name);

		if (source < 0 || !source_is_log(source))
			continue;
		m->positions[source].number = strtoll(number.ptr, NULL, 10);
		snprintf(m->positions[source].id, sizeof(m->positions[source].id), "%.*s",
			STR_ARG(id));
	}
	m->prepared = m->pass_due = true;
	m->passed = (struct mono){0};
	begin_cycle(m);
}

static void read_positions(struct mirror *m)
{
	const char *values[] = {m->origin};

	server_send(m->server,
		"SELECT source, number, id FROM paige.positions "
		"WHERE learner = current_user AND origin = $1::uuid",
		1, values, on_positions, m);
}

static void read_version(struct mirror *m);

static void on_migrated(void *arg, const struct server_answer *answer)
{
	struct mirror *m = arg;

	if (!answer->ok) {
		fail_with(m, answer);
		return;
	}
	log_info("the schema of PostgreSQL is there", "version", "%d", SCHEMA_VERSION,
		NULL);
	m->migrated = true;
	read_version(m);
}

/* "undefined table" and "no such schema": nobody has made it yet. */
static bool is_missing(const struct server_answer *answer)
{
	return !answer->ok && (strcmp(answer->state, "42P01") == 0 ||
				      strcmp(answer->state, "3F000") == 0);
}

static void on_version(void *arg, const struct server_answer *answer)
{
	struct mirror *m = arg;
	struct str text;
	long long version = 0;
	char why[200];

	if (!answer->ok && !is_missing(answer)) {
		fail_with(m, answer);
		return;
	}
	if (server_row(answer, 0, 0, &text))
		version = strtoll(text.ptr, NULL, 10);
	if (version == SCHEMA_VERSION) {
		read_positions(m);
	} else if (version < SCHEMA_VERSION && !m->migrated) {
		server_send(m->server, schema_sql, 0, NULL, on_migrated, m);
	} else {
		snprintf(why, sizeof(why),
			version > SCHEMA_VERSION ? "The schema of PostgreSQL has version "
						   "%lld, and this Paige "
						   "knows %d: install a newer Paige"
						 : "The schema of PostgreSQL has version "
						   "%lld, and %d is needed",
			version, SCHEMA_VERSION);
		fail(m, why);
	}
}

static void read_version(struct mirror *m)
{
	server_send(m->server, "SELECT version FROM paige.schema_version", 0, NULL,
		on_version, m);
}

static void on_limited(void *arg, const struct server_answer *answer)
{
	if (answer->ok)
		read_version(arg);
	else
		fail_with(arg, answer);
}

static void on_connected(void *arg, const struct server_answer *answer)
{
	struct mirror *m = arg;

	m->migrated = false;
	if (answer->ok)
		server_send_limits(m->server, on_limited, m);
	else
		fail_with(m, answer);
}

static void on_consent(void *arg, const struct bus_reply *reply)
{
	struct mirror *m = arg;
	AUTO_ARENA arena = {0};
	struct mirror_consent consent;

	if (!read_consent(m, METHOD_MIRROR_CONSENT, reply, &arena, &consent)) {
		/* The cycle is over. */
	} else if (!consent.allowed) {
		server_close(m->server);
		m->prepared = false;
		count_caught_up(m);
		worker_set_condition(m->worker, WORKER_FINE, NULL);
		tell(m, "not allowed");
		turn_within(m, MIRROR_CONSENT_MS);
	} else {
		take_origin(m, consent.origin);
		if (!server_is_connected(m->server))
			server_connect(m->server, on_connected, m);
		else if (!m->prepared)
			read_positions(m);
		else
			begin_cycle(m);
	}
}

static void on_turn(EVENT_UNUSED, void *arg)
{
	static const struct empty nothing = {0};
	struct mirror *m = arg;

	bus_call_message(m->worker->bus, METHOD_MIRROR_CONSENT, (struct str){NULL, 0},
		&nothing, 0, on_consent, m);
}

void mirror_begin(struct mirror *m)
{
	m->rest_ms = MIRROR_REST_MIN_MS;
	m->retry_ms = MIRROR_RETRY_MIN_MS;
	for (int i = 0; i < SOURCE_COUNT; i++)
		source_statement(i, &m->statements[i]);
	count_caught_up(m);
	m->turn = alloc_checked(evtimer_new(m->worker->base, on_turn, m));
	event_add_ms(m->turn, 0);
}

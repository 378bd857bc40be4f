/*
 * store_fixture.h - the store's services on a real database in a directory of their own,
 * without a process and a bus: calls are queued and run as a group, and what would be
 * answered and published is looked at.
 */
#pragma once

#include "proto/codec/messages.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/store/memory/memory.h"
#include "workers/store/mirror/consent.h"
#include "workers/store/service/store.h"
#include "workers/store/service/tool_calls.h"

#define FIXTURE_CALLS_MAX 64
#define FIXTURE_DOCS_MAX 2048

static struct store store;
static struct memory fixture_memory;
static struct consent fixture_consent;
static char fixture_dir[SCRATCH_SIZE];
static char fixture_path[SCRATCH_SIZE + 16];
static struct arena fixture_arena;		   /* of all calls of one test */
static yyjson_doc *fixture_docs[FIXTURE_DOCS_MAX]; /* their requests */
static size_t fixture_docs_count;
static struct call *done_calls[FIXTURE_CALLS_MAX];
static size_t done_count;

static inline void fixture_open(void)
{
	struct error_text problem;

	store = (struct store){.project_dir = "/project",
		.keys = keys_new(),
		.memory = &fixture_memory,
		.consent = &fixture_consent,
		.started = clock_wall()};
	ck_assert_msg(
		database_open(&store.db, fixture_path, &paige_schema, &problem) == 0,
		"%s", problem.text);
	ck_assert_int_eq(open_calls_load(&store.open_calls, fixture_dir), 0);
	ck_assert_int_eq(paid_works_load(&store.paid_works, fixture_dir), 0);
	ck_assert_int_eq(consent_load(&fixture_consent, fixture_dir), 0);
	ck_assert_int_eq(sessions_load(&store, clock_wall()), 0);
	memory_open(&store, fixture_dir);
}

static inline void fixture_close(void)
{
	memory_close(&store);
	database_close(&store.db);
	keys_free(store.keys);
	open_calls_fini(&store.open_calls);
	paid_works_fini(&store.paid_works);
	consent_fini(&fixture_consent);
}

/* As a process that is killed and started anew. */
static inline void fixture_restart(void)
{
	fixture_close();
	fixture_open();
}

static inline void fixture_setup(void)
{
	scratch_make(fixture_dir);
	snprintf(fixture_path, sizeof(fixture_path), "%s/paige.db", fixture_dir);
	fixture_arena = (struct arena){0};
	done_count = 0;
	fixture_open();
}

static inline void fixture_teardown(void)
{
	fixture_close();
	while (fixture_docs_count > 0)
		yyjson_doc_free(fixture_docs[--fixture_docs_count]);
	arena_free(&fixture_arena);
	scratch_remove(fixture_dir);
}

static inline const char *new_key(void)
{
	char *key = arena_alloc(&fixture_arena, UUID_SIZE);

	uuid7(clock_wall(), key);
	return key;
}

static inline void fixture_done(struct store *s, struct call *call)
{
	(void)s;
	ck_assert_uint_lt(done_count, FIXTURE_CALLS_MAX);
	if (call->outcome.committed && !call->outcome.error)
		call->outcome.committed(&store, call);
	done_calls[done_count++] = call;
}

/* The request for a tool, of its arguments. */
static inline const char *as_tool_request(const char *key, const char *arguments)
{
	return arena_printf(&fixture_arena,
		"{\"call\":\"%s\",\"sessionId\":\"m\",\"input\":%s}", key, arguments)
		.ptr;
}

/* Queues a call as the bus would bring it; of a tool, `json` is its arguments. `key`
 * NULL: a new one. */
static inline struct call *queue_call(
	enum method method, const char *key, const char *json)
{
	const struct type *type = method_infos[method].request();
	struct call *call = arena_alloc(&fixture_arena, sizeof(*call));
	void *message = arena_alloc(&fixture_arena, type->size);
	struct proto_error error = {0};
	yyjson_doc *doc;

	key = key ? key : new_key();
	if (type == tool_request_type())
		json = as_tool_request(key, json);
	doc = yyjson_read(arena_cstr(&fixture_arena, str_of(json)), strlen(json), 0);
	ck_assert_msg(doc != NULL, "%s", json);
	ck_assert_uint_lt(fixture_docs_count, FIXTURE_DOCS_MAX);
	fixture_docs[fixture_docs_count++] = doc;
	ck_assert_msg(proto_decode(type, yyjson_doc_get_root(doc), "request",
			      DECODE_LENIENT, &fixture_arena, message, &error) == 0,
		"%s: %s", json, error.text);
	*call = (struct call){
		.method = method,
		.key = str_of(key),
		.message = message,
		.arrived = clock_wall(),
		.deadline = mono_add_ms(clock_mono(), 10000),
		.arena = &fixture_arena,
	};
	for (size_t i = 0; i < services_count; i++)
		if (services[i].method == method)
			call->service = &services[i];
	ck_assert_ptr_nonnull(call->service);
	if (call->service->flags & SERVICE_TOOL)
		ck_assert_msg(
			tool_call_read(call, &error) == 0, "%s: %s", json, error.text);
	group_add(&store.group, call);
	return call;
}

/* As memory_queue.c does it. */
static inline void run_memory_call(struct call *call)
{
	int result = 1;

	store.group = (struct group){0};
	ck_assert(memory_ready(&store));
	while (result == 1)
		result = call->service->handler(&store, call);
	ck_assert_int_eq(result, call->outcome.error ? -ECANCELED : 0);
	if (call->key.ptr && !call->outcome.error)
		keys_remember(
			store.keys, call->key, (int)call->method, call->outcome.answer);
}

static inline struct call *run_call(enum method method, const char *key, const char *json)
{
	struct call *call = queue_call(method, key, json);

	done_count = 0;
	if (call->service->flags & SERVICE_MEMORY) {
		run_memory_call(call);
		return call;
	}
	ck_assert_int_eq(group_run(&store, fixture_done), 0);
	ck_assert_uint_eq(store.group.waiting, 0);
	return call;
}

static inline struct call *must_call(
	enum method method, const char *key, const char *json)
{
	struct call *call = run_call(method, key, json);

	ck_assert_msg(!call->outcome.error, "%s %s: %.*s", method_infos[method].name,
		json, STR_ARG(call->outcome.message));
	return call;
}

static inline void refused_call(
	enum method method, const char *json, enum error_code code)
{
	struct call *call = run_call(method, NULL, json);

	ck_assert_msg(call->outcome.error == &error_code_infos[code], "%s %s: %s",
		method_infos[method].name, json,
		call->outcome.error ? call->outcome.error->name : "went well");
}

static inline void answered(const struct call *call, const char *json)
{
	ck_assert_msg(str_is(call->outcome.answer, json), "%.*s, not %s",
		STR_ARG(call->outcome.answer), json);
}

/* The bodies published under a topic, each on a line. */
static inline const char *published(const struct call *call, const char *topic)
{
	struct str text = STR_LIT("");

	for (const struct publication *p = call->outcome.first; p; p = p->next)
		if (strcmp(p->topic, topic) == 0)
			text = arena_printf(&fixture_arena, "%.*s%.*s\n", STR_ARG(text),
				STR_ARG(p->body));
	return text.ptr;
}

static inline void execute(const char *sql)
{
	ck_assert_msg(sqlite3_exec(store.db.handle, sql, NULL, NULL, NULL) == SQLITE_OK,
		"%s: %s", sql, sqlite3_errmsg(store.db.handle));
}

/* All rows of a query: columns separated by '|', rows by newlines, NULL as "-". */
static inline const char *rows(const char *sql)
{
	sqlite3_stmt *statement;
	struct str text = STR_LIT("");

	ck_assert_msg(sqlite3_prepare_v2(store.db.handle, sql, -1, &statement, NULL) ==
			      SQLITE_OK,
		"%s: %s", sql, sqlite3_errmsg(store.db.handle));
	for (int row = 0; sqlite3_step(statement) == SQLITE_ROW; row++)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *value =
				(const char *)sqlite3_column_text(statement, i);

			text = arena_printf(&fixture_arena, "%.*s%s%s", STR_ARG(text),
				i     ? "|"
				: row ? "\n"
				      : "",
				value ? value : "-");
		}
	sqlite3_finalize(statement);
	return text.ptr;
}

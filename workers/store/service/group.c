/* group.c - group commit (group.h). */
#include "workers/store/service/group.h"
#include "common/base/log.h"
#include "workers/store/service/store.h"
#include "workers/store/service/tool_calls.h"
#include <errno.h>

void group_add(struct group *group, struct call *call)
{
	call->next = NULL;
	if (!group->first)
		group->last = &group->first;
	*group->last = call;
	group->last = &call->next;
	group->waiting++;
}

struct call *group_take(struct group *group)
{
	struct call *call = group->first;

	group->first = call->next;
	group->waiting--;
	return call;
}

/* What the next transaction takes: calls from the head of the queue. */
struct batch {
	struct call *first;
	size_t count;
	bool writes;
};

static struct batch batch_take(const struct group *group)
{
	struct batch batch = {.first = group->first};
	size_t bytes = 0;

	for (struct call *c = group->first; c; c = c->next) {
		bytes += c->request ? c->request->body.len : 0;
		if (batch.count == GROUP_MAX_CALLS ||
			(batch.count > 0 && bytes > GROUP_MAX_BYTES))
			break;
		batch.count++;
		batch.writes = batch.writes || (c->service->flags & SERVICE_WRITES);
	}
	return batch;
}

/* Errors after which nothing of the transaction can be kept. */
static bool is_fatal(const struct store *store, int error)
{
	switch (error) {
	case -EFBIG:  /* a row too large */
	case -EINVAL: /* a value that a function in a statement cannot take */
	case -ENOKEY: /* a constraint */
		return sqlite3_get_autocommit(store->db.handle);
	default:
		return true;
	}
}

/* Nothing of the call is left in the transaction, which goes on. */
static int undo(struct store *store, bool alone)
{
	int result =
		database_execute(&store->db, alone ? STATEMENT_ROLLBACK : STATEMENT_UNDO);

	if (result == 0)
		result = database_execute(
			&store->db, alone ? STATEMENT_BEGIN_WRITE : STATEMENT_RELEASE);
	return result;
}

static void refuse_failed(struct store *store, struct call *call)
{
	struct error_text problem;

	database_error_text(&store->db, &problem);
	log_error("a call failed in the database", "method", "%s",
		method_infos[call->method].name, "problem", "%s", problem.text, NULL);
	call_refuse(call, ERROR_STORAGE_FAILED, "%s", problem.text);
}

/* A savepoint copies every page that is written; a call that is alone in the transaction
 * needs none. */
static int run_handler(struct store *store, struct call *call, bool alone)
{
	struct sessions before = store->sessions;
	bool many = call->service->flags & SERVICE_MANY;
	bool savepoint = many && !alone;
	int result = savepoint ? database_execute(&store->db, STATEMENT_SAVEPOINT) : 0;
	int logged;

	if (result < 0)
		return result;
	result = logged = tool_call_log(store, call);
	if (result >= 0)
		result = call->service->handler(store, call);
	if (result >= 0)
		return savepoint ? database_execute(&store->db, STATEMENT_RELEASE) : 0;
	store->sessions = before;
	if (result != -ECANCELED) {
		if (is_fatal(store, result))
			return result;
		refuse_failed(store, call);
	}
	result = many ? undo(store, alone) : 0;
	/* What was undone with the rest: that the tool was called. */
	if (result == 0 && logged == 1)
		result = tool_call_log(store, call);
	return result < 0 ? result : 0;
}

/* One call inside the transaction. 0 with an outcome, or the -errno that ends the
 * transaction. */
static int run_call(struct store *store, struct call *call, struct mono now, bool alone)
{
	const struct service *service = call->service;
	struct str known = {0};
	int result;

	call->outcome = (struct call_outcome){0};
	/* Log rows are told apart by their ids alone. */
	if (!(service->flags & SERVICE_LATE))
		known = keys_recall(store->keys, call->key, (int)call->method);
	if (known.ptr) {
		call_answer_text(call, arena_str(call->arena, known));
		return 0;
	}
	if (now.us > call->deadline.us && !(service->flags & SERVICE_LATE)) {
		/* The caller was told so by the bus and may have asked again. */
		call_refuse(call, ERROR_TIMEOUT, "%s came to its turn too late",
			method_infos[call->method].name);
		result = tool_call_log(store, call);
		return result < 0 ? result : 0;
	}
	if ((service->flags & SERVICE_WRITES) && !health_may_write(&store->health)) {
		call_refuse(call, ERROR_STORAGE_FAILED, "%s", store->health.problem.text);
		return 0;
	}
	return run_handler(store, call, alone);
}

static int run_batch(struct store *store, const struct batch *batch)
{
	struct mono now = clock_mono();
	struct call *call = batch->first;
	int result = database_execute(
		&store->db, batch->writes ? STATEMENT_BEGIN_WRITE : STATEMENT_BEGIN_READ);

	for (size_t i = 0; result == 0 && i < batch->count; i++, call = call->next)
		result = run_call(store, call, now, batch->count == 1);
	if (result == 0)
		result = database_execute(&store->db, STATEMENT_COMMIT);
	return result;
}

/* Ends a transaction that failed, whatever SQLite did with it already. */
static void roll_back(struct store *store)
{
	if (!sqlite3_get_autocommit(store->db.handle) &&
		database_execute(&store->db, STATEMENT_ROLLBACK) < 0)
		log_error("a transaction could not be rolled back", "path", "%s",
			store->db.path, NULL);
}

int group_run(struct store *store, void (*done)(struct store *store, struct call *call))
{
	struct sessions before = store->sessions;
	struct batch batch = batch_take(&store->group);
	int result;

	if (batch.count == 0)
		return 0;
	result = run_batch(store, &batch);
	if (result < 0) {
		database_error_text(&store->db, &store->group.problem);
		roll_back(store);
		store->sessions = before;
		if (result == -EBUSY)
			return result;
	}
	store->group.error = result;
	for (size_t i = 0; i < batch.count; i++) {
		struct call *call = group_take(&store->group);

		if (result < 0)
			call_refuse(call, ERROR_STORAGE_FAILED, "%s",
				store->group.problem.text);
		done(store, call);
	}
	return result;
}

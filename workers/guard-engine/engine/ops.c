/* ops.c - what waits for an instance, in order (engine.h). */
#include "common/base/alloc.h"
#include "workers/guard-engine/engine/engine.h"
#include "workers/guard-engine/stream/machines.h"
#include <stdlib.h>

struct op *op_new(struct engine *e, enum guard_kind kind, struct bus_request *request,
	yyjson_val *event)
{
	struct op *op = xcalloc(1, sizeof(*op));

	op->request = request;
	op->event = event;
	op->came = clocks_now(&e->clocks, machine_of(kind)->clock);
	return op;
}

void op_free(struct op *op)
{
	yyjson_doc_free(op->doc);
	free(op);
}

void op_end(struct instance *i, struct op *op)
{
	if (!op->request)
		requests_forget(i, &op->answers);
	op_free(op);
}

void op_fail(struct instance *i, struct op *op, const char *code, const char *message)
{
	if (op->request)
		bus_answer_error(op->request, code, (struct str){0}, "%s", message);
	op_end(i, op);
}

void ops_add(struct instance *i, struct op *op)
{
	TAILQ_INSERT_TAIL(&i->ops, op, link);
	i->waiting++;
}

void ops_put_back(struct instance *i, struct op *op)
{
	op->again = true;
	TAILQ_INSERT_HEAD(&i->ops, op, link);
	i->waiting++;
}

static void take_out(struct instance *i, struct op *op)
{
	TAILQ_REMOVE(&i->ops, op, link);
	i->waiting--;
}

struct op *ops_take(struct instance *i)
{
	struct op *op = TAILQ_FIRST(&i->ops);

	take_out(i, op);
	return op;
}

void ops_fail_all(struct instance *i, const char *code, const char *message)
{
	while (!TAILQ_EMPTY(&i->ops))
		op_fail(i, ops_take(i), code, message);
}

void ops_fail_clients(struct instance *i, const char *code, const char *message)
{
	struct op *op, *next;

	for (op = TAILQ_FIRST(&i->ops); op; op = next) {
		next = TAILQ_NEXT(op, link);
		if (!op->request)
			continue;
		take_out(i, op);
		op_fail(i, op, code, message);
	}
}

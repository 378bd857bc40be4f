/* folds.c - see folds.h. */
#include "workers/guard-engine/engine/folds.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "workers/guard-engine/interview/artifacts.h"
#include "workers/guard-engine/stream/machines.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a job ---- */

struct fold *fold_new(struct engine *e, enum guard_kind kind, struct str id,
	void (*done)(struct fold *f))
{
	struct fold *f = xcalloc(1, sizeof(*f));

	f->engine = e;
	f->kind = kind;
	f->done = done;
	snprintf(f->id, sizeof(f->id), "%.*s", STR_ARG(id));
	f->stream.machine = machine_of(kind);
	f->stream.state = xcalloc(1, f->stream.machine->state_size);
	return f;
}

void fold_end(struct fold *f)
{
	f->done(f);
	free(f->stream.state);
	stream_result_free(&f->result);
	arena_free(&f->arena);
	free(f->rows);
	free(f);
}

static void keep_row(struct fold *f, const struct stream_row *row)
{
	if (f->row_count == f->row_room) {
		f->row_room = f->row_room ? 2 * f->row_room : 64;
		f->rows = xrealloc(f->rows, f->row_room * sizeof(*f->rows));
	}
	f->rows[f->row_count++] = (struct stream_row){
		.seq = row->seq,
		.at = row->at,
		.actor = arena_str(&f->arena, row->actor),
		.type = arena_str(&f->arena, row->type),
		.payload = arena_str(&f->arena, row->payload),
	};
}

enum page_end { PAGE_MORE, PAGE_DONE, PAGE_FAILED };

/* Folds a page. PAGE_MORE: what is behind stream.cursor is still to come. */
static enum page_end fold_page(struct fold *f, const struct stream_rows *page)
{
	AUTO_ARENA arena = {0};
	struct proto_error error;
	size_t at = 0;
	enum page_end end = PAGE_MORE;

	while (at < page->rows.count && end == PAGE_MORE) {
		const struct stream_row *row = &page->rows.items[at];
		int taken = stream_fold(&f->stream, row, page->rows.count - at, &arena,
			&f->result, &error);

		arena_reset(&arena);
		if (taken == -EAGAIN && at > 0)
			break;
		if (taken < 0) {
			snprintf(f->message, sizeof(f->message), "%s",
				taken == -EAGAIN
					? "the rows of the last event are not all there"
					: error.text);
			end = PAGE_FAILED;
			break;
		}
		for (int i = 0; i < taken && f->keep; i++)
			keep_row(f, row + i);
		f->steps++;
		at += (size_t)taken;
		if (f->until && row->seq >= f->until)
			end = PAGE_DONE;
	}
	if (end == PAGE_MORE && f->stream.cursor >= page->cursor)
		end = PAGE_DONE;
	return end;
}

bool folds_is_final(const struct bus_reply *reply)
{
	static const char *const passing[] = {
		"UNAVAILABLE", "TIMEOUT", "BUSY", "STORAGE_FAILED"};

	if (reply->status != BUS_ERROR)
		return reply->status == BUS_TOO_BIG;
	for (size_t n = 0; n < sizeof(passing) / sizeof(passing[0]); n++)
		if (str_is(reply->code, passing[n]))
			return false;
	return true;
}

static void on_rows(void *arg, const struct bus_reply *reply)
{
	struct fold *f = arg;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_rows page;
	enum page_end end = PAGE_FAILED;

	if (reply->status != BUS_OK) {
		snprintf(f->message, sizeof(f->message), "%.*s", STR_ARG(reply->message));
		f->code = str_is(reply->code, "NOT_FOUND") ? "NOT_FOUND"
			  : folds_is_final(reply)	   ? "INTERNAL_ERROR"
							   : "UNAVAILABLE";
	} else if (bus_reply_decode(METHOD_STREAM_ROWS, reply, &arena, &page, &error) <
		   0) {
		snprintf(f->message, sizeof(f->message), "%s", error.text);
		f->code = "INTERNAL_ERROR";
	} else {
		end = fold_page(f, &page);
		if (end == PAGE_FAILED)
			f->code = "INTERNAL_ERROR";
	}
	if (end == PAGE_MORE)
		fold_run(f);
	else
		fold_end(f);
}

void fold_run(struct fold *f)
{
	struct stream_rows_query query = {
		.kind = f->kind, .id = str_of(f->id), .since = f->stream.cursor};

	bus_call_message(f->engine->bus, METHOD_STREAM_ROWS, (struct str){0}, &query, 0,
		on_rows, f);
}

/* ---- the first answer once more ---- */

static void on_first_answer(struct fold *f)
{
	struct bus_request *request = f->arg;

	if (f->code)
		bus_answer_error(request, f->code, (struct str){0}, "%s", f->message);
	else
		answers_again(&f->stream, str_of(f->id), &f->result, request);
}

void folds_answer_again(struct instance *i, struct bus_request *request, int64_t first)
{
	struct fold *f = fold_new(i->engine, i->kind, str_of(i->id), on_first_answer);

	f->until = first;
	f->arg = request;
	fold_run(f);
}

struct look {
	struct engine *engine;
	enum guard_kind kind;
	char id[GUARD_ID_SIZE];
	int64_t cursor;
	struct bus_request *request;
};

static void on_found(void *arg, const struct bus_reply *reply)
{
	struct look *look = arg;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_found found;
	struct fold *f;

	if (reply->status != BUS_OK ||
		bus_reply_decode(METHOD_STREAM_FIND, reply, &arena, &found, &error) < 0) {
		bus_answer_error(look->request, "UNAVAILABLE", (struct str){0},
			"The store could not be asked; try again");
	} else if (!found.has_first) {
		bus_answer_error(look->request, "CONFLICT", (struct str){0},
			"The cursor is %" PRId64 " by now", look->cursor);
	} else {
		f = fold_new(look->engine, look->kind, str_of(look->id), on_first_answer);
		f->until = found.first;
		f->arg = look->request;
		fold_run(f);
	}
	free(look);
}

void folds_answer_if_known(
	struct instance *i, struct bus_request *request, struct str client_event_id)
{
	struct stream_find query = {
		.kind = i->kind, .id = str_of(i->id), .client_event_id = client_event_id};
	struct look *look = xcalloc(1, sizeof(*look));

	*look = (struct look){.engine = i->engine,
		.kind = i->kind,
		.cursor = i->stream.cursor,
		.request = request};
	snprintf(look->id, sizeof(look->id), "%s", i->id);
	bus_call_message(i->engine->bus, METHOD_STREAM_FIND, (struct str){0}, &query, 0,
		on_found, look);
}

/* ---- bundles ---- */

static void on_bundle_rows(struct fold *f)
{
	struct bus_request *request = f->arg;
	AUTO_BUF out = {0};

	if (f->code) {
		bus_answer_error(request, f->code, (struct str){0}, "%s", f->message);
		return;
	}
	artifacts_bundle((enum guard_bundle_for)f->arg_number, f->stream.state,
		str_of(f->id), clocks_now(&f->engine->clocks, MACHINE_CLOCK_BOOT).wall_ms,
		f->rows, f->row_count, &out);
	bus_answer(request, buf_str(&out));
}

void folds_bundle(struct engine *e, struct str id, enum guard_bundle_for reader,
	struct bus_request *request)
{
	struct fold *f = fold_new(e, GUARD_INTERVIEW, id, on_bundle_rows);

	f->keep = true;
	f->arg = request;
	f->arg_number = reader;
	fold_run(f);
}

/* ---- replay ---- */

struct replay {
	struct bus_request *request;
	struct guard_replay report;
	char problem[400];
};

static void replay_answer(struct replay *r)
{
	r->report.ok = r->problem[0] == '\0';
	if (r->problem[0])
		r->report.problem = str_of(r->problem);
	bus_answer_message(r->request, &r->report);
	free(r);
}

static void on_checked(void *arg, const struct bus_reply *reply)
{
	struct replay *r = arg;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_check check;

	if (reply->status != BUS_OK ||
		bus_reply_decode(METHOD_STREAM_CHECK, reply, &arena, &check, &error) < 0)
		snprintf(r->problem, sizeof(r->problem),
			"the checksums could not be verified: %.*s",
			STR_ARG(reply->message));
	else if (check.problem.ptr)
		snprintf(r->problem, sizeof(r->problem), "%.*s", STR_ARG(check.problem));
	replay_answer(r);
}

static void on_replayed(struct fold *f)
{
	struct replay *r = f->arg;
	struct stream_ref ref = {.kind = f->kind, .id = str_of(f->id)};

	if (f->code && strcmp(f->code, "INTERNAL_ERROR") != 0) {
		bus_answer_error(r->request, f->code, (struct str){0}, "%s", f->message);
		free(r);
		return;
	}
	r->report.rows = f->stream.cursor;
	r->report.steps = f->steps;
	if (f->code) {
		snprintf(r->problem, sizeof(r->problem), "%s", f->message);
		replay_answer(r);
		return;
	}
	bus_call_message(f->engine->bus, METHOD_STREAM_CHECK, (struct str){0}, &ref, 0,
		on_checked, r);
}

void folds_replay(struct engine *e, enum guard_kind kind, struct str id,
	struct bus_request *request)
{
	struct fold *f = fold_new(e, kind, id, on_replayed);
	struct replay *r = xcalloc(1, sizeof(*r));

	r->request = request;
	f->arg = r;
	fold_run(f);
}

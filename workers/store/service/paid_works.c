/* paid_works.c - see paid_works.h; with the methods that the llm worker calls. */
#include "workers/store/service/paid_works.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/base/private_file.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_MAX_BYTES (2 * PAID_WORKS_MAX_BYTES)

/* ---- the file ---- */

/* Takes what the JSON says in the place of what is known. 0 or -EINVAL. */
static int take_over(struct paid_works *works, struct str json)
{
	struct paid_works next = {.path = works->path};
	struct proto_error error;

	next.doc = proto_parse(json, &error);
	if (!next.doc ||
		proto_decode(paid_file_type(), yyjson_doc_get_root(next.doc), "file",
			DECODE_LENIENT, &next.arena, &next.file, &error) < 0) {
		yyjson_doc_free(next.doc);
		arena_free(&next.arena);
		return -EINVAL;
	}
	yyjson_doc_free(works->doc);
	arena_free(&works->arena);
	*works = next;
	return 0;
}

static size_t bytes_of(const struct paid_work *work)
{
	size_t bytes = 0;

	for (size_t i = 0; i < work->steps.count; i++)
		bytes += work->steps.items[i].text.len;
	return bytes;
}

/* Without the oldest works when these are too many. */
static void shorten(struct paid_file *file)
{
	size_t bytes = 0;

	for (size_t i = 0; i < file->works.count; i++)
		bytes += bytes_of(&file->works.items[i]);
	while (file->works.count > 0 &&
		(file->works.count > PAID_WORKS_MAX || bytes > PAID_WORKS_MAX_BYTES)) {
		bytes -= bytes_of(&file->works.items[0]);
		file->works.items++;
		file->works.count--;
	}
}

/* `file` borrows from what is known. */
static int change(struct paid_works *works, struct paid_file *file)
{
	AUTO_BUF json = {0};
	int result;

	shorten(file);
	proto_encode(paid_file_type(), file, &json);
	result = works->path ? private_file_replace(works->path, buf_str(&json)) : 0;
	if (take_over(works, buf_str(&json)) < 0)
		abort(); /* it was encoded just now */
	return result;
}

int paid_works_load(struct paid_works *works, const char *directory)
{
	AUTO_BUF file = {0};
	int result;

	*works = (struct paid_works){0};
	works->path = xasprintf("%s/%s", directory, PAID_WORKS_FILE);
	result = file_read_own(AT_FDCWD, works->path, FILE_MAX_BYTES, &file);
	if (result == 0)
		result = take_over(works, buf_str(&file));
	return result == -ENOENT ? 0 : result;
}

void paid_works_fini(struct paid_works *works)
{
	yyjson_doc_free(works->doc);
	arena_free(&works->arena);
	free(works->path);
	*works = (struct paid_works){0};
}

/* ---- works ---- */

static bool is_old(const struct paid_work *work, struct wall now)
{
	int64_t age_ms = now.us / 1000 - work->begun_ms;

	/* Of the future: the clock was set back. */
	return age_ms < 0 ||
	       age_ms >= (work->for_all ? PAID_ANSWERS_KEEP_MS : PAID_WORKS_KEEP_MS);
}

/* The works but for old ones and the one with this id, with room for one more. */
static struct paid_file without(const struct paid_works *works, struct str id,
	struct wall now, struct arena *arena)
{
	struct paid_file file = {0};

	file.works.items = arena_array(
		arena, works->file.works.count + 1, sizeof(file.works.items[0]));
	for (size_t i = 0; i < works->file.works.count; i++)
		if (!str_eq(works->file.works.items[i].id, id) &&
			!is_old(&works->file.works.items[i], now))
			file.works.items[file.works.count++] = works->file.works.items[i];
	return file;
}

/* The id of the answer for all to this step, or `otherwise`. */
static struct str id_of_answer(
	const struct paid_works *works, struct str step, struct str otherwise)
{
	for (size_t i = 0; i < works->file.works.count; i++) {
		const struct paid_work *work = &works->file.works.items[i];

		if (work->for_all && work->steps.count > 0 &&
			str_eq(work->steps.items[0].step, step))
			return work->id;
	}
	return otherwise;
}

static const struct paid_work *find(const struct paid_works *works, struct str id)
{
	for (size_t i = 0; i < works->file.works.count; i++)
		if (str_eq(works->file.works.items[i].id, id))
			return &works->file.works.items[i];
	return NULL;
}

static bool fits(const struct paid_work *work, const struct paid_take *take,
	struct str session, struct wall now)
{
	if (!str_eq(work->asked, take->asked) || work->for_all != take->for_all ||
		is_old(work, now))
		return false;
	return work->for_all ||
	       (!str_eq(work->owner, take->owner) &&
		       (session.len == 0 || str_eq(work->session, session)));
}

const struct paid_work *paid_works_take(struct paid_works *works,
	const struct paid_take *take, struct str session, struct wall now)
{
	AUTO_ARENA arena = {0};
	struct paid_file file;
	struct paid_work work;
	size_t i = works->file.works.count;
	int result;

	while (i > 0 && !fits(&works->file.works.items[i - 1], take, session, now))
		i--;
	if (i == 0)
		return NULL;
	if (take->for_all)
		return &works->file.works.items[i - 1];
	work = works->file.works.items[i - 1];
	file = without(works, work.id, now, &arena);
	work.owner = take->owner;
	file.works.items[file.works.count++] = work;
	result = change(works, &file);
	if (result < 0)
		log_warn("a work that was paid for in part has its old owner in the file",
			"error", "%s", strerror(-result), NULL);
	return works->file.works.count
		       ? &works->file.works.items[works->file.works.count - 1]
		       : NULL;
}

int paid_works_keep(struct paid_works *works, const struct paid_keep *keep,
	struct str session, struct wall now)
{
	AUTO_ARENA arena = {0};
	const struct str replaced =
		keep->for_all ? id_of_answer(works, keep->step, keep->id) : keep->id;
	struct paid_file file = without(works, replaced, now, &arena);
	const struct paid_work *old = keep->for_all ? NULL : find(works, keep->id);
	struct paid_work work = {.id = keep->id,
		.asked = keep->asked,
		.session = session,
		.begun_ms = now.us / 1000,
		.for_all = keep->for_all,
		.has_for_all = true};

	if (old)
		work = *old;
	work.owner = keep->owner;
	work.has_begun_ms = true;
	work.steps.count = 0;
	work.steps.items = arena_array(
		&arena, (old ? old->steps.count : 0) + 1, sizeof(work.steps.items[0]));
	for (size_t i = 0; old && i < old->steps.count; i++)
		if (!str_eq(old->steps.items[i].step, keep->step))
			work.steps.items[work.steps.count++] = old->steps.items[i];
	work.steps.items[work.steps.count++] =
		(struct paid_step){.step = keep->step, .text = keep->text};
	file.works.items[file.works.count++] = work;
	return change(works, &file);
}

void paid_works_drop(struct paid_works *works, struct str id)
{
	AUTO_ARENA arena = {0};
	struct paid_file file;
	int result;

	if (!find(works, id))
		return;
	file = without(works, id, clock_wall(), &arena);
	result = change(works, &file);
	if (result < 0)
		log_warn("the list of works that were paid for in part was not written",
			"error", "%s", strerror(-result), NULL);
}

/* ---- methods ---- */

static struct str active_session(const struct store *store)
{
	return str_of(store->sessions.active.id);
}

int paid_take(struct store *store, struct call *call)
{
	const struct paid_work *work = paid_works_take(
		&store->paid_works, call->message, active_session(store), clock_wall());
	struct paid_taken taken = {0};

	if (work) {
		taken.id = work->id;
		taken.steps.items = work->steps.items;
		taken.steps.count = work->steps.count;
	}
	call_answer(call, &taken);
	return 0;
}

int paid_keep(struct store *store, struct call *call)
{
	int result = paid_works_keep(
		&store->paid_works, call->message, active_session(store), clock_wall());

	if (result < 0)
		log_warn("what Claude has answered would not outlive the store", "error",
			"%s", strerror(-result), NULL);
	call_answer_text(call, STR_LIT("null"));
	return 0;
}

int paid_drop(struct store *store, struct call *call)
{
	const struct paid_drop *drop = call->message;

	paid_works_drop(&store->paid_works, drop->id);
	call_answer_text(call, STR_LIT("null"));
	return 0;
}

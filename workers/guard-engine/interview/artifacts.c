/* artifacts.c - see artifacts.h. */
#include "workers/guard-engine/interview/artifacts.h"
#include "common/base/alloc.h"
#include "common/base/utf8.h"
#include "workers/guard-engine/interview/coverage.h"
#include <stdlib.h>

struct bundle {
	const struct interview *state;
	const struct stream_row *rows;
	yyjson_val **payloads; /* of the rows */
	size_t count;
	int64_t now_ms;
	yyjson_mut_doc *doc;
};

/* ---- JSON ---- */

static yyjson_mut_val *text_of(const struct bundle *b, struct str s)
{
	return s.ptr ? yyjson_mut_strncpy(b->doc, s.ptr, s.len) : yyjson_mut_null(b->doc);
}

static void add(const struct bundle *b, yyjson_mut_val *object, const char *key,
	yyjson_mut_val *val)
{
	yyjson_mut_obj_add(object, yyjson_mut_str(b->doc, key), val);
}

static void add_text(
	const struct bundle *b, yyjson_mut_val *object, const char *key, struct str s)
{
	add(b, object, key, text_of(b, s));
}

static void add_int(
	const struct bundle *b, yyjson_mut_val *object, const char *key, int64_t value)
{
	add(b, object, key, yyjson_mut_sint(b->doc, value));
}

/* A time, null when there was none. */
static void add_time(
	const struct bundle *b, yyjson_mut_val *object, const char *key, int64_t at_ms)
{
	add(b, object, key,
		at_ms ? yyjson_mut_sint(b->doc, at_ms) : yyjson_mut_null(b->doc));
}

static struct str field(const struct bundle *b, size_t row, const char *key)
{
	yyjson_val *val = yyjson_obj_get(b->payloads[row], key);

	return (struct str){yyjson_get_str(val), yyjson_get_len(val)};
}

static bool is_type(const struct bundle *b, size_t row, const char *type)
{
	return str_is(b->rows[row].type, type);
}

/* A row with its payload's members beside its own; the payload's "section_id" and texts
 * stay as they are. */
static yyjson_mut_val *row_value(const struct bundle *b, size_t row)
{
	yyjson_mut_val *object = yyjson_mut_obj(b->doc);

	add_int(b, object, "seq", b->rows[row].seq);
	add_int(b, object, "at", b->rows[row].at);
	add_text(b, object, "actor", b->rows[row].actor);
	add_text(b, object, "type", b->rows[row].type);
	add(b, object, "payload", yyjson_val_mut_copy(b->doc, b->payloads[row]));
	return object;
}

/* All rows of some types; `section` NULL: of any section. */
static yyjson_mut_val *rows_of(const struct bundle *b, const char *const *types,
	size_t type_count, const char *section)
{
	yyjson_mut_val *list = yyjson_mut_arr(b->doc);

	for (size_t i = 0; i < b->count; i++) {
		if (section && !str_is(field(b, i, "section_id"), section))
			continue;
		for (size_t t = 0; t < type_count; t++)
			if (is_type(b, i, types[t]))
				yyjson_mut_arr_append(list, row_value(b, i));
	}
	return list;
}

#define ROWS_OF(b, section, ...)                                                         \
	rows_of(b, (const char *const[]){__VA_ARGS__},                                   \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),       \
		section)

static int64_t count_rows(const struct bundle *b, const char *type)
{
	int64_t n = 0;

	for (size_t i = 0; i < b->count; i++)
		n += is_type(b, i, type);
	return n;
}

/* When the first row of a type came; 0 for never. */
static int64_t time_of(const struct bundle *b, const char *type, const char *section)
{
	for (size_t i = 0; i < b->count; i++)
		if (is_type(b, i, type) &&
			(!section || str_is(field(b, i, "section_id"), section)))
			return b->rows[i].at;
	return 0;
}

/* ---- summaries ---- */

/* Takes the next sentence off the front. */
static struct str next_sentence(struct str *left)
{
	size_t end = 0;

	while (end < left->len && !strchr(".?!\n", left->ptr[end]))
		end++;
	while (end < left->len && strchr(".?!\n", left->ptr[end]))
		end++;

	struct str sentence = {left->ptr, end};

	*left = (struct str){left->ptr + end, left->len - end};
	while (left->len && left->ptr[0] == ' ')
		*left = (struct str){left->ptr + 1, left->len - 1};
	while (sentence.len && sentence.ptr[sentence.len - 1] == '\n')
		sentence.len--;
	return sentence;
}

/* The first sentence with one of the words in what was said in time; false when there is
 * none. */
static bool find_quote(const struct bundle *b, const char *section, const char *words,
	struct str *quote, int64_t *seq)
{
	for (size_t i = 0; i < b->count; i++) {
		struct str left =
			field(b, i, is_type(b, i, "CANDIDATE_MESSAGE") ? "text" : "code");

		if (!left.ptr || !str_is(b->rows[i].actor, "candidate") ||
			!str_is(field(b, i, "section_id"), section) ||
			yyjson_is_true(yyjson_obj_get(b->payloads[i], "late")))
			continue;
		while (left.len) {
			struct str sentence = next_sentence(&left);

			if (words && !coverage_mentions(sentence, words))
				continue;
			*quote = utf8_cut(sentence, ARTIFACTS_MAX_QUOTE);
			*seq = b->rows[i].seq;
			return true;
		}
	}
	return false;
}

static void add_quote(const struct bundle *b, yyjson_mut_val *quotes,
	const char *dimension, struct str quote, int64_t seq)
{
	yyjson_mut_val *object = yyjson_mut_obj(b->doc);

	add_text(b, object, "dimension", str_of(dimension));
	add_int(b, object, "seq", seq);
	add_text(b, object, "text", quote);
	yyjson_mut_arr_append(quotes, object);
}

static yyjson_mut_val *summary(const struct bundle *b,
	const struct interview_section *section, const struct interview_part *part)
{
	static const char *const keys[] = {"not_covered", "partially_covered", "covered"};
	yyjson_mut_val *object = yyjson_mut_obj(b->doc), *quotes = yyjson_mut_arr(b->doc);
	struct str quote;
	int64_t seq;

	for (int level = INTERVIEW_COVERED; level >= INTERVIEW_NOT_COVERED; level--) {
		yyjson_mut_val *list = yyjson_mut_arr(b->doc);

		for (int i = 0; i < section->dimension_count; i++)
			if ((int)part->level[i] == level)
				yyjson_mut_arr_append(list,
					text_of(b, str_of(section->dimensions[i].id)));
		add(b, object, keys[level], list);
	}
	for (int i = 0; i < section->dimension_count; i++) {
		const struct interview_dimension *d = &section->dimensions[i];

		if (part->level[i] == INTERVIEW_NOT_COVERED)
			continue;
		if (find_quote(b, section->id, d->strong, &quote, &seq) ||
			find_quote(b, section->id, d->weak, &quote, &seq))
			add_quote(b, quotes, d->id, quote, seq);
	}
	if (yyjson_mut_arr_size(quotes) == 0 &&
		find_quote(b, section->id, NULL, &quote, &seq))
		add_quote(b, quotes, NULL, quote, seq);
	add(b, object, "quotes", quotes);
	add_int(b, object, "answers", part->content);
	add_int(b, object, "followups", part->followups);
	return object;
}

/* ---- section artifacts ---- */

static yyjson_mut_val *coverage(const struct bundle *b,
	const struct interview_section *section, const struct interview_part *part)
{
	yyjson_mut_val *object = yyjson_mut_obj(b->doc);

	for (int i = 0; i < section->dimension_count; i++)
		add_text(b, object, section->dimensions[i].id,
			str_of(interview_level_enumeration()->names[part->level[i]]));
	return object;
}

/* Nothing can be added any more: the grace is over, or the interview is. */
static bool is_final(const struct bundle *b, const struct interview_part *part)
{
	if (part->exit == INTERVIEW_RUNNING || interview_runs(b->state))
		return part->exit != INTERVIEW_RUNNING &&
		       (part->exit != INTERVIEW_EXIT_TIME_EXPIRED ||
			       b->now_ms - part->deadline_ms > b->state->grace_ms);
	return true;
}

static yyjson_mut_val *artifact(const struct bundle *b, int at)
{
	const struct interview_section *section = &b->state->schema->sections[at];
	const struct interview_part *part = &b->state->parts[at];
	yyjson_mut_val *object = yyjson_mut_obj(b->doc);

	add_text(b, object, "section_id", str_of(section->id));
	add_text(b, object, "section_name", str_of(section->name));
	add_time(b, object, "started_at", part->started_at_ms);
	add_time(b, object, "deadline_at", part->deadline_ms);
	add_time(b, object, "ended_at", time_of(b, "SECTION_ENDED", section->id));
	add_text(b, object, "exit_reason",
		part->exit == INTERVIEW_RUNNING
			? (struct str){0}
			: str_of(interview_exit_enumeration()->names[part->exit]));
	add(b, object, "final", yyjson_mut_bool(b->doc, is_final(b, part)));
	add(b, object, "coverage_flags", coverage(b, section, part));
	add(b, object, "raw_transcript",
		ROWS_OF(b, section->id, "PROMPT_PRESENTED", "FOLLOWUP_PRESENTED",
			"CANDIDATE_MESSAGE", "CANDIDATE_CODE_SUBMISSION"));
	if (section->takes_code)
		add(b, object, "code_history",
			ROWS_OF(b, section->id, "CANDIDATE_CODE_SUBMISSION"));
	add(b, object, "bounded_context_summary", summary(b, section, part));
	return object;
}

static yyjson_mut_val *artifacts(const struct bundle *b)
{
	yyjson_mut_val *list = yyjson_mut_arr(b->doc);

	for (int i = 0; i < b->state->schema->section_count; i++)
		if (b->state->parts[i].started_at_ms)
			yyjson_mut_arr_append(list, artifact(b, i));
	return list;
}

/* ---- the bundles ---- */

static yyjson_mut_val *timing(const struct bundle *b)
{
	yyjson_mut_val *list = yyjson_mut_arr(b->doc);

	for (int i = 0; i < b->state->schema->section_count; i++) {
		const struct interview_part *part = &b->state->parts[i];
		const char *id = b->state->schema->sections[i].id;
		int64_t ended = time_of(b, "SECTION_ENDED", id);
		yyjson_mut_val *object;

		if (!part->started_at_ms)
			continue;
		object = yyjson_mut_obj(b->doc);
		add_text(b, object, "section_id", str_of(id));
		add_int(b, object, "planned_ms", part->duration_ms);
		add_int(b, object, "used_ms",
			(ended ? ended : b->now_ms) - part->started_at_ms);
		yyjson_mut_arr_append(list, object);
	}
	return list;
}

static yyjson_mut_val *every_row(const struct bundle *b)
{
	yyjson_mut_val *list = yyjson_mut_arr(b->doc);

	for (size_t i = 0; i < b->count; i++)
		yyjson_mut_arr_append(list, row_value(b, i));
	return list;
}

static void add_head(const struct bundle *b, yyjson_mut_val *root, struct str id)
{
	const struct interview *s = b->state;

	add_text(b, root, "interview_id", id);
	add_text(b, root, "schema_version", str_of(s->schema->version));
	add_int(b, root, "rules", s->base.rules);
	add_text(b, root, "candidate_id",
		s->candidate_id[0] ? str_of(s->candidate_id) : (struct str){0});
	add_text(b, root, "status",
		str_of(interview_status_enumeration()->names[s->status]));
	add_time(b, root, "created_at", b->count ? b->rows[0].at : 0);
	add_time(b, root, "started_at", s->started_at_ms);
	add_time(b, root, "completed_at", time_of(b, "INTERVIEW_COMPLETED", NULL));
	add_time(b, root, "terminated_at", time_of(b, "INTERVIEW_TERMINATED", NULL));
	add(b, root, "sections", artifacts(b));
	add(b, root, "timing", timing(b));
	add(b, root, "assistant_log",
		ROWS_OF(b, NULL, "ASSISTANT_QUERY", "ASSISTANT_RESPONSE",
			"ASSISTANT_RESPONSE_BLOCKED"));
	add(b, root, "code_history", ROWS_OF(b, NULL, "CANDIDATE_CODE_SUBMISSION"));
	add(b, root, "event_log", every_row(b));
}

static void add_ops(const struct bundle *b, yyjson_mut_val *root)
{
	add(b, root, "prompts",
		ROWS_OF(b, NULL, "PROMPT_PRESENTED", "FOLLOWUP_PRESENTED"));
	add(b, root, "boundaries",
		ROWS_OF(b, NULL, "SECTION_STARTED", "SECTION_ENDED",
			"SECTION_TIME_WARNING"));
	add(b, root, "model_requests",
		ROWS_OF(b, NULL, "INTERVIEWER_REQUEST", "INTERVIEWER_RESPONSE",
			"INTERVIEWER_FAILED"));
	add_int(b, root, "disconnects", count_rows(b, "CLIENT_DISCONNECTED"));
	add_int(b, root, "refused_events", count_rows(b, "EVENT_REFUSED"));
	add_int(b, root, "assistant_blocked",
		count_rows(b, "ASSISTANT_RESPONSE_BLOCKED"));
}

static void write(const struct bundle *b, struct buf *out)
{
	size_t len;
	AUTO_FREE char *text = alloc_checked(yyjson_mut_write(b->doc, 0, &len));
	buf_add(out, text, len);
}

/* What happened up to the end of an interview is all that there will ever be: neither the
 * time of the export nor what is refused later changes its bundles. */
static void stop_at_end(struct bundle *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct str type = b->rows[i].type;

		if (!str_is(type, "INTERVIEW_COMPLETED") &&
			!str_is(type, "INTERVIEW_TERMINATED"))
			continue;
		b->now_ms = b->rows[i].at;
		while (i + 1 < b->count && !str_is(b->rows[i + 1].type, "EVENT_REFUSED"))
			i++;
		b->count = i + 1;
	}
}

void artifacts_bundle(enum guard_bundle_for reader, const struct interview *state,
	struct str interview_id, int64_t now_ms, const struct stream_row *rows,
	size_t count, struct buf *out)
{
	AUTO_ARENA arena = {0};
	struct bundle b = {
		.state = state, .rows = rows, .count = count, .now_ms = now_ms};
	yyjson_doc **docs = arena_array(&arena, count + 1, sizeof(*docs));
	yyjson_mut_val *root;

	stop_at_end(&b);
	b.payloads = arena_array(&arena, count + 1, sizeof(*b.payloads));
	for (size_t i = 0; i < count; i++) {
		struct proto_error error;

		docs[i] = proto_parse(rows[i].payload, &error);
		b.payloads[i] = yyjson_doc_get_root(docs[i]);
	}
	b.doc = alloc_checked(yyjson_mut_doc_new(NULL));
	root = yyjson_mut_obj(b.doc);
	yyjson_mut_doc_set_root(b.doc, root);
	add_head(&b, root, interview_id);
	if (reader == GUARD_BUNDLE_OPS)
		add_ops(&b, root);
	write(&b, out);
	yyjson_mut_doc_free(b.doc);
	for (size_t i = 0; i < count; i++)
		yyjson_doc_free(docs[i]);
}

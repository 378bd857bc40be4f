/* requests_text.c - see requests.h. */
#include "common/base/utf8.h"
#include "workers/guard-engine/engine/requests.h"
#include <stdlib.h>

void requests_read(
	const struct stream_rows *page, struct arena *arena, struct request_rows *out)
{
	struct proto_error error;

	*out = (struct request_rows){
		.rows = page->rows.items,
		.docs = arena_array(arena, page->rows.count + 1, sizeof(*out->docs)),
		.count = page->rows.count,
	};
	for (size_t i = 0; i < out->count; i++)
		out->docs[i] = proto_parse(out->rows[i].payload, &error);
}

void requests_free(struct request_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		yyjson_doc_free(rows->docs[i]);
}

static struct str text_of(const struct request_rows *rows, size_t row, const char *key)
{
	yyjson_val *val = yyjson_obj_get(yyjson_doc_get_root(rows->docs[row]), key);

	return (struct str){yyjson_get_str(val), yyjson_get_len(val)};
}

struct str requests_text(const struct request_rows *rows, int64_t seq, const char *key)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].seq == seq)
			return text_of(rows, i, key);
	return (struct str){0};
}

/* ---- CONTROL ---- */

static void add_line(struct buf *out, const char *speaker, struct str text)
{
	buf_printf(out, "%s: ", speaker);
	buf_add_str(out, utf8_cut(text, REQUESTS_HISTORY_TEXT));
	buf_add_char(out, '\n');
}

/* Messages of a row: an answer carries the question that it answers. */
static int messages_of(const struct request_rows *rows, size_t row, struct buf *out)
{
	struct str type = rows->rows[row].type;

	if (str_is(type, "answer")) {
		if (out) {
			add_line(out, "Interviewer", text_of(rows, row, "question"));
			add_line(out, "Candidate", text_of(rows, row, "answer"));
		}
		return 2;
	}
	if (!str_is(type, "assistant_message"))
		return 0;
	if (out)
		add_line(out, "Interviewer", text_of(rows, row, "text"));
	return 1;
}

/* The last messages before row `end`. */
static void add_history(const struct request_rows *rows, size_t end, struct buf *out)
{
	size_t first = end;
	int messages = 0;

	while (first > 0 && messages < REQUESTS_HISTORY)
		messages += messages_of(rows, --first, NULL);
	for (; first < end; first++)
		messages_of(rows, first, out);
}

bool requests_control(const struct request_rows *rows, int64_t seq, struct arena *arena,
	struct control_run *out)
{
	AUTO_BUF history = {0};

	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].seq != seq || !str_is(rows->rows[i].type, "answer"))
			continue;
		add_history(rows, i, &history);
		*out = (struct control_run){
			.question = text_of(rows, i, "question"),
			.answer = text_of(rows, i, "answer"),
			.history = arena_str(arena, buf_str(&history)),
		};
		return true;
	}
	return false;
}

/* ---- coverage ---- */

/* A line of the transcript; false when the row is none. */
static bool read_line(
	const struct request_rows *rows, size_t row, struct interview_line *line)
{
	struct str type = rows->rows[row].type;
	bool asked =
		str_is(type, "PROMPT_PRESENTED") || str_is(type, "FOLLOWUP_PRESENTED");
	struct str text;

	if (yyjson_is_true(yyjson_obj_get(yyjson_doc_get_root(rows->docs[row]), "late")))
		return false;
	if (asked)
		text = text_of(rows, row, "prompt_text");
	else if (str_is(type, "CANDIDATE_MESSAGE"))
		text = text_of(rows, row, "text");
	else if (str_is(type, "CANDIDATE_CODE_SUBMISSION"))
		text = text_of(rows, row, "code");
	else
		return false;
	*line = (struct interview_line){
		.speaker = asked ? STR_LIT("interviewer") : STR_LIT("candidate"),
		.text = utf8_cut(text, REQUESTS_LINE),
	};
	return true;
}

void requests_coverage(const struct interview_section *section,
	const struct request_rows *rows, int64_t seq, struct arena *arena,
	struct interview_coverage_request *out)
{
	*out = (struct interview_coverage_request){
		.section = str_of(section->name),
		.goal = str_of(section->goal),
		.dimensions = {arena_array(arena, INTERVIEW_MAX_DIMENSIONS,
				       sizeof(struct str)),
			(size_t)section->dimension_count},
		.transcript.items = arena_array(
			arena, rows->count + 1, sizeof(struct interview_line)),
	};
	for (int d = 0; d < section->dimension_count; d++)
		out->dimensions.items[d] = str_of(section->dimensions[d].id);
	for (size_t i = 0; i < rows->count && rows->rows[i].seq <= seq; i++)
		if (str_is(text_of(rows, i, "section_id"), section->id) &&
			read_line(rows, i, &out->transcript.items[out->transcript.count]))
			out->transcript.count++;
}

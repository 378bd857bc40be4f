/* guard_script.c - see guard_script.h. */
#include "tests/unit/guard-engine/guard_script.h"
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct machine_defaults defaults = {
	.timebox_ms = 240000,
	.zero_run_limit = 2,
	.project_cap = 2,
	.idle_timeout_ms = 300000,
	.max_idle_ms = 1800000,
	.stale_output_ms = 600000,
	.timezone = {"UTC", 3},
};

/* Zones without summer time, so that scripts do not depend on the system's files. */
static const struct {
	const char *name;
	int32_t offset_s;
} fixed_zones[] = {{"UTC", 0}, {"Asia/Kathmandu", 20700}, {"Asia/Tokyo", 32400},
	{"America/Phoenix", -25200}};

static struct guard_facts facts_at(
	const struct script *s, const struct machine_event *event, int64_t wall_ms)
{
	struct guard_facts facts = {0};
	static struct zone zone;
	struct quota_window window;
	struct str name;
	int hours;

	if (!stream_window(&s->stream, event, &name, &hours))
		return facts;
	zone_fixed(0, &zone);
	for (size_t i = 0; i < sizeof(fixed_zones) / sizeof(fixed_zones[0]); i++)
		if (str_is(name, fixed_zones[i].name))
			zone_fixed(fixed_zones[i].offset_s, &zone);
	window = quota_window_at(&zone,
		hours == 4 || hours == 12 || hours == 24 ? hours : 1,
		SCRIPT_START_MS + wall_ms);
	facts.has_wall_ms = facts.has_window_start_ms = facts.has_window_end_ms = true;
	facts.wall_ms = SCRIPT_START_MS + wall_ms;
	facts.window_start_ms = window.start_ms;
	facts.window_end_ms = window.end_ms;
	return facts;
}

void script_init(struct script *s, enum guard_kind kind)
{
	const struct machine *m = machine_of(kind);

	*s = (struct script){
		.stream.machine = m, .stream.state = calloc(1, m->state_size)};
}

void script_fini(struct script *s)
{
	stream_result_free(&s->result);
	arena_free(&s->arena);
	buf_free(&s->out);
	buf_free(&s->rows);
	buf_free(&s->list);
	free(s->stream.state);
}

static size_t keep_text(struct script *s, struct str text)
{
	size_t at = s->rows.len;

	buf_add_str(&s->rows, text);
	return at;
}

static void render(
	const struct script *s, int64_t now_ms, int64_t wall_ms, struct buf *out)
{
	struct machine_view view = {
		.id = STR_LIT("x"),
		.cursor = s->stream.cursor,
		.now_ms = SCRIPT_START_MS + now_ms,
		.facts = facts_at(s, NULL, wall_ms),
	};

	s->stream.machine->render(s->stream.state, &view, out);
}

/* Writes down what the last step caused. */
static void note(struct script *s, int64_t at_ms, int64_t wall_ms)
{
	const struct stream_result *r = &s->result;
	int64_t deadline = s->stream.machine->deadline(s->stream.state);

	for (int i = 0; i < r->row_count; i++) {
		const struct stream_row *e = &r->rows[i];
		struct script_row row = {e->seq, e->at, keep_text(s, e->actor),
			keep_text(s, e->type), keep_text(s, e->payload), e->actor.len,
			e->type.len, e->payload.len};

		buf_add(&s->list, &row, sizeof(row));
		if (!s->quiet)
			buf_printf(&s->out,
				"  row %" PRId64 " +%" PRId64 " %.*s %.*s %.*s\n", e->seq,
				e->at - SCRIPT_START_MS, STR_ARG(e->actor),
				STR_ARG(e->type), STR_ARG(e->payload));
	}
	if (s->quiet)
		return;
	for (int i = 0; i < r->effect_count; i++)
		buf_printf(&s->out, "  effect %.*s\n", STR_ARG(r->effects[i]));
	if (r->decision.ptr)
		buf_printf(&s->out, "  decision %.*s\n", STR_ARG(r->decision));
	buf_add_str(&s->out, STR_LIT("  state "));
	render(s, at_ms, wall_ms, &s->out);
	if (deadline == MACHINE_NEVER)
		buf_add_str(&s->out, STR_LIT("\n  deadline never\n"));
	else
		buf_printf(&s->out, "\n  deadline +%" PRId64 "\n",
			deadline - SCRIPT_START_MS);
}

void script_create(struct script *s, const char *config, int64_t wall_ms)
{
	struct proto_error error;
	yyjson_doc *doc = proto_parse(str_of(config), &error);
	struct guard_facts facts;
	int err;

	ck_assert_msg(doc != NULL, "%s: %s", config, error.text);
	err = stream_new(
		&s->stream, yyjson_doc_get_root(doc), &defaults, &s->arena, &error);
	ck_assert_msg(err == 0, "%s: %s", config, error.text);
	facts = facts_at(s, NULL, wall_ms);
	stream_open(&s->stream, SCRIPT_START_MS, &facts, &s->result);
	note(s, 0, wall_ms);
	yyjson_doc_free(doc);
}

void script_until(struct script *s, int64_t at_ms, int64_t wall_ms)
{
	struct machine_event tick;
	int64_t last = -1;

	while (stream_due(&s->stream, SCRIPT_START_MS + at_ms, &tick)) {
		int64_t tick_ms = tick.at_ms - SCRIPT_START_MS,
			tick_wall_ms = wall_ms - (at_ms - tick_ms);

		/* A stream that ticks without end would never come to rest. */
		ck_assert_int_gt(tick_ms, last);
		last = tick_ms;
		tick.facts = facts_at(s, &tick, tick_wall_ms);
		ck_assert_int_eq(stream_apply(&s->stream, &tick, &s->result), 0);
		note(s, tick_ms, tick_wall_ms);
	}
}

int script_event(struct script *s, enum stream_sender sender, int64_t at_ms,
	int64_t wall_ms, struct str json)
{
	struct proto_error error;
	yyjson_doc *doc = proto_parse(json, &error);
	struct machine_event event;
	int err;

	ck_assert_msg(doc != NULL, "%.*s: %s", STR_ARG(json), error.text);
	script_until(s, at_ms, wall_ms);
	err = stream_decode(
		&s->stream, yyjson_doc_get_root(doc), sender, &s->arena, &event, &error);
	if (err < 0) {
		if (!s->quiet)
			buf_printf(&s->out, "  invalid %s\n", error.text);
	} else {
		yyjson_val *request =
			yyjson_obj_get(yyjson_doc_get_root(doc), "requestSeq");

		event.at_ms = SCRIPT_START_MS + at_ms;
		event.facts = facts_at(s, &event, wall_ms);
		if (request) {
			event.facts.has_request_seq = true;
			event.facts.request_seq = yyjson_get_sint(request);
		}
		err = stream_apply(&s->stream, &event, &s->result);
		ck_assert_msg(err == 0 || err == -EPERM, "%.*s: %d", STR_ARG(json), err);
		note(s, at_ms, wall_ms);
	}
	yyjson_doc_free(doc);
	return err;
}

/* "> 1500 wall=2000 {…}": times, and what stands behind them. */
static struct str read_times(
	const char *line, size_t len, int64_t *at_ms, int64_t *wall_ms)
{
	const char *end = line + len;
	char *p;

	*at_ms = strtoll(line + 2, &p, 10);
	*wall_ms = *at_ms;
	if (strncmp(p, " wall=", 6) == 0)
		*wall_ms = strtoll(p + 6, &p, 10);
	while (p < end && *p == ' ')
		p++;
	return (struct str){p, (size_t)(end - p)};
}

static void run_line(struct script *s, const char *line, size_t len)
{
	int64_t at_ms, wall_ms;
	struct str json;

	if (line[0] == '>' || line[0] == '!') {
		enum stream_sender sender =
			line[0] == '>' ? STREAM_CLIENT : STREAM_ENGINE;

		json = read_times(line, len, &at_ms, &wall_ms);
		if (json.len)
			script_event(s, sender, at_ms, wall_ms, json);
		else
			script_until(s, at_ms, wall_ms);
	} else {
		const char *blank = memchr(line, ' ', len);
		char *config = strndup(blank + 1, len - (size_t)(blank + 1 - line));
		int kind = enumeration_index(guard_kind_enumeration(),
			(struct str){line, (size_t)(blank - line)});

		ck_assert_int_ge(kind, 0);
		script_init(s, (enum guard_kind)kind);
		script_create(s, config, 0);
		free(config);
	}
}

void script_run(struct script *s, const char *text, struct buf *transcript)
{
	const char *line = text;

	while (*line) {
		const char *end = strchr(line, '\n');
		size_t len = end ? (size_t)(end - line) : strlen(line);

		if (len && line[0] != ' ') {
			buf_add(transcript, line, len);
			buf_add_char(transcript, '\n');
			if (line[0] != '#')
				run_line(s, line, len);
			buf_add_str(transcript, buf_str(&s->out));
			buf_clear(&s->out);
		}
		line += len + (end != NULL);
	}
}

size_t script_row_count(const struct script *s)
{
	return s->list.len / sizeof(struct script_row);
}

struct stream_row script_row_at(const struct script *s, size_t i)
{
	const struct script_row *row =
		(const struct script_row *)(const void *)s->list.data + i;

	return (struct stream_row){
		.seq = row->seq,
		.at = row->at,
		.actor = {s->rows.data + row->actor, row->actor_len},
		.type = {s->rows.data + row->type, row->type_len},
		.payload = {s->rows.data + row->payload, row->payload_len},
	};
}

/* The state as it is kept, and as it is shown. */
static void describe(const struct stream *stream, struct buf *out)
{
	struct machine_view view = {
		.id = STR_LIT("x"), .cursor = stream->cursor, .now_ms = SCRIPT_START_MS};

	stream_save(stream, out);
	stream->machine->render(stream->state, &view, out);
}

static void assert_same(const struct buf *a, const struct buf *b, const char *what)
{
	ck_assert_msg(str_eq(buf_str(a), buf_str(b)), "%s:\n%.*s\n%.*s", what,
		STR_ARG(buf_str(a)), STR_ARG(buf_str(b)));
}

/* Folds rows from..count; returns how often a step was taken. */
static void fold_rest(
	struct stream *stream, const struct stream_row *rows, size_t from, size_t count)
{
	struct stream_result r = {0};
	struct arena arena = {0};
	struct proto_error error;

	while (from < count) {
		int taken = stream_fold(
			stream, rows + from, count - from, &arena, &r, &error);

		ck_assert_msg(taken > 0, "row %zu: %s", from + 1, error.text);
		from += (size_t)taken;
		arena_reset(&arena);
	}
	stream_result_free(&r);
	arena_free(&arena);
}

/* A snapshot after row `at`, read back, must go on like the original. */
static void check_snapshot(const struct stream *original, const struct stream_row *rows,
	size_t at, size_t count, const struct buf *end)
{
	struct stream copy = {.machine = original->machine,
		.state = calloc(1, original->machine->state_size)};
	struct buf text = {0}, again = {0}, ended = {0}, before = {0}, after = {0};
	struct arena arena = {0};
	struct proto_error error;
	yyjson_doc *doc;

	stream_save(original, &text);
	doc = proto_parse(buf_str(&text), &error);
	ck_assert_msg(doc != NULL, "%s", error.text);
	ck_assert_msg(stream_load(&copy, &rows[0], yyjson_doc_get_root(doc),
			      original->cursor, &arena, &error) == 0,
		"%s", error.text);
	yyjson_doc_free(doc);
	stream_save(&copy, &again);
	assert_same(&text, &again, "snapshot");
	describe(original, &before);
	describe(&copy, &after);
	assert_same(&before, &after, "state from a snapshot");
	fold_rest(&copy, rows, at, count);
	describe(&copy, &ended);
	assert_same(end, &ended, "end after a snapshot");
	arena_free(&arena);
	buf_free(&text);
	buf_free(&again);
	buf_free(&ended);
	buf_free(&before);
	buf_free(&after);
	free(copy.state);
}

void script_check_replay(const struct script *s)
{
	size_t count = script_row_count(s), at = 0;
	struct stream_row *rows = calloc(count, sizeof(*rows));
	struct stream stream = {.machine = s->stream.machine,
		.state = calloc(1, s->stream.machine->state_size)};
	struct stream_result r = {0};
	struct arena arena = {0};
	struct proto_error error;
	struct buf end = {0}, folded = {0};

	for (size_t i = 0; i < count; i++)
		rows[i] = script_row_at(s, i);
	describe(&s->stream, &end);
	while (at < count) {
		int taken =
			stream_fold(&stream, rows + at, count - at, &arena, &r, &error);

		ck_assert_msg(taken > 0, "row %zu: %s", at + 1, error.text);
		at += (size_t)taken;
		/* Not after every step of a long stream: that would take quadratic time.
		 */
		if (count < 200 || at % 37 == 0)
			check_snapshot(&stream, rows, at, count, &end);
	}
	describe(&stream, &folded);
	assert_same(&end, &folded, "folded from the beginning");
	stream_result_free(&r);
	arena_free(&arena);
	buf_free(&end);
	buf_free(&folded);
	free(stream.state);
	free(rows);
}

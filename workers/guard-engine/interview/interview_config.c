/* interview_config.c - see interview_config.h. */
#include "workers/guard-engine/interview/interview_config.h"
#include <errno.h>
#include <stdio.h>

#define DEFAULT_GRACE_MS 15000
#define MAX_WARNING_MS 86400000

static int fail(struct proto_error *error, const char *path, const char *what)
{
	snprintf(error->text, sizeof(error->text), "config.%s: %s", path, what);
	return -EINVAL;
}

/* warningsMs: up to 8 positive whole numbers, none twice. */
static int read_warnings(struct interview *s, yyjson_val *list, struct proto_error *error)
{
	yyjson_val *val;
	size_t i, max;

	if (yyjson_arr_size(list) > INTERVIEW_MAX_WARNINGS)
		return fail(error, "warningsMs", "expected at most 8 numbers");
	s->warning_count = 0;
	yyjson_arr_foreach(list, i, max, val)
	{
		double value = yyjson_get_num(val);

		if (!yyjson_is_num(val) || value < 1 || value > MAX_WARNING_MS ||
			value != (double)(int64_t)value)
			return fail(error, "warningsMs",
				"expected whole numbers from 1 to 86400000");
		for (int w = 0; w < s->warning_count; w++)
			if (s->warnings_ms[w] == (int64_t)value)
				return fail(error, "warningsMs",
					"a number stands there twice");
		s->warnings_ms[s->warning_count++] = (int64_t)value;
	}
	return 0;
}

static int read_sections(
	struct interview *s, const struct interview_config *c, struct proto_error *error)
{
	bool seen[INTERVIEW_MAX_SECTIONS] = {false};

	for (size_t i = 0; i < c->sections.count; i++) {
		const struct interview_section_config *given = &c->sections.items[i];
		int at = interview_schema_section(s->schema, given->id);

		if (at < 0)
			return fail(
				error, "sections", "an id is no section of the schema");
		if (seen[at])
			return fail(error, "sections", "a section stands there twice");
		seen[at] = true;
		if (given->has_duration_ms)
			s->parts[at].duration_ms = given->duration_ms;
		if (given->has_followup_cap)
			s->parts[at].followup_cap = given->followup_cap;
	}
	return 0;
}

static void set_defaults(struct interview *s, const struct interview_schema *schema)
{
	*s = (struct interview){
		.base.rules = INTERVIEW_RULES,
		.schema = schema,
		.grace_ms = DEFAULT_GRACE_MS,
		.warning_count = 2,
		.warnings_ms = {120000, 30000},
	};
	for (int i = 0; i < schema->section_count; i++)
		s->parts[i] = (struct interview_part){
			.duration_ms = schema->sections[i].duration_ms,
			.followup_cap = schema->sections[i].followup_cap,
			.exit = INTERVIEW_RUNNING,
		};
}

int interview_create(yyjson_val *config, const struct machine_defaults *defaults,
	struct arena *arena, void *state, struct proto_error *error)
{
	const struct interview_schema *schema = interview_schema_default;
	struct interview *s = state;
	struct interview_config c;

	(void)defaults;
	if (proto_decode(interview_config_type(), config, "config", DECODE_STRICT, arena,
		    &c, error) < 0)
		return -EINVAL;
	if (c.schema.ptr)
		schema = interview_schema_find(c.schema);
	if (!schema)
		return fail(error, "schema", "there is no such version");
	set_defaults(s, schema);
	if (c.has_grace_ms)
		s->grace_ms = c.grace_ms;
	if (c.has_evaluator)
		s->evaluator = (enum interview_evaluator)c.evaluator;
	snprintf(s->candidate_id, sizeof(s->candidate_id), "%.*s",
		STR_ARG(c.candidate_id));
	if (c.warnings_ms.val && read_warnings(s, c.warnings_ms.val, error) < 0)
		return -EINVAL;
	if (read_sections(s, &c, error) < 0)
		return -EINVAL;
	for (int i = 0; i < schema->section_count; i++)
		s->total_ms += s->parts[i].duration_ms;
	if (c.has_total_ms)
		s->total_ms = c.total_ms;
	return 0;
}

void interview_config_out(const void *state, struct buf *out)
{
	const struct interview *s = state;
	struct interview_section_config sections[INTERVIEW_MAX_SECTIONS];
	AUTO_BUF warnings = {0};
	struct interview_config c = {
		.schema = str_of(s->schema->version),
		.candidate_id =
			s->candidate_id[0] ? str_of(s->candidate_id) : (struct str){0},
		.sections = {sections, (size_t)s->schema->section_count},
		.grace_ms = s->grace_ms,
		.has_grace_ms = true,
		.total_ms = s->total_ms,
		.has_total_ms = true,
		.evaluator = s->evaluator,
		.has_evaluator = true,
	};

	for (int i = 0; i < s->schema->section_count; i++)
		sections[i] = (struct interview_section_config){
			.id = str_of(s->schema->sections[i].id),
			.duration_ms = s->parts[i].duration_ms,
			.has_duration_ms = true,
			.followup_cap = s->parts[i].followup_cap,
			.has_followup_cap = true,
		};
	buf_add_char(&warnings, '[');
	for (int i = 0; i < s->warning_count; i++)
		buf_printf(
			&warnings, "%s%lld", i ? "," : "", (long long)s->warnings_ms[i]);
	buf_add_char(&warnings, ']');
	c.warnings_ms.raw = buf_str(&warnings);
	proto_encode(interview_config_type(), &c, out);
}

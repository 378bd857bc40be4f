/* script.c - what the scripted Claude answers (script.h). */
#include "workers/llm/demo/script.h"
#include "common/base/alloc.h"
#include "common/base/str.h"
#include "prompts/prompts.h"
#include <stdio.h>
#include <stdlib.h>

#define LABEL "[demo script] "
#define PHASES_MAX 5
#define ISSUES_MAX 10

/* One answer being written. */
struct answer {
	yyjson_mut_doc *doc;
	yyjson_mut_val *root;
	yyjson_val *user; /* the request's message */
};

typedef void answer_fn(struct answer *a);

/* ---- pieces ---- */

static struct str text_of(yyjson_val *object, const char *key)
{
	yyjson_val *val = yyjson_obj_get(object, key);

	return yyjson_is_str(val) ? (struct str){yyjson_get_str(val), yyjson_get_len(val)}
				  : STR_LIT("");
}

static yyjson_mut_val *said(struct answer *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static yyjson_mut_val *said(struct answer *a, const char *format, ...)
{
	char text[4096];
	va_list args;
	int n = snprintf(text, sizeof(text), LABEL);

	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	va_end(args);
	return yyjson_mut_strcpy(a->doc, text);
}

static void set(
	struct answer *a, yyjson_mut_val *object, const char *key, yyjson_mut_val *value)
{
	yyjson_mut_obj_add_val(a->doc, object, key, value);
}

static void set_text(
	struct answer *a, yyjson_mut_val *object, const char *key, struct str text)
{
	yyjson_mut_obj_add_strncpy(a->doc, object, key, text.ptr, text.len);
}

/* ---- the kinds of call ---- */

static void memory_retrieval_filter(struct answer *a)
{
	yyjson_mut_val *kept =
		yyjson_mut_obj_add_arr(a->doc, a->root, "relevant_memories");
	size_t i, max;
	yyjson_val *memory;

	yyjson_arr_foreach(yyjson_obj_get(a->user, "candidate_memories"), i, max, memory)
	{
		yyjson_mut_val *one = yyjson_mut_arr_add_obj(a->doc, kept);

		set_text(a, one, "content", text_of(memory, "content"));
		yyjson_mut_obj_add_str(a->doc, one, "relevance", "related");
		set(a, one, "connection", said(a, "It came up in an earlier session."));
		set(a, one, "use_in_coaching", said(a, "Remind the learner of it."));
	}
	yyjson_mut_obj_add_arr(a->doc, a->root, "discarded");
}

/* The next line of a plan that is a step: one that begins with a number, a dash or a
 * star. */
static struct str next_step(struct str *plan)
{
	while (plan->len > 0) {
		const char *end = memchr(plan->ptr, '\n', plan->len);
		struct str line = {
			plan->ptr, end ? (size_t)(end - plan->ptr) : plan->len};
		size_t skip;

		plan->ptr += line.len + (end ? 1 : 0);
		plan->len -= line.len + (end ? 1 : 0);
		while (line.len > 0 && line.ptr[0] == ' ') {
			line.ptr++;
			line.len--;
		}
		for (skip = 0;
			skip < line.len && strchr("0123456789.-*) ", line.ptr[skip]);
			skip++)
			;
		if (skip > 0 && skip < line.len)
			return (struct str){line.ptr + skip, line.len - skip};
	}
	return (struct str){NULL, 0};
}

static void add_phase(
	struct answer *a, yyjson_mut_val *phases, int number, struct str title)
{
	yyjson_mut_val *phase = yyjson_mut_arr_add_obj(a->doc, phases), *hints;

	yyjson_mut_obj_add_int(a->doc, phase, "number", number);
	set_text(a, phase, "title", title);
	set(a, phase, "description",
		said(a,
			"Step %d of your plan: %.*s Say first what you expect to find, "
			"then look.",
			number, STR_ARG(title)));
	yyjson_mut_obj_add_arr(a->doc, phase, "expected_files");
	yyjson_mut_obj_add_str(a->doc, phase, "hint_level", "file");
	hints = yyjson_mut_obj_add_obj(a->doc, phase, "hints");
	yyjson_mut_obj_add_arr(a->doc, hints, "file_hints");
	yyjson_mut_obj_add_arr(a->doc, hints, "line_hints");
	yyjson_mut_obj_add_arr(a->doc, phase, "knowledge_gap_opportunities");
}

static void coach_agent(struct answer *a)
{
	yyjson_mut_val *phases = yyjson_mut_obj_add_arr(a->doc, a->root, "phases");
	struct str plan = text_of(a->user, "plan"), step;
	int n = 0;

	while (n < PHASES_MAX && (step = next_step(&plan)).ptr)
		add_phase(a, phases, ++n, step);
	if (n == 0)
		add_phase(a, phases, 1, STR_LIT("Understand what is asked"));
	yyjson_mut_obj_add_null(a->doc, a->root, "memory_connection");
	yyjson_mut_obj_add_str(a->doc, a->root, "estimated_difficulty", "intermediate");
}

static void add_constraint(struct answer *a, yyjson_mut_val *constraints,
	const char *title, const char *description, int min_level)
{
	yyjson_mut_val *one = yyjson_mut_arr_add_obj(a->doc, constraints);

	yyjson_mut_obj_add_str(a->doc, one, "title", title);
	set(a, one, "description", said(a, "%s", description));
	yyjson_mut_obj_add_int(a->doc, one, "minLevel", min_level);
}

/* One that can be worked on: a task, code to begin with, and constraints of which the
 * first can be taken on at once, the second after a review that gives level 4, and the
 * third stays locked (practice_review). */
static void add_kata(struct answer *a, yyjson_mut_val *katas)
{
	yyjson_mut_val *kata = yyjson_mut_arr_add_obj(a->doc, katas), *constraints;

	yyjson_mut_obj_add_str(a->doc, kata, "title", "Predict, then run");
	set(a, kata, "description",
		said(a, "Know what code does **before** you run it.\n\n"
			"1. Read `total` and write down what each call returns.\n"
			"2. Then run it, and mark what you had not expected.\n"
			"3. For each mark, name the line that you had misread."));
	yyjson_mut_obj_add_str(a->doc, kata, "scaffolding_code",
		"function total(prices, discount = 0) {\n"
		"  const sum = prices.reduce((a, b) => a + b, 0);\n"
		"  return sum - sum * discount;\n"
		"}\n"
		"\n"
		"// total([2, 3])      returns\n"
		"// total([10], 0.5)   returns\n"
		"// total([], 0.1)     returns\n");
	yyjson_mut_obj_add_arr(a->doc, kata, "test_cases");
	constraints = yyjson_mut_obj_add_arr(a->doc, kata, "constraints");
	add_constraint(a, constraints, "Say why",
		"Below each answer write which line decides it.", 1);
	add_constraint(a, constraints, "Find an edge",
		"Add a call whose result would surprise a reader.", 3);
	add_constraint(a, constraints, "From memory",
		"Write the function anew from your notes alone.", 6);
	yyjson_mut_obj_add_null(a->doc, kata, "follow_up_constraint");
	set(a, kata, "instructor_notes", said(a, "The results are 5, 5 and 0."));
}

static void knowledge_gap_extraction(struct answer *a)
{
	yyjson_mut_val *gap = yyjson_mut_arr_add_obj(
		a->doc, yyjson_mut_obj_add_arr(a->doc, a->root, "knowledge_gaps"));
	yyjson_mut_val *katas = yyjson_mut_obj_add_arr(a->doc, a->root, "kata_specs");
	yyjson_mut_val *summary =
		yyjson_mut_obj_add_obj(a->doc, a->root, "session_summary");

	yyjson_mut_obj_add_str(a->doc, gap, "topic", "Reading code before changing it");
	set(a, gap, "evidence",
		said(a, "The log has %zu actions.",
			yyjson_arr_size(yyjson_obj_get(a->user, "action_log"))));
	yyjson_mut_obj_add_str(a->doc, gap, "severity", "low");
	yyjson_mut_obj_add_arr(a->doc, gap, "related_concepts");
	add_kata(a, katas);
	yyjson_mut_obj_add_int(a->doc, summary, "phases_completed", 0);
	yyjson_mut_obj_add_int(a->doc, summary, "total_time_minutes", 0);
	yyjson_mut_obj_add_int(a->doc, summary, "hints_used", 0);
	yyjson_mut_obj_add_int(a->doc, summary, "independent_completions", 0);
}

static void dreyfus_assessment(struct answer *a)
{
	yyjson_mut_val *one = yyjson_mut_arr_add_obj(
		a->doc, yyjson_mut_obj_add_arr(a->doc, a->root, "assessments"));

	yyjson_mut_obj_add_str(a->doc, one, "skill_area", "exploring a code base");
	yyjson_mut_obj_add_str(a->doc, one, "stage", "advanced_beginner");
	yyjson_mut_obj_add_null(a->doc, one, "previous_stage");
	yyjson_mut_obj_add_real(a->doc, one, "confidence", 0.3);
	set(a, one, "evidence",
		said(a, "A script judges nobody; this row only shows where it goes."));
	set(a, one, "recommendation", said(a, "Go on as before."));
}

static void memory_summarisation(struct answer *a)
{
	yyjson_mut_val *memory = yyjson_mut_arr_add_obj(
		a->doc, yyjson_mut_obj_add_arr(a->doc, a->root, "memories"));
	struct str issue = text_of(a->user, "issue");

	set(a, memory, "content", said(a, "A demo session about: %.*s", STR_ARG(issue)));
	yyjson_mut_arr_add_str(
		a->doc, yyjson_mut_obj_add_arr(a->doc, memory, "tags"), "demo");
	yyjson_mut_obj_add_str(a->doc, memory, "importance", "low");
}

static void observer_triage(struct answer *a)
{
	bool idle = yyjson_is_true(yyjson_obj_get(a->user, "user_idle"));
	yyjson_mut_val *context;

	yyjson_mut_obj_add_bool(a->doc, a->root, "should_nudge", idle);
	yyjson_mut_obj_add_real(a->doc, a->root, "confidence", idle ? 0.8 : 0.2);
	yyjson_mut_obj_add_str(a->doc, a->root, "signal", idle ? "idle" : "no_nudge");
	set(a, a->root, "reasoning", said(a, "It speaks only to those who are idle."));
	context = yyjson_mut_obj_add_obj(a->doc, a->root, "suggested_context");
	yyjson_mut_obj_add_null(a->doc, context, "current_file");
	yyjson_mut_obj_add_null(a->doc, context, "expected_file");
	yyjson_mut_obj_add_null(a->doc, context, "time_in_file");
	yyjson_mut_obj_add_null(a->doc, context, "phase_description");
}

static void explain_this(struct answer *a)
{
	struct str code = text_of(a->user, "selected_code"),
		   path = text_of(a->user, "file_path");
	struct str language = text_of(a->user, "language");

	set(a, a->root, "explanation",
		said(a,
			"You selected %zu characters of %.*s in %.*s. With an API key "
			"Claude would explain them "
			"here, at your level.",
			code.len, STR_ARG(language), STR_ARG(path)));
	yyjson_mut_arr_add_strncpy(a->doc,
		yyjson_mut_obj_add_arr(a->doc, a->root, "key_concepts"), language.ptr,
		language.len);
	yyjson_mut_obj_add_null(a->doc, a->root, "analogy");
	yyjson_mut_obj_add_null(a->doc, a->root, "related_files");
	yyjson_mut_obj_add_null(a->doc, a->root, "phase_connection");
}

static void practice_review(struct answer *a)
{
	size_t len = text_of(a->user, "user_code").len;

	yyjson_mut_obj_add_bool(a->doc, a->root, "correct", len > 0);
	set(a, a->root, "feedback",
		said(a, "%zu characters were handed in; a script cannot judge them.",
			len));
	yyjson_mut_obj_add_int(a->doc, a->root, "level", len > 200 ? 4 : 2);
	yyjson_mut_obj_add_bool(a->doc, a->root, "passed", len > 0);
	yyjson_mut_obj_add_null(a->doc, a->root, "follow_up");
	yyjson_mut_obj_add_str(a->doc, a->root, "dreyfus_signal", "stable");
}

static void add_issue(
	struct answer *a, yyjson_mut_val *issues, yyjson_val *issue, size_t place)
{
	yyjson_mut_val *one = yyjson_mut_arr_add_obj(a->doc, issues), *factors;

	yyjson_mut_obj_add_sint(
		a->doc, one, "number", yyjson_get_sint(yyjson_obj_get(issue, "number")));
	set_text(a, one, "title", text_of(issue, "title"));
	set(a, one, "summary",
		said(a, "An open issue of your project, in the order of the list."));
	yyjson_mut_obj_add_str(a->doc, one, "suitability", "good_fit");
	set(a, one, "suitability_reason", said(a, "Nobody has looked at it."));
	yyjson_mut_obj_add_str(a->doc, one, "estimated_difficulty", "intermediate");
	yyjson_mut_obj_add_arr(a->doc, one, "relevant_skills");
	yyjson_mut_obj_add_real(
		a->doc, one, "priority_score", 1.0 - (double)place / ISSUES_MAX);
	factors = yyjson_mut_obj_add_obj(a->doc, one, "priority_factors");
	yyjson_mut_obj_add_bool(a->doc, factors, "user_tagged", false);
	yyjson_mut_obj_add_bool(a->doc, factors, "similar_to_recent_work", false);
	yyjson_mut_obj_add_bool(a->doc, factors, "addresses_knowledge_gap", false);
	yyjson_mut_obj_add_str(a->doc, factors, "team_urgency", "low");
	yyjson_mut_obj_add_arr(a->doc, one, "learning_opportunities");
}

static void issue_assessment(struct answer *a)
{
	yyjson_mut_val *issues = yyjson_mut_obj_add_arr(a->doc, a->root, "issues");
	size_t i, max;
	yyjson_val *issue;

	yyjson_arr_foreach(yyjson_obj_get(a->user, "github_issues"), i, max,
		issue) if (i < ISSUES_MAX) add_issue(a, issues, issue, i);
}

/* The message is not JSON here: what the search found. */
static void learning_materials(struct answer *a)
{
	yyjson_mut_obj_add_arr(a->doc, a->root, "recommendations");
}

static void control(struct answer *a)
{
	static const char *const pillars[] = {"adaptability", "creativity", "reasoning"};
	yyjson_mut_val *scores = yyjson_mut_obj_add_obj(a->doc, a->root, "pillars");
	yyjson_mut_val *reasons;

	set(a, a->root, "rationale", said(a, "A script scores nobody."));
	reasons = yyjson_mut_obj_add_obj(a->doc, a->root, "pillarRationales");
	for (size_t i = 0; i < sizeof(pillars) / sizeof(pillars[0]); i++) {
		yyjson_mut_obj_add_int(a->doc, scores, pillars[i], 0);
		set(a, reasons, pillars[i], said(a, "No score."));
	}
}

static void interview_coverage(struct answer *a)
{
	yyjson_mut_val *coverage = yyjson_mut_obj_add_arr(a->doc, a->root, "coverage");
	size_t i, max;
	yyjson_val *dimension;

	yyjson_arr_foreach(yyjson_obj_get(a->user, "dimensions"), i, max, dimension)
	{
		yyjson_mut_val *one = yyjson_mut_arr_add_obj(a->doc, coverage);

		yyjson_mut_obj_add_strcpy(
			a->doc, one, "dimension", yyjson_get_str(dimension));
		yyjson_mut_obj_add_str(a->doc, one, "level", "partially_covered");
	}
}

static void interview_assistant(struct answer *a)
{
	set(a, a->root, "text", said(a, "A script explains nothing."));
	yyjson_mut_obj_add_str(a->doc, a->root, "category", "concept");
}

/* ---- which kind ---- */

static answer_fn *const answers[CALL_KINDS] = {
#define CALL(symbol, name, ...) [CALL_##symbol] = name,
#include "prompts/calls.def"
#undef CALL
};

/* The kind whose answer has just the properties that the schema has; -1 for none. */
static int kind_of(yyjson_val *schema)
{
	yyjson_val *properties = yyjson_obj_get(schema, "properties");

	for (int kind = 0; kind < CALL_KINDS; kind++) {
		const struct type *type = call_infos[kind].response();
		bool same = yyjson_obj_size(properties) == type->count;

		for (size_t i = 0; same && i < type->count; i++)
			same = yyjson_obj_get(properties, type->fields[i].wire) != NULL;
		if (same)
			return kind;
	}
	return -1;
}

/* The text of the last message of the user. */
static struct str user_text(yyjson_val *request)
{
	struct str text = STR_LIT("");
	size_t i, max;
	yyjson_val *message;

	yyjson_arr_foreach(yyjson_obj_get(request, "messages"), i, max,
		message) if (yyjson_equals_str(yyjson_obj_get(message, "role"), "user"))
		text = text_of(message, "content");
	return text;
}

void script_answer(yyjson_val *request, struct buf *out)
{
	yyjson_val *format =
		yyjson_obj_get(yyjson_obj_get(request, "output_config"), "format");
	struct str user = user_text(request);
	AUTO_DOC *message = yyjson_read(user.ptr, user.len, 0);
	int kind = kind_of(yyjson_obj_get(format, "schema"));
	struct answer a = {
		.doc = yyjson_mut_doc_new(NULL), .user = yyjson_doc_get_root(message)};
	AUTO_FREE char *text = NULL;
	size_t len;

	a.root = yyjson_mut_obj(a.doc);
	yyjson_mut_doc_set_root(a.doc, a.root);
	if (kind < 0) {
		buf_add_str(
			out, STR_LIT(LABEL
				     "Nothing was searched for, and nothing was found."));
	} else {
		answers[kind](&a);
		text = yyjson_mut_write(a.doc, 0, &len);
		if (text)
			buf_add(out, text, len);
	}
	yyjson_mut_doc_free(a.doc);
}

/* issues.c - GitHub issues on their way to and from the model (issues.h). */
#include "workers/llm/flows/issues.h"
#include "common/base/alloc.h"
#include "common/base/utf8.h"
#include <stdlib.h>

static void add_cut(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key,
	yyjson_val *text, size_t units)
{
	struct str cut = utf8_cut_utf16(proto_str(text), units);

	if (yyjson_is_str(text))
		yyjson_mut_obj_add_strncpy(doc, to, key, cut.ptr, cut.len);
}

/* Of a list of objects or strings only what names each. */
static void add_names(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key,
	yyjson_val *list, const char *name)
{
	yyjson_mut_val *names = yyjson_mut_obj_add_arr(doc, to, key);
	size_t i, max;
	yyjson_val *one;

	yyjson_arr_foreach(list, i, max, one)
	{
		struct str text =
			proto_str(yyjson_is_obj(one) ? yyjson_obj_get(one, name) : one);

		if (text.ptr)
			yyjson_mut_arr_add_strncpy(doc, names, text.ptr, text.len);
	}
}

static void add_comments(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *comments)
{
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "comments");
	size_t i, max;
	yyjson_val *one;

	yyjson_arr_foreach(comments, i, max, one)
	{
		struct str cut = utf8_cut_utf16(
			proto_str(yyjson_obj_get(one, "body")), ISSUE_COMMENT_CHARS);

		if (i == ISSUE_COMMENTS)
			break;
		if (cut.ptr)
			yyjson_mut_arr_add_strncpy(doc, list, cut.ptr, cut.len);
	}
	yyjson_mut_obj_add_uint(doc, to, "comment_count", yyjson_arr_size(comments));
}

struct str issues_for_model(yyjson_val *gh, struct arena *arena)
{
	yyjson_mut_doc *doc;
	yyjson_mut_val *list;
	struct str result = {NULL, 0};
	size_t i, max, len;
	AUTO_FREE char *text = NULL;
	yyjson_val *issue;

	if (!yyjson_is_arr(gh))
		return result;
	doc = yyjson_mut_doc_new(NULL);
	list = yyjson_mut_arr(doc);
	yyjson_arr_foreach(gh, i, max, issue)
	{
		yyjson_mut_val *copy = yyjson_mut_arr_add_obj(doc, list);

		yyjson_mut_obj_add_sint(doc, copy, "number",
			yyjson_get_sint(yyjson_obj_get(issue, "number")));
		add_cut(doc, copy, "title", yyjson_obj_get(issue, "title"),
			ISSUE_BODY_CHARS);
		add_cut(doc, copy, "body", yyjson_obj_get(issue, "body"),
			ISSUE_BODY_CHARS);
		add_names(doc, copy, "labels", yyjson_obj_get(issue, "labels"), "name");
		add_names(doc, copy, "assignees", yyjson_obj_get(issue, "assignees"),
			"login");
		add_comments(doc, copy, yyjson_obj_get(issue, "comments"));
	}
	yyjson_mut_doc_set_root(doc, list);
	text = yyjson_mut_write(doc, 0, &len);
	if (text)
		result = arena_str(arena, (struct str){text, len});
	yyjson_mut_doc_free(doc);
	return result;
}

struct str issues_query(yyjson_val *gh, struct arena *arena)
{
	AUTO_BUF titles = {0};
	size_t i, max;
	yyjson_val *issue;

	yyjson_arr_foreach(gh, i, max, issue)
	{
		if (i)
			buf_add_char(&titles, '\n');
		buf_add_str(&titles, proto_str(yyjson_obj_get(issue, "title")));
	}
	return arena_str(arena, buf_str(&titles));
}

static bool listed(yyjson_val *gh, int64_t number)
{
	size_t i, max;
	yyjson_val *issue;

	yyjson_arr_foreach(
		gh, i, max, issue) if (yyjson_get_sint(yyjson_obj_get(issue, "number")) ==
				       number) return true;
	return false;
}

static struct dashboard_issue shown(const struct assessed_issue *i)
{
	return (struct dashboard_issue){.number = i->number,
		.has_number = true,
		.title = i->title,
		.summary = i->summary,
		.suitability = i->suitability,
		.has_suitability = true,
		.suitability_reason = i->suitability_reason,
		.estimated_difficulty = i->estimated_difficulty,
		.has_estimated_difficulty = true,
		.relevant_skills = i->relevant_skills,
		.priority_score = i->priority_score,
		.has_priority_score = true,
		.priority_factors = {.user_tagged = i->priority_factors.user_tagged,
			.has_user_tagged = true,
			.similar_to_recent_work =
				i->priority_factors.similar_to_recent_work,
			.has_similar_to_recent_work = true,
			.addresses_knowledge_gap =
				i->priority_factors.addresses_knowledge_gap,
			.has_addresses_knowledge_gap = true,
			.team_urgency = i->priority_factors.team_urgency,
			.has_team_urgency = true},
		.has_priority_factors = true,
		.learning_opportunities = i->learning_opportunities};
}

struct dashboard_issues issues_shown(
	const struct issue_assessment_response *r, yyjson_val *gh, struct arena *arena)
{
	struct dashboard_issue *items =
		arena_array(arena, r->issues.count + 1, sizeof(*items));
	struct dashboard_issues result = {0};
	size_t n = 0;

	/* Insertion sort: stable, and the list is short. */
	for (size_t i = 0; i < r->issues.count; i++) {
		struct dashboard_issue one = shown(&r->issues.items[i]);
		size_t at = n;

		if (!listed(gh, one.number))
			continue;
		while (at > 0 && items[at - 1].priority_score < one.priority_score) {
			items[at] = items[at - 1];
			at--;
		}
		items[at] = one;
		n++;
	}
	result.issues.items = items;
	result.issues.count = n < ISSUES_SHOWN ? n : ISSUES_SHOWN;
	return result;
}

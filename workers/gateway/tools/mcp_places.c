/* mcp_places.c - see mcp_places.h. */
#include "workers/gateway/tools/mcp_places.h"

static void add(struct mcp_places *out, struct fs_place place, struct str *path)
{
	place.path = *path;
	place.has_last_line = place.last_line > 0;
	place.has_may_be_gone = place.may_be_gone;
	out->paths[out->query.places.count] = path;
	out->query.places.items[out->query.places.count++] = place;
}

static void make_room(struct mcp_places *out, struct arena *arena, size_t count)
{
	out->query.places.items =
		arena_array(arena, count + 1, sizeof(*out->query.places.items));
	out->paths = arena_array(arena, count + 1, sizeof(*out->paths));
}

static void of_highlight(struct tool_highlight_lines_input *in, struct arena *arena,
	struct mcp_places *out)
{
	make_room(out, arena, 1);
	add(out,
		(struct fs_place){.field = STR_LIT("arguments.path"),
			.last_line = in->end > in->start ? in->end : in->start,
			.line_field = in->end > in->start ? STR_LIT("arguments.end")
							  : STR_LIT("arguments.start")},
		&in->path);
}

static void of_hints(
	struct tool_hint_files_input *in, struct arena *arena, struct mcp_places *out)
{
	make_room(out, arena, in->hints.count + in->paths.count);
	for (size_t i = 0; i < in->hints.count; i++)
		add(out,
			(struct fs_place){.field = arena_printf(
						  arena, "arguments.hints[%zu].path", i)},
			&in->hints.items[i].path);
	for (size_t i = 0; i < in->paths.count; i++)
		add(out,
			(struct fs_place){
				.field = arena_printf(arena, "arguments.paths[%zu]", i)},
			&in->paths.items[i]);
}

static void of_message(
	struct tool_show_message_input *in, struct arena *arena, struct mcp_places *out)
{
	if (!in->has_anchor)
		return;
	make_room(out, arena, 1);
	add(out,
		(struct fs_place){.field = STR_LIT("arguments.anchor.path"),
			.last_line = in->anchor.has_range ? in->anchor.range.end_line : 0,
			.line_field = STR_LIT("arguments.anchor.range.endLine")},
		&in->anchor.path);
}

void mcp_places_of(
	enum mcp_tool tool, void *input, struct arena *arena, struct mcp_places *out)
{
	struct tool_clear_highlights_input *clear = input;

	*out = (struct mcp_places){0};
	switch ((int)tool) {
	case MCP_TOOL_HIGHLIGHT_LINES:
		of_highlight(input, arena, out);
		break;
	case MCP_TOOL_CLEAR_HIGHLIGHTS:
		make_room(out, arena, 1);
		if (clear->path.ptr)
			add(out,
				(struct fs_place){.field = STR_LIT("arguments.path"),
					.may_be_gone = true},
				&clear->path);
		break;
	case MCP_TOOL_HINT_FILES:
		of_hints(input, arena, out);
		break;
	case MCP_TOOL_SHOW_MESSAGE:
		of_message(input, arena, out);
		break;
	default: /* the owner looks itself, or there is no path */
		break;
	}
}

void mcp_places_set(const struct mcp_places *places, const struct fs_places_found *found)
{
	for (size_t i = 0; i < places->query.places.count && i < found->paths.count; i++)
		*places->paths[i] = found->paths.items[i];
}

/* tree_json.c - the tree of tree.h as the payload of fs:tree. */
#include "workers/fswatch/tree.h"

#define FILE_NODE_BYTES 64 /* beside its names */

/* Appends a name as the inside of a JSON string, and returns its length there. */
static size_t add_escaped(struct buf *out, const char *name)
{
	size_t before = out->len;

	buf_add_json_string(out, str_of(name));
	/* Without the quotes. */
	out->len--;
	memmove(out->data + before, out->data + before + 1, out->len - before - 1);
	out->len--;
	return out->len - before;
}

/* `prefix` is the escaped path of the directory with a slash behind, empty for the root.
 */
static void add_head(struct buf *out, const struct buf *prefix, const char *name)
{
	buf_add_str(out, STR_LIT("{\"name\":\""));

	size_t len = add_escaped(out, name);

	buf_add_str(out, STR_LIT("\",\"path\":\""));
	buf_add_str(out, buf_str(prefix));
	buf_reserve(out, len);

	const char *escaped = out->data + out->len - prefix->len - 10 - len;

	buf_add(out, escaped, len);
}

static void add_children(struct buf *out, struct buf *prefix, const struct tree_dir *dir);

static void add_dir(struct buf *out, struct buf *prefix, const struct tree_dir *dir)
{
	size_t before = prefix->len;

	add_head(out, prefix, dir->name);
	buf_add_str(out, STR_LIT("\",\"type\":\"directory\""));
	if (dir->depth > TREE_SHOWN_DEPTH) {
		buf_add_char(out, '}');
		return;
	}
	buf_add_str(out, STR_LIT(",\"children\":["));
	add_escaped(prefix, dir->name);
	buf_add_char(prefix, '/');
	add_children(out, prefix, dir);
	prefix->len = before;
	buf_add_str(out, STR_LIT("]}"));
}

static void add_children(struct buf *out, struct buf *prefix, const struct tree_dir *dir)
{
	bool first = true;

	for (unsigned i = 0; i < dir->dir_count; i++) {
		if (!first)
			buf_add_char(out, ',');
		first = false;
		add_dir(out, prefix, dir->dirs[i]);
	}
	buf_reserve(out, dir->file_count * (FILE_NODE_BYTES + prefix->len));
	for (unsigned i = 0; i < dir->file_count; i++) {
		if (!first)
			buf_add_char(out, ',');
		first = false;
		add_head(out, prefix, dir->files[i]);
		buf_add_str(out, STR_LIT("\",\"type\":\"file\"}"));
	}
}

void tree_json(const struct tree *tree, struct buf *out)
{
	struct buf prefix = {.data = NULL};

	buf_add_str(out, STR_LIT("{\"root\":{\"name\":"));
	buf_add_json_string(out, str_of(tree->root->name));
	buf_add_str(
		out, STR_LIT(",\"path\":\".\",\"type\":\"directory\",\"children\":["));
	add_children(out, &prefix, tree->root);
	buf_add_str(out, STR_LIT("]}}"));
	buf_free(&prefix);
}

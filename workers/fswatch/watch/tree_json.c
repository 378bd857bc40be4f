/* tree_json.c - the tree of tree.h as the payload of fs:tree. */
#include "workers/fswatch/watch/tree.h"

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

static void add_file(struct buf *out, const struct buf *prefix, const char *name)
{
	add_head(out, prefix, name);
	buf_add_str(out, STR_LIT("\",\"type\":\"file\"}"));
}

static void open_level(
	struct tree_writer *w, const struct tree_dir *dir, size_t prefix_len)
{
	w->levels[w->depth++] = (struct tree_level){.dir = dir, .prefix_len = prefix_len};
	buf_reserve(&w->out, dir->file_count * (FILE_NODE_BYTES + w->prefix.len));
}

static void add_dir(struct tree_writer *w, const struct tree_dir *dir)
{
	size_t before = w->prefix.len;

	add_head(&w->out, &w->prefix, dir->name);
	buf_add_str(&w->out, STR_LIT("\",\"type\":\"directory\""));
	if (dir->depth > TREE_SHOWN_DEPTH) {
		buf_add_char(&w->out, '}');
		return;
	}
	buf_add_str(&w->out, STR_LIT(",\"children\":["));
	add_escaped(&w->prefix, dir->name);
	buf_add_char(&w->prefix, '/');
	open_level(w, dir, before);
}

static void begin(struct tree_writer *w)
{
	struct buf *out = &w->out;

	w->changes = tree_changes;
	w->depth = 0;
	buf_clear(out);
	buf_clear(&w->prefix);
	buf_add_str(out, STR_LIT("{\"root\":{\"name\":"));
	buf_add_json_string(out, str_of(w->tree->root->name));
	buf_add_str(
		out, STR_LIT(",\"path\":\".\",\"type\":\"directory\",\"children\":["));
	open_level(w, w->tree->root, 0);
}

/* The next entry of the innermost directory, or its end. True for an entry. */
static bool add_next(struct tree_writer *w)
{
	struct tree_level *level = &w->levels[w->depth - 1];
	const struct tree_dir *dir = level->dir;

	if (level->dirs == dir->dir_count && level->files == dir->file_count) {
		buf_add_str(&w->out, STR_LIT("]}"));
		w->prefix.len = level->prefix_len;
		w->depth--;
		return false;
	}
	if (level->dirs + level->files > 0)
		buf_add_char(&w->out, ',');
	if (level->dirs < dir->dir_count) {
		add_dir(w, dir->dirs[level->dirs++]);
	} else {
		add_file(&w->out, &w->prefix, dir->files[level->files++]);
	}
	return true;
}

void tree_write_start(struct tree_writer *w, const struct tree *tree)
{
	*w = (struct tree_writer){.tree = tree};
	begin(w);
}

bool tree_write(struct tree_writer *w, size_t most)
{
	if (w->changes != tree_changes) {
		w->tries++;
		begin(w);
	}
	if (w->tries > TREE_WRITE_TRIES)
		most = SIZE_MAX;
	while (w->depth > 0 && most > 0)
		if (add_next(w))
			most--;
	if (w->depth > 0)
		return false;
	buf_add_char(&w->out, '}');
	return true;
}

bool tree_written(const struct tree_writer *w)
{
	return w->depth == 0 && w->changes == tree_changes;
}

void tree_write_fini(struct tree_writer *w)
{
	buf_free(&w->out);
	buf_free(&w->prefix);
}

void tree_write_list(const struct tree_dir *dir, struct buf *out)
{
	AUTO_BUF key = {.data = NULL}, prefix = {.data = NULL};

	tree_path(dir, (struct str){NULL, 0}, &key);
	buf_add_str(out, STR_LIT("{\"root\":{\"name\":"));
	buf_add_json_string(out, str_of(dir->name));
	buf_add_str(out, STR_LIT(",\"path\":"));
	buf_add_json_string(out, buf_str(&key));
	buf_add_str(out, STR_LIT(",\"type\":\"directory\",\"children\":["));
	if (dir->parent) {
		buf_add(&key, "/", 2); /* with its NUL */
		add_escaped(&prefix, key.data);
	}
	buf_reserve(
		out, (dir->dir_count + dir->file_count) * (FILE_NODE_BYTES + prefix.len));
	for (unsigned i = 0; i < dir->dir_count; i++) {
		add_head(out, &prefix, dir->dirs[i]->name);
		buf_add_str(out, STR_LIT("\",\"type\":\"directory\"},"));
	}
	for (unsigned i = 0; i < dir->file_count; i++) {
		add_file(out, &prefix, dir->files[i]);
		buf_add_char(out, ',');
	}
	if (dir->dir_count + dir->file_count > 0)
		out->len--;
	buf_add_str(out, STR_LIT("]}}"));
}

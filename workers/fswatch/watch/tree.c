/* tree.c - the tree of tree.h. */
#include "workers/fswatch/watch/tree.h"
#include "common/base/alloc.h"
#include <assert.h>
#include <stdlib.h>

uint64_t tree_changes;

static int order(const char *a, struct str b)
{
	size_t len = strlen(a);
	int c = memcmp(a, b.ptr, len < b.len ? len : b.len);

	return c ? c : (len > b.len) - (len < b.len);
}

/* ---- finding ---- */

static const char *file_name(const struct tree_dir *dir, unsigned i)
{
	return dir->files[i];
}

static const char *dir_name(const struct tree_dir *dir, unsigned i)
{
	return dir->dirs[i]->name;
}

/* Where the name is, or belongs, among `count` names in order. */
static inline unsigned search(const struct tree_dir *dir, unsigned count,
	const char *(*name_at)(const struct tree_dir *dir, unsigned i), struct str name,
	bool *found)
{
	unsigned low = 0, high = count;

	*found = false;
	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		int c = order(name_at(dir, middle), name);

		if (c == 0) {
			*found = true;
			return middle;
		}
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static unsigned file_at(const struct tree_dir *dir, struct str name, bool *found)
{
	return search(dir, dir->file_count, file_name, name, found);
}

static unsigned dir_at(const struct tree_dir *dir, struct str name, bool *found)
{
	return search(dir, dir->dir_count, dir_name, name, found);
}

struct tree_dir *tree_dir_find(const struct tree_dir *dir, struct str name)
{
	bool found;
	unsigned at = dir_at(dir, name, &found);

	return found ? dir->dirs[at] : NULL;
}

const struct tree_dir *tree_dir_at(const struct tree *tree, struct str key)
{
	const struct tree_dir *dir = tree->root;

	if (str_is(key, "."))
		return dir;
	while (dir && key.len > 0) {
		const char *slash = memchr(key.ptr, '/', key.len);
		size_t len = slash ? (size_t)(slash - key.ptr) : key.len;
		size_t used = slash ? len + 1 : len;

		dir = tree_dir_find(dir, (struct str){key.ptr, len});
		key = (struct str){key.ptr + used, key.len - used};
	}
	return dir;
}

bool tree_file_find(const struct tree_dir *dir, struct str name)
{
	bool found;

	file_at(dir, name, &found);
	return found;
}

/* ---- files ---- */

static bool packed(const struct tree_dir *dir, const char *name)
{
	return dir->packed && name >= dir->packed &&
	       name < dir->packed + dir->packed_size;
}

static void free_name(const struct tree_dir *dir, char *name)
{
	if (!packed(dir, name))
		free(name);
}

static char *copy(struct str name)
{
	char *text = xmalloc(name.len + 1);

	memcpy(text, name.ptr, name.len);
	text[name.len] = '\0';
	return text;
}

bool tree_file_add(struct tree *tree, struct tree_dir *dir, struct str name)
{
	bool found;
	unsigned at = file_at(dir, name, &found);

	if (found)
		return false;
	if (dir->file_count == dir->file_cap) {
		dir->file_cap = dir->file_cap ? dir->file_cap * 2 : 4;
		dir->files = xreallocarray(dir->files, dir->file_cap, sizeof(char *));
		if (dir->stamps)
			dir->stamps = xreallocarray(
				dir->stamps, dir->file_cap, sizeof(*dir->stamps));
	}
	memmove(dir->files + at + 1, dir->files + at,
		(dir->file_count - at) * sizeof(char *));
	dir->files[at] = copy(name);
	if (dir->stamps) {
		memmove(dir->stamps + at + 1, dir->stamps + at,
			(dir->file_count - at) * sizeof(*dir->stamps));
		dir->stamps[at] = 0;
	}
	dir->file_count++;
	tree->file_count++;
	tree_changes++;
	return true;
}

bool tree_file_remove(struct tree *tree, struct tree_dir *dir, struct str name)
{
	bool found;
	unsigned at = file_at(dir, name, &found);

	if (!found)
		return false;
	free_name(dir, dir->files[at]);
	dir->file_count--;
	memmove(dir->files + at, dir->files + at + 1,
		(dir->file_count - at) * sizeof(char *));
	if (dir->stamps)
		memmove(dir->stamps + at, dir->stamps + at + 1,
			(dir->file_count - at) * sizeof(*dir->stamps));
	tree->file_count--;
	tree_changes++;
	return true;
}

/* ---- directories ---- */

static void set_depth(struct tree_dir *dir, unsigned depth)
{
	dir->depth = depth;
	for (unsigned i = 0; i < dir->dir_count; i++)
		set_depth(dir->dirs[i], depth + 1);
}

static void insert(struct tree_dir *parent, unsigned at, struct tree_dir *dir)
{
	if (parent->dir_count == parent->dir_cap) {
		parent->dir_cap = parent->dir_cap ? parent->dir_cap * 2 : 4;
		parent->dirs = xreallocarray(
			parent->dirs, parent->dir_cap, sizeof(struct tree_dir *));
	}
	memmove(parent->dirs + at + 1, parent->dirs + at,
		(parent->dir_count - at) * sizeof(struct tree_dir *));
	parent->dirs[at] = dir;
	parent->dir_count++;
	tree_changes++;
	dir->parent = parent;
	set_depth(dir, parent->depth + 1);
}

static struct tree_dir *new_dir(struct str name)
{
	struct tree_dir *dir = xcalloc(1, sizeof(*dir));

	dir->name = copy(name);
	dir->wd = -1;
	return dir;
}

struct tree_dir *tree_dir_add(
	struct tree *tree, struct tree_dir *dir, struct str name, bool *is_new)
{
	bool found;
	unsigned at = dir_at(dir, name, &found);

	*is_new = !found;
	if (found)
		return dir->dirs[at];

	struct tree_dir *added = new_dir(name);

	insert(dir, at, added);
	tree->dir_count++;
	return added;
}

void tree_detach(struct tree_dir *dir)
{
	bool found;
	struct tree_dir *parent = dir->parent;
	unsigned at = dir_at(parent, str_of(dir->name), &found);

	assert(found);
	parent->dir_count--;
	memmove(parent->dirs + at, parent->dirs + at + 1,
		(parent->dir_count - at) * sizeof(struct tree_dir *));
	dir->parent = NULL;
	tree_changes++;
}

bool tree_attach(struct tree_dir *dir, struct tree_dir *to, struct str name)
{
	bool found;
	unsigned at = dir_at(to, name, &found);

	if (found || tree_below(to, dir))
		return false;
	free(dir->name);
	dir->name = copy(name);
	insert(to, at, dir);
	return true;
}

bool tree_below(const struct tree_dir *dir, const struct tree_dir *top)
{
	while (dir && dir != top)
		dir = dir->parent;
	return dir == top;
}

struct tree_dir *tree_top(struct tree_dir *dir)
{
	while (dir->parent)
		dir = dir->parent;
	return dir;
}

static void free_files(struct tree *tree, struct tree_dir *dir)
{
	for (unsigned i = 0; i < dir->file_count; i++)
		free_name(dir, dir->files[i]);
	tree->file_count -= dir->file_count;
	free(dir->files);
	free(dir->stamps);
	free(dir->packed);
}

static void free_dir(struct tree *tree, struct tree_dir *dir)
{
	while (dir->dir_count > 0)
		free_dir(tree, dir->dirs[--dir->dir_count]);
	if (tree->on_gone)
		tree->on_gone(tree->arg, dir);
	free_files(tree, dir);
	tree->dir_count--;
	tree_changes++;
	free(dir->dirs);
	free(dir->name);
	free(dir);
}

void tree_dir_remove(struct tree *tree, struct tree_dir *dir)
{
	if (dir->parent)
		tree_detach(dir);
	free_dir(tree, dir);
}

void tree_prune(struct tree *tree, struct tree_dir *dir)
{
	for (unsigned i = dir->dir_count; i-- > 0;)
		if (dir->depth >= TREE_MAX_DEPTH)
			tree_dir_remove(tree, dir->dirs[i]);
		else
			tree_prune(tree, dir->dirs[i]);
}

void tree_init(struct tree *tree, struct str root_name)
{
	*tree = (struct tree){.root = new_dir(root_name), .dir_count = 1};
}

void tree_fini(struct tree *tree)
{
	if (tree->root)
		free_dir(tree, tree->root);
	tree->root = NULL;
}

/* ---- paths ---- */

void tree_path(const struct tree_dir *dir, struct str name, struct buf *path)
{
	size_t len = name.ptr ? name.len : 0;

	for (const struct tree_dir *d = dir; d->parent; d = d->parent)
		len += strlen(d->name) + (len > 0);
	buf_clear(path);
	if (len == 0) {
		buf_add_char(path, '.');
		return;
	}

	char *end = buf_reserve(path, len) + len;

	path->len = len;
	if (name.ptr) {
		end -= name.len;
		memcpy(end, name.ptr, name.len);
	}
	for (const struct tree_dir *d = dir; d->parent; d = d->parent) {
		size_t n = strlen(d->name);

		if (end < path->data + len)
			*--end = '/';
		end -= n;
		memcpy(end, d->name, n);
	}
}

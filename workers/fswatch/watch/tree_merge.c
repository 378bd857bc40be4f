/* tree_merge.c - a directory of tree.h is made to contain what a listing found. */
#include "common/base/alloc.h"
#include "workers/fswatch/watch/tree.h"
#include <stdlib.h>

/* Directories first, each by name. */
static int order(const void *a, const void *b)
{
	const struct tree_item *x = a, *y = b;

	if (x->is_dir != y->is_dir)
		return x->is_dir ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct merge {
	struct tree *tree;
	struct tree_dir *dir;
	struct tree_item *files;
	size_t file_count;
	struct tree_item *dirs;
	size_t dir_count;
	const struct tree_merge_calls *calls;
};

/* ---- what is no longer there ---- */

static bool listed(
	const struct tree_item *items, size_t count, const char *name, bool is_dir)
{
	struct tree_item key = {.name = name, .is_dir = is_dir};

	return count > 0 && bsearch(&key, items, count, sizeof(*items), order) != NULL;
}

static void remove_missing(struct merge *m)
{
	struct tree_dir *dir = m->dir;

	for (unsigned i = dir->dir_count; i-- > 0;) {
		struct tree_dir *child = dir->dirs[i];

		if (listed(m->dirs, m->dir_count, child->name, true))
			continue;
		m->calls->removed(m->calls->arg, dir, str_of(child->name), true);
		tree_dir_remove(m->tree, child);
	}
	for (unsigned i = 0; i < dir->file_count; i++)
		if (!listed(m->files, m->file_count, dir->files[i], false))
			m->calls->removed(
				m->calls->arg, dir, str_of(dir->files[i]), false);
}

/* ---- what is there ---- */

/* Walks both sorted lists side by side, filling in what the tree already knows. */
static void tell_files(struct merge *m)
{
	struct tree_dir *dir = m->dir;
	unsigned have = 0;

	for (size_t i = 0; i < m->file_count; i++) {
		struct str name = str_of(m->files[i].name);

		while (have < dir->file_count && strcmp(dir->files[have], name.ptr) < 0)
			have++;

		bool known =
			have < dir->file_count && strcmp(dir->files[have], name.ptr) == 0;

		if (!known)
			tree_changes++;
		if (!known)
			m->calls->added(m->calls->arg, dir, name, false);
		else if (dir->stamps && dir->stamps[have] && m->files[i].stamp &&
			 dir->stamps[have] != m->files[i].stamp)
			m->calls->changed(m->calls->arg, dir, name);
	}
}

/* Takes over the names of the files, packed. */
static void keep_files(struct merge *m, bool stamped)
{
	struct tree_dir *dir = m->dir;
	size_t size = 0;

	for (size_t i = 0; i < m->file_count; i++)
		size += strlen(m->files[i].name) + 1;

	char *packed = size ? xmalloc(size) : NULL, *at = packed;
	char **files = m->file_count ? xmalloc(m->file_count * sizeof(char *)) : NULL;
	uint64_t *stamps = stamped ? xcalloc(m->file_count + 1, sizeof(*stamps)) : NULL;

	for (size_t i = 0; i < m->file_count; i++) {
		size_t len = strlen(m->files[i].name) + 1;

		files[i] = memcpy(at, m->files[i].name, len);
		at += len;
		if (stamped)
			stamps[i] = m->files[i].stamp;
	}
	for (unsigned i = 0; i < dir->file_count; i++)
		if (!dir->packed || dir->files[i] < dir->packed ||
			dir->files[i] >= dir->packed + dir->packed_size)
			free(dir->files[i]);
	free(dir->files);
	free(dir->packed);
	free(dir->stamps);
	m->tree->file_count += m->file_count - dir->file_count;
	dir->files = files;
	dir->packed = packed;
	dir->packed_size = size;
	dir->stamps = stamps;
	dir->file_count = dir->file_cap = (unsigned)m->file_count;
}

static void add_dirs(struct merge *m)
{
	for (size_t i = 0; i < m->dir_count; i++) {
		struct str name = str_of(m->dirs[i].name);
		bool is_new;

		tree_dir_add(m->tree, m->dir, name, &is_new);
		if (is_new)
			m->calls->added(m->calls->arg, m->dir, name, true);
	}
}

void tree_merge(struct tree *tree, struct tree_dir *dir, struct tree_item *items,
	size_t count, bool stamped, const struct tree_merge_calls *calls)
{
	struct merge m = {.tree = tree, .dir = dir, .dirs = items, .calls = calls};

	if (count > 0)
		qsort(items, count, sizeof(*items), order);
	while (m.dir_count < count && items[m.dir_count].is_dir)
		m.dir_count++;
	m.files = items + m.dir_count;
	m.file_count = count - m.dir_count;
	remove_missing(&m);
	add_dirs(&m);
	tell_files(&m);
	keep_files(&m, stamped);
}

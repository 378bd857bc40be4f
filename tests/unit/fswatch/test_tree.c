/* Tests of workers/fswatch/watch/tree.h: finding, moving, merging, JSON. */
#include "tests/check_run.h"
#include "workers/fswatch/watch/tree.h"
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

static struct tree tree;
static struct buf told;
static int gone;

static void on_gone(void *arg, struct tree_dir *dir)
{
	(void)arg;
	(void)dir;
	gone++;
}

static void setup(void)
{
	tree_init(&tree, STR_LIT("proj"));
	tree.on_gone = on_gone;
	gone = 0;
	buf_clear(&told);
}

static void teardown(void)
{
	tree_fini(&tree);
	buf_free(&told);
}

static struct tree_dir *dir_of(struct tree_dir *parent, const char *name)
{
	bool is_new;

	return tree_dir_add(&tree, parent, str_of(name), &is_new);
}

static bool path_is(const struct tree_dir *dir, const char *name, const char *want)
{
	struct buf path = {.data = NULL};

	tree_path(dir, str_of(name), &path);

	bool same = str_is(buf_str(&path), want);

	buf_free(&path);
	return same;
}

START_TEST(files_come_and_go)
{
	static bool there[1000];
	unsigned random = 3;
	size_t count = 0;

	for (int i = 0; i < 20000; i++) {
		char name[16];
		size_t n = (random = random * 1103515245 + 12345) / 65536 % 1000;

		snprintf(name, sizeof(name), "f%zu", n);
		ck_assert(tree_file_find(tree.root, str_of(name)) == there[n]);
		if (there[n])
			ck_assert(tree_file_remove(&tree, tree.root, str_of(name)));
		else
			ck_assert(tree_file_add(&tree, tree.root, str_of(name)));
		ck_assert(tree_file_add(&tree, tree.root, STR_LIT("same")) == (i == 0));
		there[n] = !there[n];
		count += there[n] ? 1 : (size_t)-1;
		ck_assert_uint_eq(tree.file_count, count + 1);
	}
	for (unsigned i = 1; i < tree.root->file_count; i++)
		ck_assert_int_lt(strcmp(tree.root->files[i - 1], tree.root->files[i]), 0);
	ck_assert(!tree_file_remove(&tree, tree.root, STR_LIT("none")));
}
END_TEST

START_TEST(directories_move_with_all_below)
{
	struct tree_dir *a = dir_of(tree.root, "a"), *b = dir_of(a, "b"),
			*c = dir_of(b, "c");
	struct tree_dir *d = dir_of(tree.root, "d");

	tree_file_add(&tree, c, STR_LIT("x"));
	ck_assert(path_is(c, "x", "a/b/c/x"));
	ck_assert(path_is(tree.root, NULL, "."));
	ck_assert(path_is(tree.root, "x", "x"));
	ck_assert(path_is(a, NULL, "a"));
	tree_detach(b);
	ck_assert_ptr_eq(tree_top(c), b);
	ck_assert_ptr_null(tree_dir_find(a, STR_LIT("b")));
	ck_assert_msg(!tree_attach(b, c, STR_LIT("b")), "into itself");
	ck_assert(tree_attach(b, d, STR_LIT("moved")));
	ck_assert(path_is(c, "x", "d/moved/c/x"));
	ck_assert_uint_eq(c->depth, 3);
	ck_assert_uint_eq(tree.dir_count, 5);
	tree_detach(a);
	ck_assert_msg(!tree_attach(a, d, STR_LIT("moved")), "the name is taken");
	tree_dir_remove(&tree, a);
	tree_dir_remove(&tree, d);
	ck_assert_int_eq(gone, 4);
	ck_assert_uint_eq(tree.dir_count, 1);
	ck_assert_uint_eq(tree.file_count, 0);
}
END_TEST

static void on_removed(void *arg, struct tree_dir *dir, struct str name, bool is_dir)
{
	(void)arg;
	(void)dir;
	buf_printf(&told, "-%.*s%s ", STR_ARG(name), is_dir ? "/" : "");
}

static void on_added(void *arg, struct tree_dir *dir, struct str name, bool is_dir)
{
	(void)arg;
	(void)dir;
	buf_printf(&told, "+%.*s%s ", STR_ARG(name), is_dir ? "/" : "");
}

static void on_changed(void *arg, struct tree_dir *dir, struct str name)
{
	(void)arg;
	(void)dir;
	buf_printf(&told, "!%.*s ", STR_ARG(name));
}

/* Items are "name", "name/" for directories; a digit behind "=" is the stamp. */
static const char *merge(const char *text, bool stamped)
{
	static const struct tree_merge_calls calls = {
		on_removed, on_added, on_changed, NULL};
	static char names[64][16];
	struct tree_item items[64];
	size_t count = 0;

	for (const char *at = text; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		snprintf(names[count], sizeof(names[0]), "%.*s", (int)len, at);
		at += len;
		items[count] = (struct tree_item){.name = names[count]};

		char *end = names[count] + strcspn(names[count], "/=");

		items[count].is_dir = *end == '/';
		items[count].stamp = *end == '=' ? (uint64_t)atoi(end + 1) : 0;
		*end = '\0';
		count++;
	}
	buf_clear(&told);
	tree_merge(&tree, tree.root, items, count, stamped, &calls);
	buf_add_char(&told, '\0');
	return told.data;
}

START_TEST(merges_listings)
{
	ck_assert_str_eq(merge("b a d/ c/", false), "+c/ +d/ +a +b ");
	ck_assert_uint_eq(tree.file_count, 2);
	ck_assert_uint_eq(tree.dir_count, 3);
	ck_assert_str_eq(merge("a b c/ d/", false), "");
	tree_file_add(&tree, tree.root, STR_LIT("aa"));
	tree_file_remove(&tree, tree.root, STR_LIT("b"));
	ck_assert_str_eq(merge("a aa x c/ e/", false), "-d/ +e/ +x ");
	ck_assert_int_eq(gone, 1);
	ck_assert_str_eq(merge("c a/", false), "-e/ -c/ -a -aa -x +a/ +c ");
	ck_assert_uint_eq(tree.file_count, 1);
	ck_assert_uint_eq(tree.dir_count, 2);
	ck_assert_str_eq(merge("", false), "-a/ -c ");
	ck_assert_uint_eq(tree.file_count, 0);
	ck_assert_uint_eq(tree.dir_count, 1);
}
END_TEST

START_TEST(merges_stamps)
{
	ck_assert_str_eq(merge("a=1 b=1 c=1", true), "+a +b +c ");
	ck_assert_str_eq(merge("a=1 b=2 c=1", true), "!b ");
	tree_file_add(&tree, tree.root, STR_LIT("aa"));
	tree_file_remove(&tree, tree.root, STR_LIT("a"));
	ck_assert_str_eq(merge("aa=5 b=2 c=3", true), "!c ");
	ck_assert_str_eq(merge("aa=6 b=2 c=3", false), "!aa ");
	ck_assert_str_eq(merge("aa=7 b=8 c=9", false), "");
}
END_TEST

static void tree_json(struct buf *out)
{
	struct tree_writer w;

	tree_write_start(&w, &tree);
	ck_assert(tree_write(&w, SIZE_MAX));
	buf_add_str(out, buf_str(&w.out));
	tree_write_fini(&w);
}

START_TEST(json_of_a_tree)
{
	struct buf json = {.data = NULL};
	struct tree_dir *src = dir_of(tree.root, "src"), *deep = dir_of(src, "q\"uote");

	dir_of(tree.root, "Docs");
	tree_file_add(&tree, tree.root, STR_LIT("a.ts"));
	tree_file_add(&tree, tree.root, STR_LIT("B.ts"));
	tree_file_add(&tree, deep, STR_LIT("tab\t"));
	tree_file_add(&tree, deep, STR_LIT("bad\xff"));
	tree_file_add(&tree, deep, STR_LIT("\xc3\xa9"));
	tree_file_add(&tree, deep, STR_LIT("e\xcc\x81"));
	tree_json(&json);
	buf_add_char(&json, '\0');
	ck_assert_str_eq(json.data,
		"{\"root\":{\"name\":\"proj\",\"path\":\".\",\"type\":\"directory\","
		"\"children\":["
		"{\"name\":\"Docs\",\"path\":\"Docs\",\"type\":\"directory\","
		"\"children\":[]},"
		"{\"name\":\"src\",\"path\":\"src\",\"type\":\"directory\",\"children\":["
		"{\"name\":\"q\\\"uote\",\"path\":\"src/"
		"q\\\"uote\",\"type\":\"directory\","
		"\"children\":["
		"{\"name\":\"bad\xef\xbf\xbd\",\"path\":\"src/q\\\"uote/"
		"bad\xef\xbf\xbd\","
		"\"type\":\"file\"},"
		"{\"name\":\"e\xcc\x81\",\"path\":\"src/q\\\"uote/"
		"e\xcc\x81\",\"type\":\"file\"},"
		"{\"name\":\"tab\\t\",\"path\":\"src/q\\\"uote/"
		"tab\\t\",\"type\":\"file\"},"
		"{\"name\":\"\xc3\xa9\",\"path\":\"src/q\\\"uote/"
		"\xc3\xa9\",\"type\":\"file\"}]}]},"
		"{\"name\":\"B.ts\",\"path\":\"B.ts\",\"type\":\"file\"},"
		"{\"name\":\"a.ts\",\"path\":\"a.ts\",\"type\":\"file\"}]}}");

	yyjson_doc *doc = yyjson_read(json.data, json.len - 1, 0);

	ck_assert_ptr_nonnull(doc);
	yyjson_doc_free(doc);
	buf_free(&json);
}
END_TEST

static void check_list(const char *key, const char *want)
{
	const struct tree_dir *dir = tree_dir_at(&tree, str_of(key));
	struct buf json = {.data = NULL};

	ck_assert_ptr_nonnull(dir);
	tree_write_list(dir, &json);
	ck_assert_msg(str_is(buf_str(&json), want), "%.*s", STR_ARG(buf_str(&json)));
	buf_free(&json);
}

START_TEST(json_of_a_directory)
{
	struct tree_dir *src = dir_of(tree.root, "src"), *deep = dir_of(src, "q\"uote");

	tree_file_add(&tree, src, STR_LIT("b"));
	tree_file_add(&tree, deep, STR_LIT("tab\t"));
	check_list(".",
		"{\"root\":{\"name\":\"proj\",\"path\":\".\",\"type\":\"directory\","
		"\"children\":["
		"{\"name\":\"src\",\"path\":\"src\",\"type\":\"directory\"}]}}");
	check_list("src",
		"{\"root\":{\"name\":\"src\",\"path\":\"src\",\"type\":\"directory\","
		"\"children\":["
		"{\"name\":\"q\\\"uote\",\"path\":\"src/"
		"q\\\"uote\",\"type\":\"directory\"},"
		"{\"name\":\"b\",\"path\":\"src/b\",\"type\":\"file\"}]}}");
	check_list("src/q\"uote", "{\"root\":{\"name\":\"q\\\"uote\",\"path\":\"src/"
				  "q\\\"uote\",\"type\":\"directory\",\"children\":["
				  "{\"name\":\"tab\\t\",\"path\":\"src/q\\\"uote/"
				  "tab\\t\",\"type\":\"file\"}]}}");
	tree_file_remove(&tree, deep, STR_LIT("tab\t"));
	check_list("src/q\"uote", "{\"root\":{\"name\":\"q\\\"uote\",\"path\":\"src/"
				  "q\\\"uote\",\"type\":\"directory\",\"children\":[]}}");
	ck_assert_ptr_null(tree_dir_at(&tree, STR_LIT("src/b")));
	ck_assert_ptr_null(tree_dir_at(&tree, STR_LIT("src/none/q")));
}
END_TEST

static void fill(int dirs, int files)
{
	for (int i = 0; i < dirs; i++) {
		char name[32];

		snprintf(name, sizeof(name), "d%d", i);

		struct tree_dir *dir = dir_of(tree.root, name);

		for (int j = 0; j < files; j++) {
			snprintf(name, sizeof(name), "f%d", j);
			tree_file_add(&tree, dir, str_of(name));
		}
	}
}

/* No slice writes more entries than it may, and together they write what one does. */
START_TEST(json_in_slices)
{
	struct buf whole = {.data = NULL};

	fill(50, 20);
	tree_json(&whole);
	for (size_t most = 1; most < 1200; most = most * 2 + 1) {
		struct tree_writer w;
		size_t slices = 1, before = 0, entries = 50 + 50 * 20;

		tree_write_start(&w, &tree);
		for (; !tree_write(&w, most); slices++) {
			size_t shown = 0;

			for (const char *at = w.out.data + before,
					*end = w.out.data + w.out.len;
				(at = memmem(at, (size_t)(end - at), "\"name\"", 6));
				at++)
				shown++;
			ck_assert_uint_eq(shown, before ? most : most + 1); /* the root */
			before = w.out.len;
		}
		ck_assert_uint_ge(slices, entries / most);
		ck_assert_uint_le(slices, entries / most + 1);
		ck_assert(str_eq(buf_str(&w.out), buf_str(&whole)));
		tree_write_fini(&w);
	}
	buf_free(&whole);
}
END_TEST

/* What is handed out shows every change that was made meanwhile, and comes to an end. */
START_TEST(json_of_a_tree_that_changes)
{
	struct buf now = {.data = NULL};
	struct tree_writer w;
	int slices = 1;

	fill(20, 20);
	tree_write_start(&w, &tree);
	for (; !tree_write(&w, 100); slices++) {
		char name[32];

		snprintf(name, sizeof(name), "new%d", slices);
		tree_file_add(
			&tree, tree_dir_find(tree.root, STR_LIT("d0")), str_of(name));
		tree_dir_remove(&tree, tree.root->dirs[tree.root->dir_count - 1]);
	}
	ck_assert_int_eq(slices, TREE_WRITE_TRIES + 2);
	tree_json(&now);
	ck_assert(str_eq(buf_str(&w.out), buf_str(&now)));
	tree_write_fini(&w);

	/* Between its end and the turn in which it is handed out. */
	tree_write_start(&w, &tree);
	ck_assert(!tree_written(&w));
	ck_assert(tree_write(&w, SIZE_MAX));
	ck_assert(tree_written(&w));
	tree_file_add(&tree, tree.root, STR_LIT("late"));
	ck_assert(!tree_written(&w));
	ck_assert(tree_write(&w, SIZE_MAX));
	ck_assert(tree_written(&w));
	buf_clear(&now);
	tree_json(&now);
	ck_assert(str_eq(buf_str(&w.out), buf_str(&now)));
	tree_write_fini(&w);

	/* A listing that finds the same is no change. */
	merge("a b", false);
	tree_write_start(&w, &tree);
	ck_assert(!tree_write(&w, 1));
	ck_assert_str_eq(merge("a b", false), "");
	ck_assert_uint_eq(w.changes, tree_changes);
	tree_write_fini(&w);
	buf_free(&now);
}
END_TEST

/* As a client gets it, a tree is not nested deeper than any message. */
START_TEST(deep_trees)
{
	struct buf json = {.data = NULL};
	struct tree_dir *at = tree.root;
	struct proto_error error;

	for (int i = 0; i < TREE_MAX_DEPTH; i++) {
		at = dir_of(at, "d");
		tree_file_add(&tree, at, STR_LIT("f"));
	}
	buf_add_str(&json, STR_LIT("{\"type\":\"fs:tree\",\"payload\":"));
	tree_json(&json);
	buf_add_char(&json, '}');

	yyjson_doc *doc = proto_parse(buf_str(&json), &error);

	ck_assert_msg(doc != NULL, "%s", error.text);
	yyjson_doc_free(doc);
	buf_add_char(&json, '\0');

	size_t shown = 0;

	for (const char *f = json.data; (f = strstr(f, "\"name\":\"f\"")); f++)
		shown++;
	ck_assert_uint_eq(shown, TREE_SHOWN_DEPTH);
	buf_free(&json);
}
END_TEST

/* Chains of directories that are moved below one another (no recursion without end). */
START_TEST(moves_make_no_deeper_tree)
{
	for (int chain = 0; chain < 1000; chain++) {
		struct tree_dir *top = dir_of(tree.root, "new"), *at = top;
		struct tree_dir *before = tree_dir_find(tree.root, STR_LIT("old"));

		for (int i = 0; i < TREE_MAX_DEPTH - 1; i++)
			at = dir_of(at, "d");
		if (before) {
			tree_detach(before);
			ck_assert(tree_attach(before, at, STR_LIT("d")));
			tree_prune(&tree, before);
		}
		tree_detach(top);
		ck_assert(tree_attach(top, tree.root, STR_LIT("old")));
		tree_prune(&tree, top);
		ck_assert_uint_le(tree.dir_count, TREE_MAX_DEPTH + 2);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tree");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, files_come_and_go);
	tcase_add_test(tc, directories_move_with_all_below);
	tcase_add_test(tc, merges_listings);
	tcase_add_test(tc, merges_stamps);
	tcase_add_test(tc, json_of_a_tree);
	tcase_add_test(tc, json_of_a_directory);
	tcase_add_test(tc, json_in_slices);
	tcase_add_test(tc, json_of_a_tree_that_changes);
	tcase_add_test(tc, deep_trees);
	tcase_add_test(tc, moves_make_no_deeper_tree);
	return check_run(tc);
}

/* manifests.c - which techniques a project uses (manifests.h). The files are the file
 * worker's to read. */
#include "workers/llm/flows/manifests.h"
#include "workers/llm/claude/flow_helpers.h"

#define LONGEST_MANIFEST_LINES 2000
#define DEPENDENCIES_SHOWN 40

static const struct {
	const char *file, *technique;
} manifests[] = {
	{"package.json", "Node.js"},
	{"tsconfig.json", "TypeScript"},
	{"Cargo.toml", "Rust"},
	{"go.mod", "Go"},
	{"pyproject.toml", "Python"},
	{"requirements.txt", "Python"},
	{"Gemfile", "Ruby"},
	{"pom.xml", "Java"},
	{"build.gradle", "Java"},
	{"composer.json", "PHP"},
	{"meson.build", "C or C++ with Meson"},
	{"CMakeLists.txt", "C or C++ with CMake"},
	{"Dockerfile", "Docker"},
};

static void add(struct buf *list, struct str name)
{
	if (memmem(list->data ? list->data : "", list->len, name.ptr, name.len))
		return;
	if (list->len > 0)
		buf_add_str(list, STR_LIT(", "));
	buf_add_str(list, name);
}

static void add_dependencies(struct buf *list, struct str package_json)
{
	static const char *const groups[] = {"dependencies", "devDependencies"};
	AUTO_DOC *doc = yyjson_read(package_json.ptr, package_json.len, 0);
	size_t i, max, shown = 0;
	yyjson_val *name, *version;

	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		yyjson_obj_foreach(yyjson_obj_get(yyjson_doc_get_root(doc), groups[g]), i,
			max, name, version) if (shown++ < DEPENDENCIES_SHOWN) add(list,
			(struct str){yyjson_get_str(name), yyjson_get_len(name)});
}

struct str manifests_tech_stack(struct flow *flow)
{
	AUTO_BUF list = {0};

	for (size_t i = 0; i < sizeof(manifests) / sizeof(manifests[0]); i++) {
		struct fs_excerpt_query query = {.path = str_of(manifests[i].file),
			.start_line = 1,
			.has_start_line = true,
			.end_line = LONGEST_MANIFEST_LINES,
			.has_end_line = true,
			.has_around = true};
		struct fs_excerpt excerpt;
		struct bus_reply reply;

		if (ask(flow, METHOD_FS_EXCERPT, &query, &excerpt, &reply) < 0 ||
			!excerpt.exists)
			continue;
		add(&list, str_of(manifests[i].technique));
		if (i == 0)
			add_dependencies(&list, excerpt.text);
	}
	return list.len ? arena_str(&flow->arena, buf_str(&list)) : STR_LIT("unknown");
}

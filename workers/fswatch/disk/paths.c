/* paths.c - the rules of paths.h, component by component. */
#include "workers/fswatch/disk/paths.h"
#include <assert.h>
#include <errno.h>

/* A path under construction: absolute, "" for the root directory. */
struct builder {
	char text[PATH_KEY_SIZE];
	size_t len;
};

static int push(struct builder *b, struct str component)
{
	if (component.len == 0 || str_is(component, "."))
		return 0;
	if (str_is(component, "..")) {
		while (b->len > 0 && b->text[--b->len] != '/')
			;
		return 0;
	}
	if (b->len + 1 + component.len >= sizeof(b->text))
		return -ENAMETOOLONG;
	b->text[b->len++] = '/';
	memcpy(b->text + b->len, component.ptr, component.len);
	b->len += component.len;
	return 0;
}

static int push_all(struct builder *b, struct str path)
{
	size_t start = 0;

	for (size_t i = 0; i <= path.len; i++) {
		if (i < path.len && path.ptr[i] != '/')
			continue;

		int error = push(b, (struct str){path.ptr + start, i - start});

		if (error)
			return error;
		start = i + 1;
	}
	return 0;
}

int paths_clean(struct str absolute, char out[PATH_KEY_SIZE])
{
	struct builder b;

	b.len = 0;

	int error = push_all(&b, absolute);

	if (error)
		return error;
	if (b.len == 0)
		b.text[b.len++] = '/';
	memcpy(out, b.text, b.len);
	out[b.len] = '\0';
	return 0;
}

/* What is left of `path` behind `root` as a key; absent when it lies elsewhere. */
static struct str below(struct str path, struct str root)
{
	if (root.len == 1) /* the root directory itself */
		root.len = 0;
	if (path.len < root.len || memcmp(path.ptr, root.ptr, root.len) != 0)
		return (struct str){NULL, 0};
	if (path.len == root.len)
		return STR_LIT(".");
	if (path.ptr[root.len] != '/')
		return (struct str){NULL, 0};
	return (struct str){path.ptr + root.len + 1, path.len - root.len - 1};
}

static bool blank(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(" \t\n\v\f\r", text.ptr[i]))
			return false;
	return true;
}

/* What `asked` stands for when it is relative to `base`. */
static enum path_verdict key_from(const struct path_roots *roots, struct str base,
	struct str asked, char key[PATH_KEY_SIZE])
{
	struct builder b;

	b.len = 0;
	if (asked.ptr[0] != '/' && push_all(&b, base))
		return PATH_TOO_LONG;
	if (push_all(&b, asked))
		return PATH_TOO_LONG;

	struct str path = {b.text, b.len};
	struct str rest = below(path, roots->canonical);

	if (!rest.ptr && roots->spelled.len > 0)
		rest = below(path, roots->spelled);
	if (!rest.ptr)
		return PATH_OUTSIDE;
	memcpy(key, rest.ptr, rest.len);
	key[rest.len] = '\0';
	return PATH_OK;
}

enum path_verdict paths_key(
	const struct path_roots *roots, struct str asked, char key[PATH_KEY_SIZE])
{
	enum path_verdict verdict;

	assert(roots->canonical.len > 0);
	if (asked.len == 0)
		return PATH_EMPTY;
	if (memchr(asked.ptr, '\0', asked.len))
		return PATH_NUL;
	if (blank(asked))
		return PATH_EMPTY;
	verdict = key_from(roots, roots->canonical, asked, key);
	/* Out of the project and back by the name that the settings give it. */
	if (verdict == PATH_OUTSIDE && roots->spelled.len > 0)
		verdict = key_from(roots, roots->spelled, asked, key);
	return verdict;
}

const char *paths_verdict_text(enum path_verdict verdict)
{
	switch (verdict) {
	case PATH_OK:
		return "is fine";
	case PATH_EMPTY:
		return "names no file";
	case PATH_NUL:
		return "contains a NUL byte";
	case PATH_TOO_LONG:
		return "is longer than 4095 bytes";
	case PATH_OUTSIDE:
		return "leads outside the project";
	}
	return "is refused";
}

struct str paths_base(struct str path)
{
	const char *slash = memrchr(path.ptr, '/', path.len);

	if (!slash)
		return path;
	return (struct str){slash + 1, (size_t)(path.ptr + path.len - slash - 1)};
}

bool paths_within(struct str path, struct str dir)
{
	if (str_is(dir, "."))
		return true;
	return path.len >= dir.len && memcmp(path.ptr, dir.ptr, dir.len) == 0 &&
	       (path.len == dir.len || path.ptr[dir.len] == '/');
}

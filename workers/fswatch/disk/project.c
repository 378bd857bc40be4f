/* project.c - opening beneath the root with openat2. */
#include "workers/fswatch/disk/project.h"
#include "common/base/file_io.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_LINKS 40   /* as the kernel */
#define MAX_RETRIES 64 /* of EAGAIN: something was renamed while ".." was followed */

static int beneath(int dir_fd, const char *path, int flags, mode_t mode, __u64 resolve)
{
	struct open_how how = {
		.flags = (__u64)(unsigned)(flags | O_CLOEXEC),
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
	};

	for (int i = 0; i < MAX_RETRIES; i++) {
		long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return -errno;
}

static int absolute_path(const char *dir, char out[PATH_KEY_SIZE])
{
	char joined[PATH_KEY_SIZE];
	size_t len = 0;

	if (dir[0] != '/') {
		if (!getcwd(joined, sizeof(joined) - 1))
			return -errno;
		len = strlen(joined);
		joined[len++] = '/';
	}
	if (len + strlen(dir) >= sizeof(joined))
		return -ENAMETOOLONG;
	memcpy(joined + len, dir, strlen(dir) + 1);
	return paths_clean(str_of(joined), out);
}

/* The directory at an absolute path without a link in it. */
static int open_root(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS};
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int project_open(struct project *p, const char *dir, const char *spelling)
{
	struct stat st;
	int error = absolute_path(spelling ? spelling : dir, p->spelled);

	if (error)
		return error;
	error = absolute_path(dir, p->canonical);
	if (error)
		return error;

	int fd = open_root(p->canonical);

	if (fd < 0)
		return fd;

	int probe = beneath(fd, ".", O_PATH | O_DIRECTORY, 0, 0);

	if (probe < 0 || fstat(fd, &st) < 0) {
		error = probe < 0 ? probe : -errno;
		close(fd);
		return error;
	}
	close(probe);
	p->root_fd = fd;
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	p->roots = (struct path_roots){str_of(p->canonical), str_of(p->spelled)};
	return 0;
}

void project_close(struct project *p)
{
	if (p->root_fd >= 0)
		close(p->root_fd);
	p->root_fd = -1;
}

int project_openat(const struct project *p, const char *key, int flags)
{
	char real[PATH_KEY_SIZE];
	int fd = beneath(p->root_fd, key, flags, 0, 0);

	if (fd != -EXDEV)
		return fd;

	int error = project_real(p, key, real);

	return error ? error : project_openat_nofollow(p, real, flags);
}

int project_openat_nofollow(const struct project *p, const char *key, int flags)
{
	return beneath(p->root_fd, key, flags, 0, RESOLVE_NO_SYMLINKS);
}

enum project_state project_look(const struct project *p)
{
	struct stat st;
	int fd = open_root(p->canonical);

	if (fd < 0)
		return fd == -ELOOP ? PROJECT_LINK : PROJECT_GONE;

	bool same = fstat(fd, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino;

	close(fd);
	return same ? PROJECT_HERE : PROJECT_REPLACED;
}

/* ---- following links by hand ---- */

struct walk {
	const struct project *p;
	char done[PATH_KEY_SIZE]; /* without links; "" is the root */
	size_t done_len;
	char todo[2 * PATH_KEY_SIZE]; /* what is still to be walked, at todo_at */
	size_t todo_at;
	int links;
};

/* Takes the next component; false at the end. */
static bool next_component(struct walk *w, struct str *component)
{
	char *at = w->todo + w->todo_at;

	at += strspn(at, "/");
	*component = (struct str){at, strcspn(at, "/")};
	w->todo_at = (size_t)(at - w->todo) + component->len;
	return component->len > 0;
}

/* What an absolute link names beneath the root; absent when it leads elsewhere. */
static struct str beneath_root(const struct project *p, struct str link)
{
	const struct str roots[] = {p->roots.canonical, p->roots.spelled};

	for (int i = 0; i < 2; i++) {
		size_t n = roots[i].len > 1 ? roots[i].len : 0;

		if (link.len >= n && memcmp(link.ptr, roots[i].ptr, n) == 0 &&
			(link.len == n || link.ptr[n] == '/'))
			return (struct str){link.ptr + n, link.len - n};
	}
	return (struct str){NULL, 0};
}

/* Puts the text of a link before what is still to be walked. */
static int follow(struct walk *w, struct str link)
{
	char rest[sizeof(w->todo)];
	size_t rest_len = strlen(w->todo + w->todo_at);

	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if (link.len > 0 && link.ptr[0] == '/') {
		link = beneath_root(w->p, link);
		if (!link.ptr)
			return -EXDEV;
		w->done_len = 0;
	}
	if (link.len + 1 + rest_len >= sizeof(w->todo))
		return -ENAMETOOLONG;
	memcpy(rest, w->todo + w->todo_at, rest_len + 1);
	memcpy(w->todo, link.ptr, link.len);
	w->todo[link.len] = '/';
	memcpy(w->todo + link.len + 1, rest, rest_len + 1);
	w->todo_at = 0;
	return 0;
}

/* Appends a component and follows it when it is a link. */
static int step(struct walk *w, struct str component)
{
	char link[PATH_MAX];
	size_t before = w->done_len;

	if (before + 1 + component.len >= sizeof(w->done))
		return -ENAMETOOLONG;
	if (before > 0)
		w->done[w->done_len++] = '/';
	memcpy(w->done + w->done_len, component.ptr, component.len);
	w->done_len += component.len;
	w->done[w->done_len] = '\0';

	int fd = project_openat_nofollow(w->p, w->done, O_PATH | O_NOFOLLOW);

	if (fd == -ENOENT) /* to be made */
		return 0;
	if (fd < 0)
		return fd;

	ssize_t len = readlinkat(fd, "", link, sizeof(link));

	close(fd);
	if (len < 0) /* no link */
		return 0;
	if ((size_t)len == sizeof(link))
		return -ENAMETOOLONG;
	w->done_len = before;
	return follow(w, (struct str){link, (size_t)len});
}

static int up(struct walk *w)
{
	if (w->done_len == 0)
		return -EXDEV;
	while (w->done_len > 0 && w->done[--w->done_len] != '/')
		;
	return 0;
}

int project_real(const struct project *p, const char *key, char real[PATH_KEY_SIZE])
{
	struct walk w;
	struct str component;

	w.p = p;
	w.done_len = w.todo_at = 0;
	w.links = 0;
	if (strlen(key) >= PATH_KEY_SIZE)
		return -ENAMETOOLONG;
	memcpy(w.todo, key, strlen(key) + 1);
	while (next_component(&w, &component)) {
		int error = 0;

		if (str_is(component, ".."))
			error = up(&w);
		else if (!str_is(component, "."))
			error = step(&w, component);
		if (error)
			return error;
	}
	if (w.done_len == 0)
		w.done[w.done_len++] = '.';
	memcpy(real, w.done, w.done_len);
	real[w.done_len] = '\0';
	return 0;
}

/* ---- the place of a file that is saved ---- */

/* Makes a directory that is as open as its parent: the process has a umask of its own. Its
 * name is brought to the disk, else what is saved in it could be gone with it. */
static int make_in(int parent, const char *name)
{
	struct stat st;
	int fd, error = 0;

	if (mkdirat(parent, name, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(parent, &st) < 0 || fchmod(fd, st.st_mode & 02775) < 0)
		error = -errno;
	close(fd);
	return error ? error : file_sync_dir(parent);
}

static int make_dir(const struct project *p, char *dir)
{
	char *slash = strrchr(dir, '/');

	if (slash)
		*slash = '\0';

	int parent =
		project_openat_nofollow(p, slash ? dir : ".", O_RDONLY | O_DIRECTORY);

	if (slash)
		*slash = '/';
	if (parent < 0)
		return parent;

	int error = make_in(parent, slash ? slash + 1 : dir);

	close(parent);
	return error;
}

/* Opens a directory, making it and those above it when they are missing. */
static int open_dirs(const struct project *p, char *dir)
{
	int fd = project_openat_nofollow(p, dir, O_RDONLY | O_DIRECTORY);

	if (fd != -ENOENT)
		return fd;
	for (char *slash = dir; slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';

		int error = make_dir(p, dir);

		if (slash)
			*slash = '/';
		if (error)
			return error;
	}
	return project_openat_nofollow(p, dir, O_RDONLY | O_DIRECTORY);
}

int project_place(const struct project *p, const char *key, struct project_place *place)
{
	int error = project_real(p, key, place->real);

	if (error)
		return error;
	if (strcmp(place->real, ".") == 0)
		return -EISDIR;

	char *slash = strrchr(place->real, '/');
	const char *base = slash ? slash + 1 : place->real;

	if (strlen(base) >= sizeof(place->base))
		return -ENAMETOOLONG;
	memcpy(place->base, base, strlen(base) + 1);
	if (!slash) {
		place->dir_fd = project_openat_nofollow(p, ".", O_RDONLY | O_DIRECTORY);
	} else {
		*slash = '\0';
		place->dir_fd = open_dirs(p, place->real);
		*slash = '/';
	}
	return place->dir_fd < 0 ? place->dir_fd : 0;
}

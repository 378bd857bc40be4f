/* folders.c - see folders.h. */
#include "workers/agent/folders.h"
#include "common/base/file_io.h"
#include "common/base/relative_path.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a directory and finds out its real path. */
static int open_real(const char *path, struct folder *out)
{
	char link[64];
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out->path, sizeof(out->path) - 1);
	if (n <= 0 || n >= (ssize_t)sizeof(out->path) - 1) {
		close(fd);
		return -ENAMETOOLONG;
	}
	out->path[n] = '\0';
	out->fd = fd;
	return 0;
}

int folder_open_root(const char *root, struct folder *out)
{
	return open_real(root, out);
}

/* `path` behind the root and a slash; absent when it is not below it by its spelling. */
static struct str below(const struct folder *root, struct str path)
{
	size_t n = strlen(root->path);

	if (n == 1) /* "/" */
		n = 0;
	if (path.len <= n + 1 || memcmp(path.ptr, root->path, n) != 0 ||
		path.ptr[n] != '/')
		return (struct str){NULL, 0};
	return (struct str){path.ptr + n + 1, path.len - n - 1};
}

int folder_open(const struct folder *root, struct str asked, struct folder *out)
{
	struct str inside =
		asked.len > 0 && asked.ptr[0] == '/' ? below(root, asked) : asked;
	bool spelled_inside = inside.ptr && relative_path_inside(inside);
	struct folder found;
	char path[PATH_MAX];
	int r;

	if (asked.len == 0 || memchr(asked.ptr, '\0', asked.len))
		return -EXDEV;
	r = snprintf(path, sizeof(path), "%s%s%.*s",
		asked.ptr[0] == '/' ? "" : root->path, asked.ptr[0] == '/' ? "" : "/",
		STR_ARG(asked));
	if (r < 0 || (size_t)r >= sizeof(path))
		return spelled_inside ? -ENAMETOOLONG : -EXDEV;
	r = open_real(path, &found);
	if (r < 0)
		return spelled_inside ? r : -EXDEV;
	if (!below(root, str_of(found.path)).ptr) {
		close(found.fd);
		return -EXDEV;
	}
	*out = found;
	return 0;
}

int folder_reopen(const struct folder *root, const char *path, struct folder *out)
{
	struct folder same = *root;

	if (strcmp(path, root->path) != 0)
		return folder_open(root, str_of(path), out);
	same.fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
	if (same.fd < 0)
		return -errno;
	*out = same;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct strs_of_folders folder_names(const struct folder *root, struct arena *arena)
{
	struct strs_of_folders found = {
		.names = arena_array(arena, FOLDERS_MAX, sizeof(char *))};
	AUTO_DIR *dir = opendir(root->path);
	const struct dirent *entry;
	struct stat st;

	if (!dir)
		return found;
	while (found.count < FOLDERS_MAX && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' ||
			fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) <
				0 ||
			!S_ISDIR(st.st_mode))
			continue;
		found.names[found.count++] = arena_cstr(arena, str_of(entry->d_name));
	}
	qsort(found.names, found.count, sizeof(char *), by_name);
	return found;
}

/* Claude Code's name for the directory of a folder's sessions: every character that is
 * not a letter or a digit becomes a dash. */
static int open_sessions(const char *claude_dir, const char *folder)
{
	char path[2 * PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/projects/", claude_dir);

	if (n < 0 || (size_t)n + strlen(folder) >= sizeof(path))
		return -1;
	for (; *folder; folder++) {
		char c = *folder;
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z');

		path[n++] = (char)(plain ? c : '-');
	}
	path[n] = '\0';
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct kept_session folder_kept_session(const char *claude_dir, const char *folder)
{
	static const char ending[] = ".jsonl";
	struct kept_session newest = {.id = ""};
	AUTO_DIR *dir = file_list(open_sessions(claude_dir, folder));
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)) != NULL) {
		struct str id = {entry->d_name, UUID_SIZE - 1};
		int64_t changed_ms;

		if (strlen(entry->d_name) != UUID_SIZE - 1 + sizeof(ending) - 1 ||
			strcmp(entry->d_name + UUID_SIZE - 1, ending) != 0 ||
			!uuid_valid(id) ||
			fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) <
				0 ||
			!S_ISREG(st.st_mode))
			continue;
		changed_ms =
			(int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
		if (newest.id[0] && changed_ms <= newest.changed_ms)
			continue;
		snprintf(newest.id, sizeof(newest.id), "%.*s", STR_ARG(id));
		newest.changed_ms = changed_ms;
	}
	return newest;
}

bool folder_keeps_session(const char *claude_dir, const char *folder, const char *id)
{
	char name[UUID_SIZE + sizeof(".jsonl")];
	AUTO_FD fd = open_sessions(claude_dir, folder);
	struct stat st;

	if (fd < 0)
		return false;
	snprintf(name, sizeof(name), "%s.jsonl", id);
	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

int folder_of_kept_session(const char *claude_dir, const struct folder *root,
	const char *id, struct folder *out)
{
	AUTO_ARENA arena = {0};
	struct strs_of_folders names = folder_names(root, &arena);
	int r = -ENOENT;

	if (folder_keeps_session(claude_dir, root->path, id))
		r = folder_reopen(root, root->path, out);
	for (size_t i = 0; r < 0 && i < names.count; i++) {
		struct str path = arena_printf(
			&arena, "%s/%s", root->path[1] ? root->path : "", names.names[i]);

		if (folder_keeps_session(claude_dir, path.ptr, id))
			r = folder_open(root, path, out);
	}
	return r < 0 ? -ENOENT : 0;
}

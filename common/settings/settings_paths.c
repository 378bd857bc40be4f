/*
 * settings_paths.c - see settings_paths.h. Called by settings.c; makes and removes
 * nothing.
 */
#include "common/settings/settings_paths.h"
#include "common/base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *path_expand_home(const char *path)
{
	const char *home = getenv("HOME");

	if (path[0] != '~')
		return xstrdup(path);
	if (path[1] != '\0' && path[1] != '/')
		return NULL;
	if (!home || home[0] != '/') {
		const struct passwd *user = getpwuid(getuid());

		home = user ? user->pw_dir : NULL;
	}
	return home ? xasprintf("%s%s", home, path + 1) : NULL;
}

/* head + "/" + tail, without a doubled slash; returns new. */
static char *join(const char *head, const char *tail)
{
	size_t n = strlen(head);

	while (*tail == '/')
		tail++;
	return xasprintf("%s%s%s", head, n && head[n - 1] == '/' ? "" : "/", tail);
}

/* As path_canonical for an absolute path, which is cut up. As deep as the path has parts.
 */
static char *canonical(char *path)
{
	char *real = realpath(path, NULL);
	char *base, *parent;

	if (real || errno != ENOENT)
		return real;
	/* The last part does not exist: resolve what is before it, and append it. */
	base = strrchr(path, '/');
	*base++ = '\0';
	parent = canonical(path[0] ? path : (char[]){"/"});
	if (!parent || base[0] == '\0' || strcmp(base, ".") == 0)
		return parent;
	if (strcmp(base, "..") != 0)
		real = join(parent, base);
	else
		errno = ENOENT;
	free(parent);
	return real;
}

char *path_absolute(const char *path)
{
	char here[PATH_MAX];

	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return NULL;
	return path[0] == '/' ? xstrdup(path) : join(here, path);
}

char *path_canonical(const char *path)
{
	AUTO_FREE char *absolute = path_absolute(path);

	return absolute ? canonical(absolute) : NULL;
}

uint64_t path_hash(struct str path)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < path.len; i++)
		hash = (hash ^ (unsigned char)path.ptr[i]) * 0x100000001b3u;
	return hash;
}

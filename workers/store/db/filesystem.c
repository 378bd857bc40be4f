/* filesystem.c - may a write-ahead log lie on this file system (filesystem.h)? */
#include "workers/store/db/filesystem.h"
#include <errno.h>
#include <stddef.h>
#include <sys/vfs.h>

const char *filesystem_shared_name(uint32_t magic)
{
	switch (magic) {
#define SHARED(number, name)                                                             \
	case number:                                                                     \
		return name;
#include "workers/store/db/filesystem.def"
#undef SHARED
	default:
		return NULL;
	}
}

int filesystem_shared(const char *path, const char **name)
{
	struct statfs fs;

	while (statfs(path, &fs) < 0)
		if (errno != EINTR)
			return -errno;
	*name = filesystem_shared_name((uint32_t)fs.f_type);
	return 0;
}

/* relative_path.c - does a path stay inside the project by its spelling
 * (relative_path.h)? */
#include "common/base/relative_path.h"

bool relative_path_inside(struct str path)
{
	if (path.len == 0 || path.ptr[0] == '/')
		return false;
	for (size_t i = 0; i + 1 < path.len; i++)
		if (path.ptr[i] == '.' && path.ptr[i + 1] == '.' &&
			(i == 0 || path.ptr[i - 1] == '/') &&
			(i + 2 == path.len || path.ptr[i + 2] == '/'))
			return false;
	return true;
}

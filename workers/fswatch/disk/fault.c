/* fault.c - see fault.h. */
#include "workers/fswatch/disk/fault.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	int error;
	const char *text;
} texts[] = {
	{FAULT_CONFLICT,
		"was changed on disk since it was opened; open it again to see the "
		"other version"},
	{FAULT_BINARY,
		"is a binary file, which an editor cannot show: it was left as it is"},
	{FAULT_PROJECT_GONE,
		"cannot be saved: the project directory was moved, removed or replaced "
		"while the daemon runs"},
	{FAULT_NOT_REGULAR, "is no regular file"},
	{FAULT_TOO_BIG, "is larger than the 8 MiB that an editor can be sent"},
	{EXDEV, "leads outside the project"},
	{ENOENT, "does not exist"},
	{EISDIR, "is a directory"},
	{ENOTDIR, "lies below something that is no directory"},
	{ELOOP, "is a link that leads in a circle or was swapped meanwhile"},
	{EACCES, "may not be read or written by this user"},
	{EPERM, "may not be changed by this user"},
	{EROFS, "lies on a file system that is mounted read-only"},
	{ENOSPC, "does not fit: the disk is full"},
	{EDQUOT, "does not fit: the disk quota is used up"},
	{ENAMETOOLONG, "has a name that is too long"},
	{EMFILE, "cannot be opened: too many files are open in the file worker"},
	{ENFILE, "cannot be opened: too many files are open in the system"},
	{EIO, "cannot be read or written: the disk reports an error"},
};

const char *fault_text(int error)
{
	static _Thread_local char other[128];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].error == abs(error))
			return texts[i].text;
	snprintf(other, sizeof(other), "failed: %s", strerror(abs(error)));
	return other;
}

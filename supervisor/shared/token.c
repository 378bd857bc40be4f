/* token.c - see token.h. Called by daemon.c and by paigectl token. */
#include "supervisor/shared/token.h"

#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/ids.h"
#include "common/base/private_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the file, opened. */
static int check_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_mode & 077 || (st.st_uid != geteuid() && geteuid() != 0))
		return -EPERM;
	return 0;
}

int token_read(const char *data_dir, char token[TOKEN_SIZE])
{
	char text[TOKEN_DIGITS + 2];
	AUTO_FREE char *path = xasprintf("%s/token", data_dir);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int error = fd < 0 ? -errno : check_file(fd);
	ssize_t n;

	if (error)
		return error;
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return -errno;
	if (n != TOKEN_DIGITS + 1 || text[TOKEN_DIGITS] != '\n')
		return -EINVAL;
	text[TOKEN_DIGITS] = '\0';
	if (strspn(text, "0123456789abcdef") != TOKEN_DIGITS)
		return -EINVAL;
	memcpy(token, text, TOKEN_SIZE);
	return 0;
}

int token_make(const char *data_dir, char token[TOKEN_SIZE])
{
	char text[TOKEN_DIGITS + 2];
	AUTO_FREE char *path = xasprintf("%s/token", data_dir);
	int error;

	random_hex(text, TOKEN_DIGITS / 2);
	memcpy(text + TOKEN_DIGITS, "\n", 2);
	error = private_file_replace(path, str_of(text));
	if (error)
		return error;
	memcpy(token, text, TOKEN_DIGITS);
	token[TOKEN_DIGITS] = '\0';
	return 0;
}

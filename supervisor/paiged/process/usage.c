/* usage.c - see usage.h. */
#include "supervisor/paiged/process/usage.h"
#include "common/base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int usage_parse(
	const char *stat, long ticks_per_second, long page_bytes, struct usage *out)
{
	/* The name of the program is in brackets and may itself hold brackets and blanks.
	 */
	const char *rest = strrchr(stat, ')');
	unsigned long long user, system;
	long long pages;

	if (!rest || sscanf(rest + 1,
			     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d "
			     "%*d %*d %*d "
			     "%*d %*d %*u %*u %lld",
			     &user, &system, &pages) != 3)
		return -EINVAL;
	out->cpu_ms = (int64_t)(user + system) * 1000 / ticks_per_second;
	out->rss_bytes = (int64_t)pages * page_bytes;
	return 0;
}

int usage_read(pid_t pid, struct usage *out)
{
	char path[64], text[1024];
	AUTO_FD fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -EIO;
	text[n] = '\0';
	return usage_parse(text, sysconf(_SC_CLK_TCK), sysconf(_SC_PAGESIZE), out);
}

double usage_percent(struct usage_sample earlier, struct mono now, int64_t cpu_ms)
{
	int64_t passed = mono_diff_ms(now, earlier.at);

	if (passed <= 0 || cpu_ms < earlier.cpu_ms)
		return 0;
	return (double)(cpu_ms - earlier.cpu_ms) * 100 / (double)passed;
}

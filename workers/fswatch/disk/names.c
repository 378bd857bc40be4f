/* names.c - see names.h. */
#include "workers/fswatch/disk/names.h"
#include <limits.h>
#include <stdio.h>

#define TEMP_PREFIX ".paige-save."

static const char *const noise[] = {
#define NOISE(name) name,
#include "workers/fswatch/disk/noise.def"
#undef NOISE
};

bool names_noise_dir(struct str name)
{
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (str_is(name, noise[i]))
			return true;
	return false;
}

void names_temp(pid_t pid, uint64_t n, char out[NAMES_TEMP_SIZE])
{
	snprintf(out, NAMES_TEMP_SIZE, TEMP_PREFIX "%d.%llu", (int)pid,
		(unsigned long long)n);
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

pid_t names_temp_owner(struct str name)
{
	size_t at = strlen(TEMP_PREFIX);
	long pid = 0;

	if (!str_starts(name, TEMP_PREFIX))
		return 0;
	for (; at < name.len && digit(name.ptr[at]) && pid <= INT_MAX / 10; at++)
		pid = pid * 10 + (name.ptr[at] - '0');
	if (at == name.len || name.ptr[at] != '.' || at + 1 == name.len || pid > INT_MAX)
		return 0;
	for (at++; at < name.len; at++)
		if (!digit(name.ptr[at]))
			return 0;
	return (pid_t)pid;
}

static bool ends(struct str name, const char *end)
{
	size_t n = strlen(end);

	return name.len >= n && memcmp(name.ptr + name.len - n, end, n) == 0;
}

static bool contains(struct str name, const char *part)
{
	return memmem(name.ptr, name.len, part, strlen(part)) != NULL;
}

bool names_short_lived(struct str name)
{
	static const char *const endings[] = {"~", ".tmp", ".temp", ".swp", ".swx",
		".swo", ".bak", ".orig", ".new", ".old", ".part", ".crdownload", ".lock",
		"#"};
	static const char *const parts[] = {".tmp.", ".tmp-", ".tmp_", ".temp.", "___jb_",
		".goutputstream-", ".sb-", ".~lock"};
	size_t digits = 0;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (ends(name, endings[i]))
			return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (contains(name, parts[i]))
			return true;
	if (str_starts(name, ".#") || str_starts(name, "tmp") || str_starts(name, ".tmp"))
		return true;
	while (digits < name.len && digit(name.ptr[digits]))
		digits++;
	return digits == name.len && name.len >= 4; /* vim probes a directory with 4913 */
}

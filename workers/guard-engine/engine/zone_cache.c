/* zone_cache.c - see zone_cache.h. */
#include "workers/guard-engine/engine/zone_cache.h"
#include "common/base/file_io.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct kept {
	char name[ZONE_CACHE_NAME_SIZE];
	struct zone zone;
	unsigned long used; /* when, by count */
};

static struct kept kept[ZONE_CACHE_KEPT];
static unsigned long uses;

static bool load(struct str name, struct zone *out)
{
	char path[PATH_MAX];
	AUTO_BUF bytes = {0};

	snprintf(path, sizeof(path), ZONE_CACHE_FOLDER "/%.*s", STR_ARG(name));
	return file_read_named(AT_FDCWD, path, ZONE_CACHE_MAX_FILE - 1, &bytes) == 0 &&
	       zone_parse(buf_str(&bytes), out) == 0;
}

/* Its place, or that of the one that was not used for the longest time. */
static struct kept *place_of(struct str name)
{
	struct kept *oldest = &kept[0];

	for (int i = 0; i < ZONE_CACHE_KEPT; i++) {
		if (str_is(name, kept[i].name))
			return &kept[i];
		if (kept[i].used < oldest->used)
			oldest = &kept[i];
	}
	return oldest;
}

const struct zone *zone_cache_find(struct str name)
{
	struct kept *k;

	if (!zone_name_valid(name) || name.len >= ZONE_CACHE_NAME_SIZE)
		return NULL;
	k = place_of(name);
	if (!str_is(name, k->name)) {
		k->name[0] = '\0';
		/* The one zone that needs no database. */
		if (str_is(name, "UTC"))
			zone_fixed(0, &k->zone);
		else if (!load(name, &k->zone))
			return NULL;
		snprintf(k->name, sizeof(k->name), "%.*s", STR_ARG(name));
	}
	k->used = ++uses;
	return &k->zone;
}

void zone_cache_local(char out[ZONE_CACHE_NAME_SIZE])
{
	const char *name = getenv("TZ");
	char target[PATH_MAX];
	ssize_t len;

	if (name && name[0] == ':')
		name++;
	if (!name || !zone_cache_find(str_of(name))) {
		len = readlink("/etc/localtime", target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		name = strstr(target, "/zoneinfo/");
		name = name ? name + strlen("/zoneinfo/") : NULL;
	}
	if (!name || !zone_cache_find(str_of(name)))
		name = "UTC";
	snprintf(out, ZONE_CACHE_NAME_SIZE, "%s", name);
}

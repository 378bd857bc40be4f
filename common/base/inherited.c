/* inherited.c - see inherited.h. */
#include "common/base/inherited.h"

#include <stddef.h>
#include <string.h>

static bool is_one_of(const char *entry, const char *const *beginnings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(entry, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

bool inherited_harmless(const char *entry)
{
	static const char *const beginnings[] = {
		"PATH=", "HOME=", "USER=", "LOGNAME=", "LANG=", "LANGUAGE=", "LC_",
		"TZ=", "TMPDIR=", "XDG_", "LD_LIBRARY_PATH=", "MALLOC_",
		"ASAN_OPTIONS=", "LSAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS="};

	return is_one_of(entry, beginnings, sizeof(beginnings) / sizeof(beginnings[0]));
}

bool inherited_network(const char *entry)
{
	/* Programs read them in small letters or in both. */
	static const char *const beginnings[] = {
		"http_proxy=", "https_proxy=", "HTTPS_PROXY=", "HTTP_PROXY=",
		"all_proxy=", "ALL_PROXY=", "no_proxy=", "NO_PROXY=", "SSL_CERT_FILE=",
		"SSL_CERT_DIR=", "CURL_CA_BUNDLE=", "NODE_EXTRA_CA_CERTS="};

	return is_one_of(entry, beginnings, sizeof(beginnings) / sizeof(beginnings[0]));
}

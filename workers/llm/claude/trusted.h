/* trusted.h - certificate authorities that the environment names in addition to the system's,
 * or instead of them. */
#pragma once

#include "common/base/buf.h"
#include <curl/curl.h>

/* Zero: only the system's. */
struct trusted {
	struct buf certificates; /* PEM; empty: libcurl's own file, or `unreadable` */
	const char *unreadable;	 /* a named file that cannot be read; then nothing is
				    trusted */
};

/* Reads CURL_CA_BUNDLE or else SSL_CERT_FILE instead of the system's file, and in addition
 * NODE_EXTRA_CA_CERTS. Logs files that cannot be read. */
void trusted_read(struct trusted *t);
/* `t` must live as long as the transfer. */
void trusted_apply(const struct trusted *t, CURL *easy);
/* Where libcurl looks for the system's: at most TRUSTED_SYSTEM_PATHS static texts. Returns how
 * many. */
#define TRUSTED_SYSTEM_PATHS 2
size_t trusted_system_paths(const char *paths[TRUSTED_SYSTEM_PATHS]);

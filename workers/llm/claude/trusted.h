/* trusted.h - certificate authorities that the environment names beside or in place of
 * the system's. */
#ifndef PAIGE_LLM_CLAUDE_TRUSTED_H
#define PAIGE_LLM_CLAUDE_TRUSTED_H

#include "common/base/buf.h"
#include <curl/curl.h>

/* Zero is the system's. */
struct trusted {
	struct buf certificates; /* PEM; empty: libcurl's own file, or `unreadable` */
	const char *unreadable;	 /* a file that was named and cannot be read: nobody is
				    trusted */
};

/* CURL_CA_BUNDLE or else SSL_CERT_FILE in place of the system's file, NODE_EXTRA_CA_CERTS
 * besides. What cannot be read is logged. */
void trusted_read(struct trusted *t);
/* `t` must live as long as the transfer. */
void trusted_apply(const struct trusted *t, CURL *easy);
void trusted_fini(struct trusted *t);
/* Where libcurl looks for those of the system: at most TRUSTED_SYSTEM_PATHS, static text.
 * Returns how many. */
#define TRUSTED_SYSTEM_PATHS 2
size_t trusted_system_paths(const char *paths[TRUSTED_SYSTEM_PATHS]);

#endif

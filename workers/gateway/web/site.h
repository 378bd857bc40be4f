/*
 * site.h - GET / and what lies below /page/: the web client, compiled in.
 *
 * The files are those of the table that scripts/embed_site.py makes: the page itself, the
 * modules of the client, and libraries from Debian. Every name below /page/ carries a
 * hash of the content, so a browser may keep it for ever; the page itself is asked for
 * each time and answered 304 when it is the same. The Content-Security-Policy allows
 * scripts, styles and connections of this daemon alone, nothing inline, and no text to
 * become markup or script (R24).
 */
#pragma once

#include "common/base/str.h"
#include <stdbool.h>

struct gateway;
struct http_request;

/* One file, as it is and compressed. */
struct site_file {
	const char *path;
	const char *type;
	const char *etag; /* with its quotation marks */
	bool immutable;	  /* its name has a hash in it */
	const unsigned char *plain, *gzip;
	size_t plain_len, gzip_len;
};

/* Made by scripts/embed_site.py, ordered by path. */
extern const struct site_file site_files[];
extern const size_t site_file_count;

/* Pure. NULL: there is no such file. */
const struct site_file *site_find(struct str path);

/* Pure. Whether If-None-Match says that the browser has this version. */
bool site_is_known(struct str if_none_match, const char *etag);

/* The file at the path of the request, or 404. */
void site_answer(struct gateway *g, struct http_request *request);

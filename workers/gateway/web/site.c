/* site.c - see site.h. */
#include "workers/gateway/web/site.h"
#include "common/settings/peers.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/media_type.h"
#include <event2/buffer.h>

static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	"img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; "
	"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";

const struct site_file *site_find(struct str path)
{
	size_t low = 0, high = site_file_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_order(path, str_of(site_files[middle].path));

		if (order == 0)
			return &site_files[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

bool site_is_known(struct str if_none_match, const char *etag)
{
	struct str element;

	while (if_none_match.ptr && list_next(&if_none_match, &element)) {
		if (str_starts(element, "W/"))
			element = (struct str){element.ptr + 2, element.len - 2};
		if (str_is(element, etag) || str_is(element, "*"))
			return true;
	}
	return false;
}

/* The tag is a weak one, since it is the same for the compressed form. */
static void put_headers(struct evkeyvalq *headers, const struct site_file *file)
{
	char tag[80];

	evutil_snprintf(tag, sizeof(tag), "W/%s", file->etag);
	evhttp_add_header(headers, "ETag", tag);
	evhttp_add_header(headers, "Vary", "Accept-Encoding");
	evhttp_add_header(headers, "Cache-Control",
		file->immutable ? "private, max-age=31536000, immutable"
				: "private, no-cache");
	evhttp_add_header(headers, "Content-Security-Policy", policy);
	evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	evhttp_add_header(headers, "Cross-Origin-Opener-Policy", "same-origin");
	evhttp_add_header(headers, "Cross-Origin-Resource-Policy", "same-origin");
}

void site_answer(struct gateway *g, struct http_request *request)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request->ev);
	struct evbuffer *out = evhttp_request_get_output_buffer(request->ev);
	const struct site_file *file = site_find(request->path);
	bool packed;

	(void)g;
	if (!file) {
		http_reply_error(request, 404, "There is nothing at this path");
		return;
	}
	put_headers(headers, file);
	if (site_is_known(request->headers.if_none_match, file->etag)) {
		http_reply(request, 304, NULL, STR_LIT(""));
		return;
	}
	packed = media_type_named(request->headers.accept_encoding, "gzip");
	evhttp_add_header(headers, "Content-Type", file->type);
	if (packed)
		evhttp_add_header(headers, "Content-Encoding", "gzip");
	/* By reference: the file is part of the program. */
	evbuffer_add_reference(out, packed ? file->gzip : file->plain,
		packed ? file->gzip_len : file->plain_len, NULL, NULL);
	http_reply(request, 200, NULL, STR_LIT(""));
}

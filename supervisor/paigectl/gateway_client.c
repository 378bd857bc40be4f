/*
 * gateway_client.c - paigectl's way to the gateway: one HTTP request with the token of
 * DATA_DIR/paiged.json; see paigectl.h.
 */
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define DISCOVERY_MAX 65536
#define ANSWER_MAX (64 * 1024 * 1024)

/* Reads DATA_DIR/paiged.json; the file points into *doc. 0 or an exit code. */
static int find_gateway(const struct daemon_place *place, struct arena *arena,
	yyjson_doc **doc, struct discovery_file *file)
{
	const char *path = arena_printf(arena, "%s/paiged.json", place->data_dir).ptr;
	AUTO_BUF text = {0};
	struct proto_error problem = {.text = ""};
	int error;

	if (place->pid == 0)
		return paigectl_fail(PAIGECTL_NOT_RUNNING, "no daemon is running on %s",
			place->data_dir);
	error = file_read_named(AT_FDCWD, path, DISCOVERY_MAX, &text);
	if (error)
		return paigectl_fail(
			PAIGECTL_FAILED, "cannot read %s: %s", path, strerror(-error));
	*doc = proto_parse(buf_str(&text), &problem);
	if (*doc && proto_decode(discovery_file_type(), yyjson_doc_get_root(*doc), "file",
			    DECODE_LENIENT, arena, file, &problem) == 0)
		return 0;
	return paigectl_fail(PAIGECTL_FAILED, "%s is invalid: %s", path, problem.text);
}

static size_t on_data(char *data, size_t size, size_t count, void *arg)
{
	struct buf *answer = arg;

	if (answer->len + size * count > ANSWER_MAX)
		return 0;
	buf_add(answer, data, size * count);
	return size * count;
}

struct exchange {
	CURL *curl;
	struct curl_slist *headers;
	struct buf answer;
	char error[CURL_ERROR_SIZE];
};

static void add_header(struct exchange *x, const char *header)
{
	struct curl_slist *longer = alloc_checked(curl_slist_append(x->headers, header));
	x->headers = longer;
}

/* The HTTP status, or 0 with x->error. */
static long perform(struct exchange *x, const char *url, const char *post, long limit_ms)
{
	long status = 0;
	CURLcode code;

	curl_easy_setopt(x->curl, CURLOPT_URL, url);
	curl_easy_setopt(x->curl, CURLOPT_TIMEOUT_MS, limit_ms);
	curl_easy_setopt(x->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(x->curl, CURLOPT_PROTOCOLS_STR, "http");
	curl_easy_setopt(x->curl, CURLOPT_HTTPHEADER, x->headers);
	curl_easy_setopt(x->curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(x->curl, CURLOPT_WRITEDATA, &x->answer);
	curl_easy_setopt(x->curl, CURLOPT_ERRORBUFFER, x->error);
	/* The token goes to the daemon and nowhere else. */
	curl_easy_setopt(x->curl, CURLOPT_NOPROXY, "*");
	if (post)
		curl_easy_setopt(x->curl, CURLOPT_POSTFIELDS, post);
	code = curl_easy_perform(x->curl);
	if (code == CURLE_OK)
		curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	else if (!x->error[0])
		snprintf(x->error, sizeof(x->error), "%s", curl_easy_strerror(code));
	return status;
}

/* 0 with *doc, or an exit code. */
static int understand(struct exchange *x, const char *url, long status, yyjson_doc **doc)
{
	struct proto_error problem;
	const char *refusal;

	if (status == 0)
		return paigectl_fail(PAIGECTL_FAILED,
			"the daemon does not answer on %s: %s", url, x->error);
	*doc = proto_parse(buf_str(&x->answer), &problem);
	refusal = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(*doc), "error"));
	if (*doc && status / 100 == 2)
		return 0;
	if (refusal)
		paigectl_fail(PAIGECTL_FAILED, "%s", refusal);
	else
		paigectl_fail(PAIGECTL_FAILED, "%s gave the status %ld", url, status);
	yyjson_doc_free(*doc);
	*doc = NULL;
	return PAIGECTL_FAILED;
}

int gateway_ask(const struct daemon_place *place, const char *path, const char *post,
	int limit_ms, yyjson_doc **doc)
{
	struct exchange x = {.error = ""};
	struct discovery_file file = {0};
	AUTO_ARENA arena = {0};
	AUTO_DOC *found = NULL;
	const char *url;
	int code = find_gateway(place, &arena, &found, &file);

	*doc = NULL;
	if (code == 0) {
		x.curl = alloc_checked(curl_easy_init());
		url = arena_printf(&arena, "%.*s%s", STR_ARG(file.url), path).ptr;
		add_header(&x, arena_printf(&arena, "Authorization: Bearer %.*s",
				       STR_ARG(file.token))
				       .ptr);
		add_header(&x, "Content-Type: application/json");
		code = understand(&x, url, perform(&x, url, post, limit_ms), doc);
		curl_easy_cleanup(x.curl);
	}
	curl_slist_free_all(x.headers);
	buf_free(&x.answer);
	return code;
}

/* trusted.c - certificate authorities of the environment (trusted.h). */
#include "workers/llm/claude/trusted.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define CERTIFICATES_MAX_BYTES (8u * 1024 * 1024)

/* Appends a file; `name` is the variable that names it. 0 or -errno. */
static int add_file(struct trusted *t, const char *name, const char *path)
{
	int error =
		file_read_named(AT_FDCWD, path, CERTIFICATES_MAX_BYTES, &t->certificates);

	if (error)
		log_error("file with trusted certificates cannot be read", "variable",
			"%s", name, "path", "%s", path, "error", "%s", strerror(-error),
			NULL);
	buf_add_char(&t->certificates, '\n');
	return error;
}

/* The variable that takes the place of the system's file, or NULL. */
static const char *in_place(void)
{
	static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]) && *getenv(names[i]))
			return names[i];
	return NULL;
}

void trusted_read(struct trusted *t)
{
	static const char besides[] = "NODE_EXTRA_CA_CERTS";
	const char *name = in_place(), *more = getenv(besides);
	const char *system_file = curl_version_info(CURLVERSION_NOW)->cainfo;

	*t = (struct trusted){0};
	if (more && !*more)
		more = NULL;
	if (name && add_file(t, name, getenv(name)) != 0)
		t->unreadable = getenv(name);
	else if (!name && more && system_file)
		(void)add_file(t, "the system's", system_file);
	/* Without it fewer are trusted, which is safe. */
	if (more && !t->unreadable)
		(void)add_file(t, besides, more);
}

void trusted_apply(const struct trusted *t, CURL *easy)
{
	struct curl_blob blob = {.data = t->certificates.data,
		.len = t->certificates.len,
		.flags = CURL_BLOB_NOCOPY};

	if (t->unreadable)
		curl_easy_setopt(easy, CURLOPT_CAINFO, t->unreadable);
	else if (blob.len > 0)
		curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
}

size_t trusted_system_paths(const char *paths[TRUSTED_SYSTEM_PATHS])
{
	const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
	size_t count = 0;

	if (curl->cainfo)
		paths[count++] = curl->cainfo;
	if (curl->capath)
		paths[count++] = curl->capath;
	return count;
}

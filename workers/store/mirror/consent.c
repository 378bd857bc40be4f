/* consent.c - see consent.h; and the methods that tell and change it. */
#include "workers/store/mirror/consent.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/base/private_file.h"
#include "proto/codec/messages.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_MAX_BYTES 4096

static struct str text_or_none(const char *text)
{
	return text[0] ? str_of(text) : (struct str){NULL, 0};
}

static struct mirror_consent message_of(const struct consent *consent)
{
	return (struct mirror_consent){
		.allowed = consent->allowed,
		.since = text_or_none(consent->since),
		.origin = text_or_none(consent->origin),
	};
}

/* False when the text is no consent. */
static bool read_text(struct consent *consent, struct str text)
{
	struct proto_error error;
	AUTO_ARENA arena = {0};
	struct mirror_consent kept;
	AUTO_DOC *doc = proto_parse(text, &error);
	bool right = doc &&
		     proto_decode(mirror_consent_type(), yyjson_doc_get_root(doc),
			     CONSENT_FILE, DECODE_STRICT, &arena, &kept, &error) == 0 &&
		     (!kept.origin.ptr || uuid_valid(kept.origin));

	if (right) {
		consent->allowed = kept.allowed && kept.origin.ptr;
		snprintf(consent->since, sizeof(consent->since), "%.*s",
			STR_ARG(kept.since));
		snprintf(consent->origin, sizeof(consent->origin), "%.*s",
			STR_ARG(kept.origin));
	}
	return right;
}

int consent_load(struct consent *consent, const char *directory)
{
	AUTO_BUF text = {0};
	int result;

	*consent = (struct consent){.path = xasprintf("%s/%s", directory, CONSENT_FILE)};
	result = file_read_own(AT_FDCWD, consent->path, FILE_MAX_BYTES, &text);
	if (result == 0 && !read_text(consent, buf_str(&text)))
		result = -EBADMSG;
	return result == -ENOENT ? 0 : result;
}

void consent_fini(struct consent *consent)
{
	free(consent->path);
	*consent = (struct consent){0};
}

/* Keeps `next` on the disk, then in memory; answers with what holds then. */
static int keep(struct store *store, struct call *call, struct consent next)
{
	const struct mirror_consent message = message_of(&next);
	AUTO_BUF text = {0};
	int result;

	proto_encode(mirror_consent_type(), &message, &text);
	result = private_file_replace(next.path, buf_str(&text));
	if (result < 0)
		return call_refuse(call, ERROR_STORAGE_FAILED,
			"The decision cannot be kept in %s: %s", next.path,
			file_error_text(result));
	*store->consent = next;
	call_answer(call, &message);
	return 0;
}

int mirror_consent(struct store *store, struct call *call)
{
	const struct mirror_consent message = message_of(store->consent);

	call_answer(call, &message);
	return 0;
}

int mirror_decide(struct store *store, struct call *call)
{
	const struct mirror_decision *decision = call->message;
	struct consent next = *store->consent;

	if (decision->allow == next.allowed && next.since[0])
		return mirror_consent(store, call);
	next.allowed = decision->allow;
	call_time(call, next.since);
	if (!next.origin[0] && next.allowed)
		uuid4(next.origin);
	return keep(store, call, next);
}

int mirror_fork(struct store *store, struct call *call)
{
	const struct mirror_origin *request = call->message;
	struct consent next = *store->consent;

	if (!str_is(request->origin, next.origin))
		return mirror_consent(store, call); /* it has another already */
	snprintf(next.origin, sizeof(next.origin), "%.*s", STR_ARG(call->key));
	return keep(store, call, next);
}

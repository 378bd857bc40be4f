/* access.c - see access.h. */
#include "workers/gateway/access.h"
#include <openssl/crypto.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

static bool same_text(struct str a, const char *b)
{
	return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

static bool is_localhost(struct str host)
{
	return host.len == 0 || same_text(host, "localhost");
}

static void add_authority(struct access_policy *policy, struct str name, uint16_t port)
{
	bool v6 = memchr(name.ptr, ':', name.len) && name.ptr[0] != '[';
	const char *open = v6 ? "[" : "", *close = v6 ? "]" : "";
	char *out = policy->authorities[policy->authority_count++];

	snprintf(out, ACCESS_AUTHORITY_SIZE, "%s%.*s%s:%u", open, STR_ARG(name), close,
		port);
	if (port == 80)
		snprintf(policy->authorities[policy->authority_count++],
			ACCESS_AUTHORITY_SIZE, "%s%.*s%s", open, STR_ARG(name), close);
}

void access_policy_init(struct access_policy *policy, struct str host, uint16_t port,
	struct str token, struct str origins)
{
	*policy = (struct access_policy){
		.token = token, .origins = origins, .self = geteuid()};
	add_authority(policy, STR_LIT("localhost"), port);
	add_authority(policy, STR_LIT("127.0.0.1"), port);
	add_authority(policy, STR_LIT("::1"), port);
	if (!is_localhost(host)) {
		add_authority(policy, host, port);
		policy->token_mandatory = true;
	}
}

bool access_next_element(struct str *list, struct str *element)
{
	while (list->len > 0) {
		const char *comma = memchr(list->ptr, ',', list->len);
		struct str e = {
			list->ptr, comma ? (size_t)(comma - list->ptr) : list->len};
		size_t used = e.len + (comma ? 1 : 0);

		list->ptr += used;
		list->len -= used;
		while (e.len > 0 && (e.ptr[0] == ' ' || e.ptr[0] == '\t')) {
			e.ptr++;
			e.len--;
		}
		while (e.len > 0 && (e.ptr[e.len - 1] == ' ' || e.ptr[e.len - 1] == '\t'))
			e.len--;
		if (e.len > 0) {
			*element = e;
			return true;
		}
	}
	return false;
}

static bool authority_known(const struct access_policy *policy, struct str authority)
{
	for (unsigned i = 0; i < policy->authority_count; i++)
		if (same_text(authority, policy->authorities[i]))
			return true;
	return false;
}

static bool origin_allowed(const struct access_policy *policy, struct str origin)
{
	static const char http[] = "http://";
	struct str list = policy->origins, element;

	if (same_text(origin, "null"))
		return false;
	if (same_text(origin, "file://"))
		return true;
	if (origin.len > sizeof(http) - 1 &&
		strncasecmp(origin.ptr, http, sizeof(http) - 1) == 0 &&
		authority_known(policy, (struct str){origin.ptr + sizeof(http) - 1,
						origin.len - (sizeof(http) - 1)}))
		return true;
	while (access_next_element(&list, &element))
		if (element.len == origin.len &&
			strncasecmp(element.ptr, origin.ptr, origin.len) == 0)
			return true;
	return false;
}

/*
 * A browser sends no Origin with what an <img>, a link or a form's GET asks for, but says
 * where it comes from: from our own page, or from the user himself ("none"). Another port
 * of this machine is the same site, and another program.
 */
static bool site_allowed(struct str site)
{
	return !site.ptr || same_text(site, "same-origin") || same_text(site, "none");
}

/* The time depends on the length alone, which is no secret. */
static bool is_token(const struct access_policy *policy, struct str text)
{
	return policy->token.len > 0 && text.len == policy->token.len &&
	       CRYPTO_memcmp(text.ptr, policy->token.ptr, text.len) == 0;
}

static bool bearer_token(const struct access_policy *policy, struct str authorization)
{
	static const char bearer[] = "Bearer ";
	const size_t n = sizeof(bearer) - 1;

	return authorization.len > n && strncasecmp(authorization.ptr, bearer, n) == 0 &&
	       is_token(policy,
		       (struct str){authorization.ptr + n, authorization.len - n});
}

struct str access_token_protocol(const struct access_policy *policy, struct str protocols)
{
	const size_t n = sizeof(ACCESS_TOKEN_PROTOCOL) - 1;
	struct str element;

	while (access_next_element(&protocols, &element))
		if (str_starts(element, ACCESS_TOKEN_PROTOCOL) &&
			is_token(policy, (struct str){element.ptr + n, element.len - n}))
			return element;
	return (struct str){NULL, 0};
}

bool access_trusts_peer(
	const struct access_policy *policy, const struct access_peer *peer)
{
	return !policy->token_mandatory && peer->loopback && peer->uid_known &&
	       (peer->uid == policy->self || peer->uid == 0);
}

enum access_verdict access_judge(const struct access_policy *policy,
	const struct access_request *request, bool host_only)
{
	if (request->repeated)
		return ACCESS_BAD_REQUEST;
	if (!request->host.ptr || !authority_known(policy, request->host))
		return ACCESS_BAD_HOST;
	if (host_only)
		return ACCESS_GRANTED;
	if (request->origin.ptr && !origin_allowed(policy, request->origin))
		return ACCESS_BAD_ORIGIN;
	if (!request->origin.ptr && !site_allowed(request->fetch_site))
		return ACCESS_BAD_SITE;
	if (bearer_token(policy, request->authorization) ||
		access_token_protocol(policy, request->protocols).ptr)
		return ACCESS_GRANTED;
	return access_trusts_peer(policy, &request->peer) ? ACCESS_GRANTED
							  : ACCESS_NO_TOKEN;
}

const char *access_reason(enum access_verdict verdict)
{
	switch (verdict) {
	case ACCESS_BAD_REQUEST:
		return "A header that may stand only once was sent twice";
	case ACCESS_BAD_HOST:
		return "This Host is not served: use localhost, 127.0.0.1 or [::1] with "
		       "the port";
	case ACCESS_BAD_ORIGIN:
		return "This Origin may not connect: add it to ALLOWED_ORIGINS if it "
		       "should";
	case ACCESS_BAD_SITE:
		return "A page of another site may not send this request";
	case ACCESS_NO_TOKEN:
		return "Send the token of DATA_DIR/paiged.json as Authorization: Bearer "
		       "TOKEN";
	case ACCESS_GRANTED:
		break;
	}
	return "Not refused";
}

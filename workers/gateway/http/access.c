/* access.c - see access.h. */
#include "workers/gateway/http/access.h"
#include "common/base/ids.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_localhost(struct str host)
{
	return host.len == 0 || str_is_nocase(host, "localhost");
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

/* Cookies of all ports of a host are one jar, so the name has the port. */
static void make_cookie(struct access_policy *policy, uint16_t port)
{
	static const char purpose[] = "paige login";
	unsigned char digest[32];
	unsigned len = 0;

	snprintf(
		policy->cookie_name, sizeof(policy->cookie_name), "paige_login_%u", port);
	if (!HMAC(EVP_sha256(), policy->token.ptr ? policy->token.ptr : "",
		    (int)policy->token.len, (const unsigned char *)purpose,
		    sizeof(purpose) - 1, digest, &len))
		abort();
	hex_print(policy->cookie, digest, len);
}

void access_policy_init(struct access_policy *policy, struct str host, uint16_t port,
	struct str token, struct str origins)
{
	*policy = (struct access_policy){
		.token = token, .origins = origins, .self = geteuid()};
	make_cookie(policy, port);
	add_authority(policy, STR_LIT("localhost"), port);
	add_authority(policy, STR_LIT("127.0.0.1"), port);
	add_authority(policy, STR_LIT("::1"), port);
	if (!is_localhost(host)) {
		add_authority(policy, host, port);
		policy->token_mandatory = true;
	}
}

static bool authority_known(const struct access_policy *policy, struct str authority)
{
	for (unsigned i = 0; i < policy->authority_count; i++)
		if (str_is_nocase(authority, policy->authorities[i]))
			return true;
	return false;
}

/* The origin of a page of `host`, which may be known by http, by https or by both. */
static bool is_origin_of(const struct public_host *host, struct str origin)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(schemes[i]);

		if (host->scheme.ptr && host->scheme.len + 3 != n)
			continue;
		if (str_starts_nocase(origin, schemes[i]) &&
			str_eq_nocase((struct str){origin.ptr + n, origin.len - n},
				host->authority))
			return true;
	}
	return false;
}

/* Whether PUBLIC_HOSTS has this Host, or this origin when `is_origin`. */
static bool is_public(const struct access_policy *policy, struct str text, bool is_origin)
{
	struct str list = policy->public_hosts, element;
	struct public_host host;

	while (list_next(&list, &element)) {
		if (!public_host_read(element, &host))
			continue;
		if (is_origin ? is_origin_of(&host, text)
			      : str_eq_nocase(text, host.authority))
			return true;
	}
	return false;
}

static bool origin_allowed(const struct access_policy *policy, struct str origin)
{
	static const char http[] = "http://";
	struct str list = policy->origins, element;

	if (str_is_nocase(origin, "null"))
		return false;
	if (str_is_nocase(origin, "file://"))
		return true;
	if (origin.len > sizeof(http) - 1 && str_starts_nocase(origin, http) &&
		authority_known(policy, (struct str){origin.ptr + sizeof(http) - 1,
						origin.len - (sizeof(http) - 1)}))
		return true;
	if (is_public(policy, origin, true))
		return true;
	while (list_next(&list, &element))
		if (str_eq_nocase(element, origin))
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
	return !site.ptr || str_is_nocase(site, "same-origin") ||
	       str_is_nocase(site, "none");
}

/* The time depends on the length alone, which is no secret. */
bool access_is_token(const struct access_policy *policy, struct str text)
{
	return policy->token.len > 0 && text.len == policy->token.len &&
	       CRYPTO_memcmp(text.ptr, policy->token.ptr, text.len) == 0;
}

static bool bearer_token(const struct access_policy *policy, struct str authorization)
{
	static const char bearer[] = "Bearer ";
	const size_t n = sizeof(bearer) - 1;

	return str_starts_nocase(authorization, bearer) &&
	       access_is_token(policy,
		       (struct str){authorization.ptr + n, authorization.len - n});
}

/* One of the cookies; the value is compared as the token is. */
static bool cookie_shown(const struct access_policy *policy, struct str cookies)
{
	const size_t n = strlen(policy->cookie_name), len = ACCESS_COOKIE_SIZE - 1;

	if (policy->token.len == 0)
		return false;
	for (size_t i = 0; i + n + 1 + len <= cookies.len; i++) {
		const char *at = cookies.ptr + i, *end = at + n + 1 + len;

		if ((i == 0 || at[-1] == ' ' || at[-1] == ';') &&
			memcmp(at, policy->cookie_name, n) == 0 && at[n] == '=' &&
			(end == cookies.ptr + cookies.len || *end == ';') &&
			CRYPTO_memcmp(at + n + 1, policy->cookie, len) == 0)
			return true;
	}
	return false;
}

struct str access_token_protocol(const struct access_policy *policy, struct str protocols)
{
	const size_t n = sizeof(ACCESS_TOKEN_PROTOCOL) - 1;
	struct str element;

	while (list_next(&protocols, &element))
		if (str_starts(element, ACCESS_TOKEN_PROTOCOL) &&
			access_is_token(
				policy, (struct str){element.ptr + n, element.len - n}))
			return element;
	return (struct str){NULL, 0};
}

static bool has_user(const struct peers *peers, uid_t uid)
{
	for (size_t i = 0; i < peers->count; i++)
		if (peers->uids[i] == uid)
			return true;
	return false;
}

static bool is_allowed(const struct access_policy *policy, uid_t uid)
{
	return uid == policy->self || uid == 0 ||
	       (policy->allowed && has_user(policy->allowed, uid));
}

bool access_is_proxy(const struct access_policy *policy, const struct access_peer *peer)
{
	const struct proxies *proxies = policy->proxies;

	if (!proxies)
		return false;
	if (peer->loopback && peer->uid_known && has_user(&proxies->users, peer->uid))
		return true;
	for (size_t i = 0; i < proxies->count; i++)
		if (IN6_ARE_ADDR_EQUAL(&proxies->addresses[i], &peer->address))
			return true;
	return false;
}

bool access_trusts_peer(
	const struct access_policy *policy, const struct access_peer *peer)
{
	return !policy->token_mandatory && peer->loopback && peer->uid_known &&
	       is_allowed(policy, peer->uid);
}

static bool token_shown(
	const struct access_policy *policy, const struct access_request *request)
{
	return bearer_token(policy, request->authorization) ||
	       cookie_shown(policy, request->cookie) ||
	       access_token_protocol(policy, request->protocols).ptr;
}

bool access_is_operator(
	const struct access_policy *policy, const struct access_request *request)
{
	const struct access_peer *peer = &request->peer;

	if (token_shown(policy, request))
		return true;
	return request->host.ptr && authority_known(policy, request->host) &&
	       !request->proxied && access_trusts_peer(policy, peer) &&
	       (peer->uid == policy->self || peer->uid == 0);
}

enum access_verdict access_judge(const struct access_policy *policy,
	const struct access_request *request, enum access_rules rules)
{
	bool is_local;

	if (request->repeated)
		return ACCESS_BAD_REQUEST;
	is_local = request->host.ptr && authority_known(policy, request->host);
	if (!is_local && (!request->host.ptr || !is_public(policy, request->host, false)))
		return ACCESS_BAD_HOST;
	if (rules == ACCESS_RULES_HOST)
		return ACCESS_GRANTED;
	if (request->origin.ptr && !origin_allowed(policy, request->origin))
		return ACCESS_BAD_ORIGIN;
	if (!request->origin.ptr && !site_allowed(request->fetch_site))
		return ACCESS_BAD_SITE;
	if (rules == ACCESS_RULES_LOGIN || token_shown(policy, request))
		return ACCESS_GRANTED;
	/* Whoever comes through a proxy is not the one that the kernel knows. */
	if (!is_local || request->proxied)
		return ACCESS_NO_TOKEN;
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
		       "the port, or add it to PUBLIC_HOSTS";
	case ACCESS_BAD_ORIGIN:
		return "This Origin may not connect: add it to ALLOWED_ORIGINS if it "
		       "should";
	case ACCESS_BAD_SITE:
		return "A page of another site may not send this request";
	case ACCESS_NO_TOKEN:
		return "Send the token (`paigectl token`) as Authorization: Bearer TOKEN";
	case ACCESS_GRANTED:
		break;
	}
	return "Not refused";
}

/* Tests of who may connect (workers/gateway/http/access.h, sockdiag.h, media_type.h). */
#include "tests/check_run.h"
#include "workers/gateway/http/access.h"
#include "workers/gateway/http/media_type.h"
#include "workers/gateway/http/sockdiag.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PORT 3000
#define TOKEN "0123456789abcdef"

static struct access_policy policy_of(const char *host)
{
	struct access_policy policy;

	access_policy_init(&policy, str_of(host), PORT, str_of(TOKEN),
		str_of("https://studio.example, http://localhost:5173 ,null"));
	return policy;
}

/* Who the kernel says the peer is. */
enum owner { OWN, ROOT, OTHER, UNKNOWN };

struct judgement {
	const char *what;
	const char *setting; /* HOST */
	const char *host, *origin, *authorization, *protocols, *site;
	bool repeated, remote, host_only;
	enum owner owner;
	enum access_verdict verdict;
};

static struct access_peer peer_of(
	const struct access_policy *policy, enum owner owner, bool loopback)
{
	const uid_t uids[] = {[OWN] = policy->self,
		[ROOT] = 0,
		[OTHER] = policy->self + 1,
		[UNKNOWN] = 0};

	return (struct access_peer){
		.loopback = loopback, .uid_known = owner != UNKNOWN, .uid = uids[owner]};
}

static const struct judgement judgements[] = {
	{.what = "localhost",
		.host = "localhost:3000",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "capitals",
		.host = "LOCALHOST:3000",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "IPv4",
		.host = "127.0.0.1:3000",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "IPv6", .host = "[::1]:3000", .owner = OWN, .verdict = ACCESS_GRANTED},
	{.what = "root",
		.host = "localhost:3000",
		.owner = ROOT,
		.verdict = ACCESS_GRANTED},
	{.what = "a user that the kernel does not know",
		.host = "localhost:3000",
		.owner = UNKNOWN,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "no host", .owner = OWN, .verdict = ACCESS_BAD_HOST},
	{.what = "empty host", .host = "", .owner = OWN, .verdict = ACCESS_BAD_HOST},
	{.what = "no port",
		.host = "127.0.0.1",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "another port",
		.host = "127.0.0.1:3001",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "longer port",
		.host = "127.0.0.1:30001",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "another name",
		.host = "evil.example:3000",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "our name in front",
		.host = "127.0.0.1.evil.example:3000",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "user part",
		.host = "localhost:3000@evil.example",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "any address",
		.host = "0.0.0.0:3000",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "host is checked on open paths",
		.host = "evil.example:3000",
		.host_only = true,
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
	{.what = "open paths ask nothing else",
		.host = "localhost:3000",
		.origin = "null",
		.host_only = true,
		.remote = true,
		.owner = OTHER,
		.verdict = ACCESS_GRANTED},
	{.what = "two of one header",
		.host = "localhost:3000",
		.repeated = true,
		.owner = OWN,
		.verdict = ACCESS_BAD_REQUEST},

	{.what = "own origin",
		.host = "localhost:3000",
		.origin = "http://127.0.0.1:3000",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "own origin, IPv6",
		.host = "localhost:3000",
		.origin = "http://[::1]:3000",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "file",
		.host = "localhost:3000",
		.origin = "file://",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "listed",
		.host = "localhost:3000",
		.origin = "https://studio.example",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "listed second",
		.host = "localhost:3000",
		.origin = "http://localhost:5173",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "null even if listed",
		.host = "localhost:3000",
		.origin = "null",
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "empty origin",
		.host = "localhost:3000",
		.origin = "",
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "stranger",
		.host = "localhost:3000",
		.origin = "https://evil.example",
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "listed, other scheme",
		.host = "localhost:3000",
		.origin = "http://studio.example",
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "listed in front",
		.host = "localhost:3000",
		.origin = "https://studio.example.evil.example",
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "own, TLS",
		.host = "localhost:3000",
		.origin = "https://localhost:3000",
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "file with a host",
		.host = "localhost:3000",
		.origin = "file://evil.example",
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "the token lifts no other rule",
		.host = "localhost:3000",
		.origin = "https://evil.example",
		.authorization = "Bearer " TOKEN,
		.owner = OWN,
		.verdict = ACCESS_BAD_ORIGIN},

	{.what = "a page of another site, without an origin",
		.host = "localhost:3000",
		.site = "cross-site",
		.owner = OWN,
		.verdict = ACCESS_BAD_SITE},
	{.what = "a page from another port, without an origin",
		.host = "localhost:3000",
		.site = "same-site",
		.owner = OWN,
		.verdict = ACCESS_BAD_SITE},
	{.what = "the token does not lift it",
		.host = "localhost:3000",
		.site = "cross-site",
		.authorization = "Bearer " TOKEN,
		.owner = OWN,
		.verdict = ACCESS_BAD_SITE},
	{.what = "a site that is not known",
		.host = "localhost:3000",
		.site = "",
		.owner = OWN,
		.verdict = ACCESS_BAD_SITE},
	{.what = "our own page",
		.host = "localhost:3000",
		.site = "same-origin",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "typed by the user",
		.host = "localhost:3000",
		.site = "none",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "an allowed origin is from another site",
		.host = "localhost:3000",
		.origin = "https://studio.example",
		.site = "cross-site",
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "open paths ask for no site",
		.host = "localhost:3000",
		.site = "cross-site",
		.host_only = true,
		.owner = OWN,
		.verdict = ACCESS_GRANTED},

	{.what = "another user",
		.host = "localhost:3000",
		.owner = OTHER,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "another user, token",
		.host = "localhost:3000",
		.authorization = "Bearer " TOKEN,
		.owner = OTHER,
		.verdict = ACCESS_GRANTED},
	{.what = "token, scheme in lower case",
		.host = "localhost:3000",
		.authorization = "bearer " TOKEN,
		.owner = OTHER,
		.verdict = ACCESS_GRANTED},
	{.what = "shorter token",
		.host = "localhost:3000",
		.authorization = "Bearer 0123456789abcde",
		.owner = OTHER,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "longer token",
		.host = "localhost:3000",
		.authorization = "Bearer " TOKEN "x",
		.owner = OTHER,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "token in capitals",
		.host = "localhost:3000",
		.authorization = "Bearer 0123456789ABCDEF",
		.owner = OTHER,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "empty token",
		.host = "localhost:3000",
		.authorization = "Bearer ",
		.owner = OTHER,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "another scheme",
		.host = "localhost:3000",
		.authorization = "Basic " TOKEN,
		.owner = OTHER,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "token as a protocol",
		.host = "localhost:3000",
		.protocols = "chat, paige.token." TOKEN,
		.owner = OTHER,
		.verdict = ACCESS_GRANTED},
	{.what = "wrong token as a protocol",
		.host = "localhost:3000",
		.protocols = "paige.token.wrong",
		.owner = OTHER,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "from elsewhere",
		.host = "localhost:3000",
		.remote = true,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "from elsewhere, token",
		.host = "localhost:3000",
		.remote = true,
		.authorization = "Bearer " TOKEN,
		.verdict = ACCESS_GRANTED},

	{.what = "HOST set: needs the token",
		.setting = "127.0.0.2",
		.host = "127.0.0.2:3000",
		.owner = OWN,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "HOST set: token",
		.setting = "127.0.0.2",
		.host = "127.0.0.2:3000",
		.authorization = "Bearer " TOKEN,
		.owner = OWN,
		.verdict = ACCESS_GRANTED},
	{.what = "HOST set: its origin",
		.setting = "192.0.2.7",
		.host = "192.0.2.7:3000",
		.origin = "http://192.0.2.7:3000",
		.authorization = "Bearer " TOKEN,
		.verdict = ACCESS_GRANTED},
	{.what = "HOST set, IPv6",
		.setting = "fd00::7",
		.host = "[fd00::7]:3000",
		.authorization = "Bearer " TOKEN,
		.verdict = ACCESS_GRANTED},
	{.what = "HOST not set: not served",
		.host = "127.0.0.2:3000",
		.owner = OWN,
		.verdict = ACCESS_BAD_HOST},
};

START_TEST(judges)
{
	const struct judgement *j = &judgements[_i];
	struct access_policy policy = policy_of(j->setting ? j->setting : "localhost");
	struct access_request request = {
		.host = str_of(j->host),
		.origin = str_of(j->origin),
		.fetch_site = str_of(j->site),
		.authorization = str_of(j->authorization),
		.protocols = str_of(j->protocols),
		.repeated = j->repeated,
		.peer = peer_of(&policy, j->owner, !j->remote),
	};
	enum access_verdict verdict = access_judge(
		&policy, &request, j->host_only ? ACCESS_RULES_HOST : ACCESS_RULES_ALL);

	ck_assert_msg(verdict == j->verdict, "%s: %d", j->what, verdict);
	ck_assert(strlen(access_reason(verdict)) > 0);
}
END_TEST

/* ---- others who may connect ---- */

#define COOKIE_AT_TEST "paige_login_3000="

struct guest {
	const char *what, *host, *origin;
	const char *cookie; /* "right", "wrong" or a whole header */
	bool proxied, login, remote;
	uid_t uid; /* added to the daemon's own */
	enum access_verdict verdict;
};

static const struct guest guests[] = {
	{.what = "an allowed user",
		.host = "localhost:3000",
		.uid = 7,
		.verdict = ACCESS_GRANTED},
	{.what = "another one",
		.host = "localhost:3000",
		.uid = 8,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "an allowed user who hands on for others",
		.host = "localhost:3000",
		.uid = 7,
		.proxied = true,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "the owner, who hands on for others",
		.host = "localhost:3000",
		.proxied = true,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "a public name",
		.host = "paige.example.org",
		.verdict = ACCESS_NO_TOKEN},
	{.what = "a public name, logged in",
		.host = "paige.example.org",
		.cookie = "right",
		.remote = true,
		.verdict = ACCESS_GRANTED},
	{.what = "a published port",
		.host = "192.0.2.7:8080",
		.cookie = "right",
		.verdict = ACCESS_GRANTED},
	{.what = "a public name with another port",
		.host = "paige.example.org:8080",
		.cookie = "right",
		.verdict = ACCESS_BAD_HOST},
	{.what = "below a public name",
		.host = "x.paige.example.org",
		.cookie = "right",
		.verdict = ACCESS_BAD_HOST},
	{.what = "its page",
		.host = "paige.example.org",
		.origin = "https://paige.example.org",
		.cookie = "right",
		.verdict = ACCESS_GRANTED},
	{.what = "its page, when the proxy writes our Host",
		.host = "localhost:3000",
		.origin = "https://paige.example.org",
		.cookie = "right",
		.verdict = ACCESS_GRANTED},
	{.what = "a page of it without TLS",
		.host = "paige.example.org",
		.origin = "http://paige.example.org",
		.cookie = "right",
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "a name for both",
		.host = "192.0.2.7:8080",
		.origin = "http://192.0.2.7:8080",
		.cookie = "right",
		.verdict = ACCESS_GRANTED},
	{.what = "a page from another port of it",
		.host = "192.0.2.7:8080",
		.origin = "http://192.0.2.7:9090",
		.cookie = "right",
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "the cookie lifts no other rule",
		.host = "localhost:3000",
		.origin = "https://evil.example",
		.cookie = "right",
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "a wrong cookie",
		.host = "localhost:3000",
		.cookie = "wrong",
		.uid = 8,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "the token is no cookie",
		.host = "localhost:3000",
		.cookie = COOKIE_AT_TEST TOKEN,
		.uid = 8,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "an empty cookie",
		.host = "localhost:3000",
		.cookie = COOKIE_AT_TEST,
		.uid = 8,
		.verdict = ACCESS_NO_TOKEN},
	{.what = "login needs no token",
		.host = "paige.example.org",
		.login = true,
		.remote = true,
		.verdict = ACCESS_GRANTED},
	{.what = "login from a foreign page",
		.host = "paige.example.org",
		.login = true,
		.origin = "https://evil.example",
		.verdict = ACCESS_BAD_ORIGIN},
	{.what = "login at a foreign name",
		.host = "evil.example",
		.login = true,
		.verdict = ACCESS_BAD_HOST},
};

START_TEST(lets_guests_in)
{
	const struct guest *g = &guests[_i];
	struct access_policy policy = policy_of("localhost");
	struct peers allowed = {.uids = {policy.self + 7}, .count = 1};
	struct access_request request = {.host = str_of(g->host),
		.origin = str_of(g->origin),
		.proxied = g->proxied,
		.peer = {.loopback = !g->remote,
			.uid_known = !g->remote,
			.uid = policy.self + g->uid}};
	char cookie[256];
	enum access_verdict verdict;

	policy.allowed = &allowed;
	policy.public_hosts = STR_LIT("https://paige.example.org, 192.0.2.7:8080");
	snprintf(cookie, sizeof(cookie), "a=b; %s=%s%s; c=d", policy.cookie_name,
		policy.cookie, g->cookie && strcmp(g->cookie, "wrong") == 0 ? "0" : "");
	if (g->cookie)
		request.cookie = str_of(strchr(g->cookie, '=') ? g->cookie : cookie);
	verdict = access_judge(
		&policy, &request, g->login ? ACCESS_RULES_LOGIN : ACCESS_RULES_ALL);
	ck_assert_msg(verdict == g->verdict, "%s: %d", g->what, verdict);
}
END_TEST

/* Who may connect is not yet who may do what paigectl does. */
START_TEST(tells_who_operates)
{
	static const struct {
		const char *what, *host, *authorization;
		int uid; /* from our own */
		bool proxied, operates;
	} cases[] = {
		{"ourselves", "localhost:3000", NULL, 0, false, true},
		{"an allowed user", "localhost:3000", NULL, 7, false, false},
		{"an allowed user with the token", "localhost:3000", "Bearer " TOKEN, 7,
			false, true},
		{"an allowed user with a wrong token", "localhost:3000", "Bearer x", 7,
			false, false},
		{"through a proxy of our own", "localhost:3000", NULL, 0, true, false},
		{"through it with the token", "localhost:3000", "Bearer " TOKEN, 0, true,
			true},
		{"by a public name", "192.0.2.7:8080", NULL, 0, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct access_policy policy = policy_of("localhost");
		struct peers allowed = {.uids = {policy.self + 7}, .count = 1};
		const struct access_request request = {.host = str_of(cases[i].host),
			.authorization = str_of(cases[i].authorization),
			.proxied = cases[i].proxied,
			.peer = {.loopback = true,
				.uid_known = true,
				.uid = policy.self + (uid_t)cases[i].uid}};

		policy.allowed = &allowed;
		policy.public_hosts = STR_LIT("192.0.2.7:8080");
		ck_assert_msg(access_is_operator(&policy, &request) == cases[i].operates,
			"%s", cases[i].what);
	}
}
END_TEST

START_TEST(makes_another_cookie_of_another_token)
{
	struct access_policy one, two, none;
	struct access_request request = {.host = STR_LIT("localhost:3000")};
	char cookie[128];

	access_policy_init(&one, STR_LIT(""), PORT, STR_LIT("a"), STR_LIT(""));
	access_policy_init(&two, STR_LIT(""), PORT, STR_LIT("b"), STR_LIT(""));
	ck_assert_str_ne(one.cookie, two.cookie);
	access_policy_init(&none, STR_LIT(""), PORT, STR_LIT(""), STR_LIT(""));
	snprintf(cookie, sizeof(cookie), "%s=%s", none.cookie_name, none.cookie);
	request.cookie = str_of(cookie);
	ck_assert(access_judge(&none, &request, ACCESS_RULES_ALL) == ACCESS_NO_TOKEN);
}
END_TEST

START_TEST(finds_users_and_groups)
{
	struct peers found;
	struct buf problems = {0};

	peers_resolve(STR_LIT("root, 12345,root"), STR_LIT("daemon"), &found, &problems);
	ck_assert_uint_eq(problems.len, 0);
	ck_assert_uint_ge(found.count, 3);
	ck_assert(found.uids[0] == 0 && found.uids[1] == 12345 && found.uids[2] == 1);
	peers_resolve(
		STR_LIT("no-such-user"), STR_LIT("no-such-group"), &found, &problems);
	ck_assert_uint_eq(found.count, 0);
	buf_add_char(&problems, '\0');
	ck_assert_ptr_nonnull(strstr(
		problems.data, "ALLOWED_USERS: there is no user \"no-such-user\""));
	ck_assert_ptr_nonnull(strstr(
		problems.data, "ALLOWED_GROUPS: there is no group \"no-such-group\""));
	buf_free(&problems);
}
END_TEST

START_TEST(knows_its_proxies)
{
	static const struct {
		bool loopback, uid_known, is_proxy;
		uid_t uid;
		const char *address;
	} cases[] = {
		{true, true, true, 12345, "127.0.0.1"},
		{true, false, false, 12345, "127.0.0.1"},
		{true, true, false, 12346, "127.0.0.1"},
		{false, false, true, 0, "192.0.2.7"},
		{false, false, false, 0, "192.0.2.8"},
		{false, true, false, 12345, "192.0.2.8"},
		{false, false, true, 0, "2001:db8::1"},
	};
	struct access_policy policy = policy_of("localhost");
	struct access_request request = {
		.host = STR_LIT("localhost:3000"), .proxied = true};
	struct proxies proxies;
	struct buf problems = {0};

	proxies_resolve(STR_LIT("12345, 192.0.2.7,2001:db8::1"), &proxies, &problems);
	ck_assert_uint_eq(problems.len, 0);
	ck_assert(!access_is_proxy(&policy, &(struct access_peer){.loopback = true}));
	policy.proxies = &proxies;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sockaddr_storage at = {0};

		if (strchr(cases[i].address, ':')) {
			struct sockaddr_in6 *v6 = (void *)&at;

			v6->sin6_family = AF_INET6;
			ck_assert_int_eq(
				inet_pton(AF_INET6, cases[i].address, &v6->sin6_addr), 1);
		} else {
			struct sockaddr_in *v4 = (void *)&at;

			v4->sin_family = AF_INET;
			ck_assert_int_eq(
				inet_pton(AF_INET, cases[i].address, &v4->sin_addr), 1);
		}
		request.peer = (struct access_peer){.loopback = cases[i].loopback,
			.uid_known = cases[i].uid_known,
			.uid = cases[i].uid,
			.address = sockdiag_address(&at)};
		ck_assert_msg(
			access_is_proxy(&policy, &request.peer) == cases[i].is_proxy,
			"case %zu", i);
		/* Its visitors need the token all the same. */
		ck_assert(access_judge(&policy, &request, ACCESS_RULES_ALL) ==
			  ACCESS_NO_TOKEN);
	}
	proxies_resolve(STR_LIT("no-such-user,127.0.0.1,::1"), &proxies, &problems);
	ck_assert_uint_eq(proxies.count + proxies.users.count, 0);
	buf_add_char(&problems, '\0');
	ck_assert_ptr_nonnull(strstr(
		problems.data, "TRUSTED_PROXIES: there is no user \"no-such-user\""));
	ck_assert_ptr_nonnull(
		strstr(problems.data, "TRUSTED_PROXIES: 127.0.0.1 is this machine"));
	ck_assert_ptr_nonnull(
		strstr(problems.data, "TRUSTED_PROXIES: ::1 is this machine"));
	buf_free(&problems);
}
END_TEST

START_TEST(reads_public_hosts)
{
	static const char *const wrong[] = {"", "https://", "*", "*.example.org", "a/b",
		"https://a/", "ftp://a", "a b", ":3000", "user@a", "a\x01"};
	struct public_host host;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!public_host_read(str_of(wrong[i]), &host), "%s", wrong[i]);
	ck_assert(public_host_read(STR_LIT("HTTPS://a.b:8443"), &host) &&
		  str_is(host.scheme, "https") && str_is(host.authority, "a.b:8443"));
	ck_assert(public_host_read(STR_LIT("[fd00::1]:80"), &host) && !host.scheme.ptr);
}
END_TEST

START_TEST(leaves_out_port_80)
{
	struct access_policy policy;
	struct access_request request = {.host = STR_LIT("localhost")};

	access_policy_init(
		&policy, STR_LIT("localhost"), 80, STR_LIT(TOKEN), STR_LIT(""));
	request.peer = peer_of(&policy, OWN, true);
	ck_assert(access_judge(&policy, &request, ACCESS_RULES_ALL) == ACCESS_GRANTED);
	request.host = STR_LIT("localhost:80");
	ck_assert(access_judge(&policy, &request, ACCESS_RULES_ALL) == ACCESS_GRANTED);
}
END_TEST

START_TEST(never_takes_an_empty_token)
{
	struct access_policy policy;
	struct access_request request = {
		.host = STR_LIT("localhost:3000"), .authorization = STR_LIT("Bearer ")};

	access_policy_init(&policy, STR_LIT("localhost"), PORT, STR_LIT(""), STR_LIT(""));
	ck_assert(access_judge(&policy, &request, ACCESS_RULES_ALL) == ACCESS_NO_TOKEN);
	request.authorization = (struct str){NULL, 0};
	request.protocols = STR_LIT("paige.token.");
	ck_assert(access_judge(&policy, &request, ACCESS_RULES_ALL) == ACCESS_NO_TOKEN);
}
END_TEST

START_TEST(splits_lists)
{
	struct str list = STR_LIT(" a ,, b\t,c"), element;

	ck_assert(list_next(&list, &element) && str_is(element, "a"));
	ck_assert(list_next(&list, &element) && str_is(element, "b"));
	ck_assert(list_next(&list, &element) && str_is(element, "c"));
	ck_assert(!list_next(&list, &element));
}
END_TEST

#define CLIENT_PORT 40000

static void set_side(__be32 out[4], const char *text)
{
	ck_assert(inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, out) == 1);
}

struct proof {
	const char *what;
	unsigned asked_family, family, state;
	const char *asked_src, *asked_dst, *src, *dst;
	unsigned sport, dport, inode;
	bool proves;
};

#define V4 AF_INET, AF_INET
#define V6 AF_INET6, AF_INET6
#define LOOP4 "127.0.0.1", "127.0.0.1"
#define LOOP6 "::1", "::1"
#define PORTS CLIENT_PORT, PORT

static const struct proof proofs[] = {
	{"the client", V4, TCP_ESTABLISHED, LOOP4, LOOP4, PORTS, 1, true},
	{"done with sending", V4, TCP_FIN_WAIT2, LOOP4, LOOP4, PORTS, 1, true},
	{"IPv6", V6, TCP_ESTABLISHED, LOOP6, LOOP6, PORTS, 1, true},
	{"IPv4 from a socket of IPv6", AF_INET, AF_INET6, TCP_ESTABLISHED, LOOP4,
		"::ffff:127.0.0.1", "::ffff:127.0.0.1", PORTS, 1, true},
	{"orphan", V4, TCP_ESTABLISHED, LOOP4, LOOP4, PORTS, 0, false},
	{"listener", V4, TCP_LISTEN, LOOP4, "0.0.0.0", "0.0.0.0", CLIENT_PORT, 0, 1,
		false},
	{"listener with our addresses", V4, TCP_LISTEN, LOOP4, LOOP4, PORTS, 1, false},
	{"connecting", V4, TCP_SYN_SENT, LOOP4, LOOP4, PORTS, 1, false},
	{"remnant", V4, TCP_TIME_WAIT, LOOP4, LOOP4, PORTS, 1, false},
	{"closed", V4, TCP_CLOSE, LOOP4, LOOP4, PORTS, 1, false},
	{"another source", V4, TCP_ESTABLISHED, LOOP4, "127.0.0.2", "127.0.0.1", PORTS, 1,
		false},
	{"another destination", V4, TCP_ESTABLISHED, LOOP4, "127.0.0.1", "127.0.0.2",
		PORTS, 1, false},
	{"another source port", V4, TCP_ESTABLISHED, LOOP4, LOOP4, CLIENT_PORT + 1, PORT,
		1, false},
	{"another destination port", V4, TCP_ESTABLISHED, LOOP4, LOOP4, CLIENT_PORT,
		PORT + 1, 1, false},
	{"another family", AF_INET, AF_INET6, TCP_ESTABLISHED, LOOP4, LOOP6, PORTS, 1,
		false},
	{"no family", AF_INET, AF_UNIX, TCP_ESTABLISHED, LOOP4, LOOP4, PORTS, 1, false},
};

START_TEST(believes_the_very_socket)
{
	const struct proof *p = &proofs[_i];
	struct inet_diag_req_v2 asked = {.sdiag_family = (__u8)p->asked_family,
		.id = {.idiag_sport = htons(CLIENT_PORT), .idiag_dport = htons(PORT)}};
	struct inet_diag_msg msg = {.idiag_family = (__u8)p->family,
		.idiag_state = (__u8)p->state,
		.idiag_inode = p->inode,
		.id = {.idiag_sport = htons((uint16_t)p->sport),
			.idiag_dport = htons((uint16_t)p->dport)}};

	set_side(asked.id.idiag_src, p->asked_src);
	set_side(asked.id.idiag_dst, p->asked_dst);
	set_side(msg.id.idiag_src, p->src);
	set_side(msg.id.idiag_dst, p->dst);
	ck_assert_msg(sockdiag_proves(&asked, &msg) == p->proves, "%s", p->what);
}
END_TEST

/* ---- the kernel itself ---- */

static int socket_at(struct sockaddr_in *address, bool reuse)
{
	const int on = reuse;
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert(fd >= 0);
	ck_assert(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
	if (bind(fd, (struct sockaddr *)address, sizeof(*address)) < 0) {
		close(fd);
		return -1;
	}
	ck_assert(getsockname(fd, (struct sockaddr *)address, &len) == 0);
	return fd;
}

struct loop {
	int diag, listener, client;
	struct sockaddr_in server, peer; /* addresses of the two ends */
};

/* A request waits in the backlog, its client connected. */
static struct loop send_request(void)
{
	struct loop l = {.diag = sockdiag_open()};

	ck_assert(l.diag >= 0);
	l.server = l.peer = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	l.listener = socket_at(&l.server, true);
	ck_assert(listen(l.listener, 8) == 0);
	l.client = socket_at(&l.peer, true);
	ck_assert(connect(l.client, (struct sockaddr *)&l.server, sizeof(l.server)) == 0);
	ck_assert(send(l.client, "GET", 3, 0) == 3);
	return l;
}

static int accepted_from(const struct loop *l)
{
	int fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC);

	ck_assert(fd >= 0);
	return fd;
}

START_TEST(knows_the_owner)
{
	struct loop l = send_request();
	int fd = accepted_from(&l);
	uid_t uid = 4711;

	ck_assert_int_eq(sockdiag_peer_uid(l.diag, fd, &uid), 0);
	ck_assert_uint_eq(uid, getuid());
	ck_assert(shutdown(l.client, SHUT_WR) == 0);
	ck_assert_int_eq(sockdiag_peer_uid(l.diag, fd, &uid), 0);
	close(l.client);
	ck_assert_int_lt(sockdiag_peer_uid(l.diag, fd, &uid), 0);
	close(fd);
	close(l.listener);
	close(l.diag);
}
END_TEST

/* The client is gone for good, and somebody listens on the port that it had: the kernel
 * answers with that socket. */
START_TEST(takes_no_listener_for_the_client)
{
	struct loop l = send_request();
	struct sockaddr_in any = l.peer;
	const int seconds = 1;
	int fd, service = -1;
	uid_t uid;

	any.sin_addr.s_addr = htonl(INADDR_ANY);
	ck_assert(setsockopt(l.client, IPPROTO_TCP, TCP_LINGER2, &seconds,
			  sizeof(seconds)) == 0);
	close(l.client);
	for (int i = 0; i < 1000 && service < 0; i++) {
		service = socket_at(&any, false);
		if (service < 0)
			usleep(10000);
	}
	ck_assert(service >= 0 && listen(service, 8) == 0);
	fd = accepted_from(&l);
	ck_assert_int_eq(sockdiag_peer_uid(l.diag, fd, &uid), -ENOENT);
	close(fd);
	close(service);
	close(l.listener);
	close(l.diag);
}
END_TEST

/* The client resets its connection, and another one takes its address and port. */
START_TEST(takes_no_successor_for_the_client)
{
	struct loop l = send_request();
	const struct linger reset = {.l_onoff = 1};
	int first, second, next;
	uid_t uid;

	ck_assert(
		setsockopt(l.client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) == 0);
	close(l.client);
	next = socket_at(&l.peer, true);
	ck_assert(connect(next, (struct sockaddr *)&l.server, sizeof(l.server)) == 0);
	first = accepted_from(&l);
	second = accepted_from(&l);
	ck_assert_int_eq(sockdiag_peer_uid(l.diag, first, &uid), -ENOTCONN);
	ck_assert_int_eq(sockdiag_peer_uid(l.diag, second, &uid), 0);
	close(first);
	close(second);
	close(next);
	close(l.listener);
	close(l.diag);
}
END_TEST

struct address {
	const char *text;
	bool loopback;
};

static const struct address addresses[] = {
	{"127.0.0.1", true},
	{"127.255.0.9", true},
	{"128.0.0.1", false},
	{"0.0.0.0", false},
	{"192.0.2.1", false},
	{"::1", true},
	{"::2", false},
	{"::ffff:127.0.0.1", true},
	{"::ffff:192.0.2.1", false},
	{"fe80::1", false},
};

START_TEST(knows_loopback)
{
	const struct address *a = &addresses[_i];
	struct sockaddr_storage storage = {0};
	struct sockaddr_in *v4 = (void *)&storage;
	struct sockaddr_in6 *v6 = (void *)&storage;

	if (inet_pton(AF_INET, a->text, &v4->sin_addr) == 1) {
		storage.ss_family = AF_INET;
	} else {
		ck_assert_int_eq(inet_pton(AF_INET6, a->text, &v6->sin6_addr), 1);
		storage.ss_family = AF_INET6;
	}
	ck_assert_msg(sockdiag_is_loopback(&storage) == a->loopback, "%s", a->text);
}
END_TEST

#define JSON "application/json"
#define SSE "text/event-stream"

struct acceptance {
	const char *accept;
	const char *type;
	bool accepted, named;
};

static const struct acceptance acceptances[] = {
	{NULL, JSON, true, false},
	{"", JSON, true, false},
	{"*/*", JSON, true, false},
	{"application/*", JSON, true, false},
	{"text/*", JSON, false, false},
	{"application/json", JSON, true, true},
	{"Application/JSON", JSON, true, true},
	{"text/event-stream, application/json", SSE, true, true},
	{"text/event-stream;q=0.5, application/json", JSON, true, true},
	{"text/event-stream;q=0.5,application/json", SSE, true, true},
	{"text/html", SSE, false, false},
	{"application/json;q=0", JSON, false, false},
	{"application/json; q=0.0, text/event-stream", JSON, false, false},
	{"application/json; charset=utf-8; q=0.1", JSON, true, true},
	{"application/jsonp", JSON, false, false},
	{"*/*;q=0", SSE, false, false},
};

START_TEST(reads_accept)
{
	const struct acceptance *a = &acceptances[_i];
	struct str accept = str_of(a->accept);

	ck_assert_msg(
		media_type_accepted(accept, a->type) == a->accepted, "%s", a->accept);
	ck_assert_msg(media_type_named(accept, a->type) == a->named, "%s", a->accept);
}
END_TEST

START_TEST(reads_content_type)
{
	ck_assert(media_type_is(STR_LIT("application/json"), JSON));
	ck_assert(media_type_is(STR_LIT("application/json; charset=utf-8"), JSON));
	ck_assert(media_type_is(STR_LIT("APPLICATION/JSON ;x=1"), JSON));
	ck_assert(!media_type_is(STR_LIT("text/plain"), JSON));
	ck_assert(!media_type_is(STR_LIT("text/plain; application/json"), JSON));
	ck_assert(!media_type_is((struct str){NULL, 0}, JSON));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("access");

	check_add_table(tc, judges, judgements);
	check_add_table(tc, lets_guests_in, guests);
	tcase_add_test(tc, tells_who_operates);
	tcase_add_test(tc, makes_another_cookie_of_another_token);
	tcase_add_test(tc, finds_users_and_groups);
	tcase_add_test(tc, knows_its_proxies);
	tcase_add_test(tc, reads_public_hosts);
	tcase_add_test(tc, leaves_out_port_80);
	tcase_add_test(tc, never_takes_an_empty_token);
	tcase_add_test(tc, splits_lists);
	check_add_table(tc, believes_the_very_socket, proofs);
	tcase_add_test(tc, knows_the_owner);
	tcase_add_test(tc, takes_no_listener_for_the_client);
	tcase_add_test(tc, takes_no_successor_for_the_client);
	tcase_set_timeout(tc, 20);
	check_add_table(tc, knows_loopback, addresses);
	check_add_table(tc, reads_accept, acceptances);
	tcase_add_test(tc, reads_content_type);
	return check_run(tc);
}

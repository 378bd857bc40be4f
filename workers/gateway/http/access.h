/*
 * access.h - decides who may connect. Pure.
 *
 * Called by http.c for every request. Reads no socket and no clock: what the kernel knows
 * of the peer (loopback, owner) is an argument. A handler must never loosen a rule;
 * exceptions are in the route table.
 */
#pragma once

#include "common/settings/peers.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ACCESS_MAX_AUTHORITIES 8
#define ACCESS_AUTHORITY_SIZE 280
#define ACCESS_COOKIE_SIZE 65 /* SHA-256 in hexadecimal, and NUL */
#define ACCESS_TOKEN_PROTOCOL "paige.token."

struct access_policy {
	/* "localhost:3000", "127.0.0.1:3000", "[::1]:3000", HOST with the port; without
	 * the port too when it is 80. */
	char authorities[ACCESS_MAX_AUTHORITIES][ACCESS_AUTHORITY_SIZE];
	unsigned authority_count;
	uid_t self;		 /* the daemon's user */
	bool token_mandatory;	 /* HOST is not localhost */
	struct str token;	 /* borrowed; empty means that no token is ever right */
	struct str origins;	 /* ALLOWED_ORIGINS, borrowed */
	struct str public_hosts; /* PUBLIC_HOSTS, borrowed */
	const struct peers *allowed; /* ALLOWED_USERS, ALLOWED_GROUPS; NULL for nobody */
	const struct proxies *proxies; /* TRUSTED_PROXIES; NULL for none */
	/* A browser that has shown the token shows this instead. It is made from the
	 * token, so a new token ends it. */
	char cookie_name[24];
	char cookie[ACCESS_COOKIE_SIZE];
};

/* `host` is the HOST setting. Borrows token and origins. */
void access_policy_init(struct access_policy *policy, struct str host, uint16_t port,
	struct str token, struct str origins);

/* What the kernel proved of the other end when the connection was accepted. */
struct access_peer {
	bool loopback;	/* its address is 127.0.0.0/8 or ::1 */
	bool uid_known; /* a process of this machine holds it; else a stranger */
	uid_t uid;
	struct in6_addr address; /* IPv4 in its mapped form */
};

/* What a request says about itself. Missing values are absent. */
struct access_request {
	struct str host;
	struct str origin;
	struct str fetch_site; /* Sec-Fetch-Site, which browsers send and pages cannot */
	struct str authorization;
	struct str cookie;    /* Cookie, lists joined by semicolons */
	bool proxied;	      /* a header shows that a proxy forwarded it */
	struct str protocols; /* Sec-WebSocket-Protocol, lists joined by commas */
	bool repeated;	      /* a header that may occur only once occurs twice */
	struct access_peer peer;
};

enum access_verdict {
	ACCESS_GRANTED,
	ACCESS_BAD_REQUEST, /* 400 */
	ACCESS_BAD_HOST,    /* 403, as the following */
	ACCESS_BAD_ORIGIN,
	ACCESS_BAD_SITE,
	ACCESS_NO_TOKEN,
};

/* Whether the peer needs no token: on loopback, and of the daemon's own user, root or an
 * allowed one. */
bool access_trusts_peer(
	const struct access_policy *policy, const struct access_peer *peer);

/* Whether the peer is one of TRUSTED_PROXIES: no stranger, but the requests that it forwards need
 * the token. */
bool access_is_proxy(const struct access_policy *policy, const struct access_peer *peer);

/* The rules for a request, by its path. */
enum access_rules {
	ACCESS_RULES_ALL,
	ACCESS_RULES_HOST,  /* /health and /ready: Host alone */
	ACCESS_RULES_LOGIN, /* all but the token, which the request brings */
};

enum access_verdict access_judge(const struct access_policy *policy,
	const struct access_request *request, enum access_rules rules);

/* Whether a granted request comes from a user who may also use paigectl: the daemon's own
 * user, root, or anyone who has shown the token, but not users that are merely allowed to
 * connect. */
bool access_is_operator(
	const struct access_policy *policy, const struct access_request *request);

/* Whether `text` is the token. */
bool access_is_token(const struct access_policy *policy, struct str text);

/* A sentence for the person who was refused; static text. */
const char *access_reason(enum access_verdict verdict);

/* The offered subprotocol that carries the right token, or absent. */
struct str access_token_protocol(
	const struct access_policy *policy, struct str protocols);

/* peers.c - see peers.h. */
#include "common/settings/peers.h"
#include "common/base/alloc.h"
#include <arpa/inet.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

/* Of the database of users, for those whose first group is the one. */
#define MAX_LOOKED_THROUGH 65536

bool list_next(struct str *list, struct str *element)
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

/* ---- users ---- */

static void add(struct peers *out, uid_t uid, const char *setting, struct buf *problems)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->uids[i] == uid)
			return;
	if (out->count < PEERS_MAX_USERS)
		out->uids[out->count++] = uid;
	else
		buf_printf(
			problems, "%s: more than %d users\n", setting, PEERS_MAX_USERS);
}

/* The number that `name` is; false when it is a name. */
static bool as_number(const char *name, unsigned long *number)
{
	if (!*name || strspn(name, "0123456789") != strlen(name) || strlen(name) > 9)
		return false;
	*number = strtoul(name, NULL, 10);
	return true;
}

static void add_user(
	struct peers *out, const char *name, const char *setting, struct buf *problems)
{
	const struct passwd *user = getpwnam(name);
	unsigned long number;

	if (user)
		add(out, user->pw_uid, setting, problems);
	else if (as_number(name, &number))
		add(out, (uid_t)number, setting, problems);
	else
		buf_printf(problems, "%s: there is no user \"%s\"\n", setting, name);
}

static const char users_setting[] = "ALLOWED_USERS", groups_setting[] = "ALLOWED_GROUPS",
		  proxies_setting[] = "TRUSTED_PROXIES";

/* Those whose first group it is are not among its members. */
static void add_first_group(struct peers *out, gid_t gid, struct buf *problems)
{
	const struct passwd *user;

	setpwent();
	for (int i = 0; i < MAX_LOOKED_THROUGH && (user = getpwent()); i++)
		if (user->pw_gid == gid)
			add(out, user->pw_uid, groups_setting, problems);
	endpwent();
}

static void add_group(struct peers *out, const char *name, struct buf *problems)
{
	const struct group *group = getgrnam(name);
	unsigned long number;
	gid_t gid;

	if (!group && as_number(name, &number))
		group = getgrgid((gid_t)number);
	if (!group) {
		buf_printf(
			problems, "%s: there is no group \"%s\"\n", groups_setting, name);
		return;
	}
	gid = group->gr_gid;
	for (char **member = group->gr_mem; *member; member++) {
		const struct passwd *user = getpwnam(*member);

		if (user)
			add(out, user->pw_uid, groups_setting, problems);
	}
	add_first_group(out, gid, problems);
}

void peers_resolve(
	struct str users, struct str groups, struct peers *out, struct buf *problems)
{
	struct str element;

	out->count = 0;
	while (list_next(&users, &element)) {
		AUTO_FREE char *name = xstrndup(element.ptr, element.len);

		add_user(out, name, users_setting, problems);
	}
	while (list_next(&groups, &element)) {
		AUTO_FREE char *name = xstrndup(element.ptr, element.len);

		add_group(out, name, problems);
	}
}

/* ---- proxies ---- */

static bool read_address(const char *text, struct in6_addr *out)
{
	struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	if (inet_pton(AF_INET, text, mapped.s6_addr + 12) == 1) {
		*out = mapped;
		return true;
	}
	return inet_pton(AF_INET6, text, out) == 1;
}

static bool is_this_machine(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static void add_proxy(struct proxies *out, const char *text, struct buf *problems)
{
	struct in6_addr address;

	if (!read_address(text, &address))
		add_user(&out->users, text, proxies_setting, problems);
	else if (is_this_machine(&address))
		buf_printf(problems,
			"%s: %s is this machine: name the user that the proxy runs as\n",
			proxies_setting, text);
	else if (out->count < PEERS_MAX_ADDRESSES)
		out->addresses[out->count++] = address;
	else
		buf_printf(problems, "%s: more than %d addresses\n", proxies_setting,
			PEERS_MAX_ADDRESSES);
}

void proxies_resolve(struct str list, struct proxies *out, struct buf *problems)
{
	struct str element;

	out->users.count = 0;
	out->count = 0;
	while (list_next(&list, &element)) {
		AUTO_FREE char *text = xstrndup(element.ptr, element.len);

		add_proxy(out, text, problems);
	}
}

/* ---- hosts ---- */

static bool take(struct str *text, const char *start)
{
	size_t n = strlen(start);

	if (!str_starts_nocase(*text, start))
		return false;
	*text = (struct str){text->ptr + n, text->len - n};
	return true;
}

bool public_host_read(struct str text, struct public_host *out)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789.-_:[]";

	*out = (struct public_host){0};
	if (take(&text, "http://"))
		out->scheme = STR_LIT("http");
	else if (take(&text, "https://"))
		out->scheme = STR_LIT("https");
	out->authority = text;
	for (size_t i = 0; i < text.len; i++)
		if (!text.ptr[i] || !strchr(allowed, text.ptr[i]))
			return false;
	return text.len > 0 && text.len < 262 && text.ptr[0] != ':';
}

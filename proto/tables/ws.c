/* ws.c - the tables behind ws.h. */
#include "proto/tables/ws.h"
#include "proto/codec/messages.h"
#include <stdlib.h>
#include <string.h>

/* What is passed on to a worker is what its method is asked with. */
#define METHOD(symbol, name, owner, callers, flags, deadline, request, reply, doc)       \
	static inline __attribute__((unused))                                            \
	const struct type *request_of_##symbol(void)                                     \
	{                                                                                \
		return request##_type();                                                 \
	}
#include "proto/catalogue/methods.def"

#define CLIENT_(name_, payload_, doc_) {.name = name_, .payload = payload_, .doc = doc_},

const struct ws_info ws_client_infos[] = {
#define ROUTE(name, method, answer, error, echo, error_audience, doc)                    \
	CLIENT_(name, request_of_##method, doc)
#define FOLLOW(name, audience, may, doc) CLIENT_(name, follow_type, doc)
#define LOCAL(name, type, function, doc) CLIENT_(name, type##_type, doc)
#define IGNORE(name, type, doc) CLIENT_(name, type##_type, doc)
#define STUB(name, type, doc) CLIENT_(name, type##_type, doc)
#include "proto/catalogue/ws.def"
};

const struct ws_info ws_server_infos[] = {
#define SERVER(name_, type_, audience_, doc_)                                            \
	{.name = name_,                                                                  \
		.payload = type_##_type,                                                 \
		.audience = WS_TO_##audience_,                                           \
		.doc = doc_},
#define SERVER_UNSENT(name_, type_, doc_)                                                \
	{.name = name_, .payload = type_##_type, .unsent = true, .doc = doc_},
#include "proto/catalogue/ws.def"
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const size_t ws_client_count = COUNT(ws_client_infos);
const size_t ws_server_count = COUNT(ws_server_infos);

static int by_name(const struct ws_info *infos, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_is(name, infos[i].name))
			return (int)i;
	return -1;
}

int ws_client_by_name(struct str name)
{
	return by_name(ws_client_infos, ws_client_count, name);
}

int ws_server_by_name(struct str name)
{
	return by_name(ws_server_infos, ws_server_count, name);
}

const struct ws_info *ws_server_info(const char *name)
{
	int i = ws_server_by_name((struct str){name, strlen(name)});

	if (i < 0)
		abort();
	return &ws_server_infos[i];
}

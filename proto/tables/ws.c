/* ws.c - the tables behind ws.h. */
#include "proto/tables/ws.h"
#include "proto/codec/messages.h"

/* What is passed on to a worker is what its method is asked with. */
#define METHOD(symbol, name, owner, callers, flags, deadline, request, reply, doc)       \
	static inline __attribute__((unused))                                            \
	const struct type *request_of_##symbol(void)                                     \
	{                                                                                \
		return request##_type();                                                 \
	}
#include "proto/catalogue/methods.def"

#define WS_INFO_(name_, payload_, unsent_, doc_)                                         \
	{.name = name_, .payload = payload_, .unsent = unsent_, .doc = doc_},

const struct ws_info ws_client_infos[] = {
#define ROUTE(name_, method_, answer, audience, error, echo, error_audience, doc_)       \
	WS_INFO_(name_, request_of_##method_, false, doc_)
#define LOCAL(name_, type_, function, doc_) WS_INFO_(name_, type_##_type, false, doc_)
#define IGNORE(name_, type_, doc_) WS_INFO_(name_, type_##_type, false, doc_)
#define STUB(name_, type_, doc_) WS_INFO_(name_, type_##_type, false, doc_)
#include "proto/catalogue/ws.def"
};

const struct ws_info ws_server_infos[] = {
#define SERVER(name_, type_, doc_) WS_INFO_(name_, type_##_type, false, doc_)
#define SERVER_UNSENT(name_, type_, doc_) WS_INFO_(name_, type_##_type, true, doc_)
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

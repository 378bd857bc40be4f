/* ws.c - the tables behind ws.h. */
#include "proto/ws.h"
#include "proto/messages.h"

#define WS_INFO_(name_, type_, unsent_, doc_)                                            \
	{.name = name_, .payload = type_##_type, .unsent = unsent_, .doc = doc_},

const struct ws_info ws_client_infos[] = {
#define CLIENT(name_, type_, doc_) WS_INFO_(name_, type_, false, doc_)
#define SERVER(...)
#include "proto/ws.def"
#undef CLIENT
#undef SERVER
};

const struct ws_info ws_server_infos[] = {
#define CLIENT(...)
#define SERVER(name_, type_, doc_) WS_INFO_(name_, type_, false, doc_)
#define SERVER_UNSENT(name_, type_, doc_) WS_INFO_(name_, type_, true, doc_)
#include "proto/ws.def"
#undef CLIENT
#undef SERVER
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

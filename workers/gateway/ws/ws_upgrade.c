/* ws_upgrade.c - see ws_upgrade.h. */
#include "workers/gateway/ws/ws_upgrade.h"
#include "common/base/log.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/ws/ws_server.h"
#include <errno.h>
#include <event2/buffer.h>
#include <openssl/evp.h>

#define KEY_CHARS 24
#define KEY_BYTES 16
#define SHA1_BYTES 20

int ws_accept_value(struct str key, char out[WS_ACCEPT_SIZE])
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	unsigned char decoded[KEY_CHARS], hash[SHA1_BYTES];
	char joined[KEY_CHARS + sizeof(guid)];

	/* EVP_DecodeBlock counts the padding as data. */
	if (key.len != KEY_CHARS || memcmp(key.ptr + KEY_CHARS - 2, "==", 2) != 0 ||
		key.ptr[KEY_CHARS - 3] == '=' ||
		EVP_DecodeBlock(decoded, (const unsigned char *)key.ptr, KEY_CHARS) !=
			KEY_BYTES + 2)
		return -EINVAL;
	memcpy(joined, key.ptr, KEY_CHARS);
	memcpy(joined + KEY_CHARS, guid, sizeof(guid));
	if (!EVP_Digest(joined, sizeof(joined) - 1, hash, NULL, EVP_sha1(), NULL))
		return -EINVAL;
	EVP_EncodeBlock((unsigned char *)out, hash, SHA1_BYTES);
	return 0;
}

static bool list_has(struct str list, const char *word)
{
	struct str element;

	while (list_next(&list, &element))
		if (str_is_nocase(element, word))
			return true;
	return false;
}

/* Answers what cannot become a window. False when it was. */
static bool check(const struct ws_server *server, struct http_request *r,
	char accept[WS_ACCEPT_SIZE])
{
	const struct http_headers *h = &r->headers;
	struct evkeyvalq *out = evhttp_request_get_output_headers(r->ev);

	if (!list_has(h->upgrade, "websocket") || !list_has(h->connection, "upgrade")) {
		evhttp_add_header(out, "Upgrade", "websocket");
		http_reply_error(r, 426, "This path speaks WebSocket only");
	} else if (!str_eq(h->ws_version, STR_LIT("13"))) {
		evhttp_add_header(out, "Sec-WebSocket-Version", "13");
		http_reply_error(r, 426, "Only version 13 of WebSocket is spoken");
	} else if (ws_accept_value(h->ws_key, accept) < 0) {
		http_reply_error(r, 400, "Sec-WebSocket-Key must be base64 of 16 bytes");
	} else if (list_has(h->ws_protocol, "mcp")) {
		http_reply_error(
			r, 400, "MCP is served at /mcp over HTTP, not over WebSocket");
	} else if (server->stopping || server->count >= WS_MAX_CLIENTS) {
		evhttp_add_header(out, "Retry-After", "5");
		http_reply_error(r, 503, "Too many windows are connected");
	} else {
		return true;
	}
	return false;
}

static void write_handshake(struct buf *out, const char *accept, struct str protocol)
{
	buf_printf(out,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
		"Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n",
		accept);
	if (protocol.ptr)
		buf_printf(out, "Sec-WebSocket-Protocol: %.*s\r\n", STR_ARG(protocol));
	buf_add_str(out, STR_LIT("\r\n"));
}

/* Takes the socket, and what came behind the request. */
static int take_socket(
	struct http_request *r, struct buf *input, struct evhttp_connection **remains)
{
	struct bufferevent *bev =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(r->ev));
	struct evbuffer *buffered = bufferevent_get_input(bev);
	size_t len = evbuffer_get_length(buffered);

	if (len > 0)
		input->len +=
			(size_t)evbuffer_remove(buffered, buf_reserve(input, len), len);
	return http_take_socket(r, remains);
}

void ws_upgrade_to(struct ws_server *server, struct http_request *request,
	void (*on_open)(struct ws_client *client, void *arg), void *arg)
{
	char accept[WS_ACCEPT_SIZE];
	AUTO_BUF handshake = {0}, input = {0};
	struct evhttp_connection *remains;
	struct ws_client *client;
	bool operates = http_is_operator(request);
	const char *path = request->conn ? request->conn->path : NULL;
	int fd;

	if (!check(server, request, accept))
		return;
	write_handshake(&handshake, accept,
		access_token_protocol(
			&server->gateway->access, request->headers.ws_protocol));
	fd = take_socket(request, &input, &remains);
	if (fd < 0) {
		http_reply_error(request, 503, "Too many connections are open");
	} else {
		http_count_answer(path, 101);
		client = ws_client_new(server, fd);
		client->http = remains;
		client->operates = operates;
		log_info("window connected", "connection", "%s", client->id, "windows",
			"%zu", server->count, NULL);
		if (on_open)
			on_open(client, arg);
		ws_client_start(client, buf_str(&handshake), buf_str(&input));
	}
}

void ws_upgrade(struct gateway *g, struct http_request *request)
{
	ws_upgrade_to(g->ws, request, NULL, NULL);
}

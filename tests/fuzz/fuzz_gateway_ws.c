/*
 * fuzz_gateway_ws.c - a window that sends anything: frames, messages, and the way of a
 * message to a worker and back. Even first byte: the rest is what the socket brings. Odd:
 * the rest is the text of one message, cut into fragments by the second byte.
 */
#include "common/base/log.h"
#include "common/loop/jobs.h"
#include "tests/fuzz/bus_stub.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/guard_watch.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/ws/ws_server.h"
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gateway gateway;

static void start(void)
{
	if (gateway.base)
		return;
	signal(SIGPIPE, SIG_IGN);
	log_init("fuzz", LOG_LEVEL_ERROR);
	gateway.base = event_base_new();
	gateway.parsers = jobs_new(gateway.base);
	gateway.ws = ws_server_new(&gateway, ws_message_take);
	gateway.ws->on_close = guard_watch_forget;
}

/* A frame with a mask that changes nothing. */
static void put_frame(struct buf *out, uint8_t first, const uint8_t *data, size_t len)
{
	buf_add_char(out, (char)first);
	if (len < 126) {
		buf_add_char(out, (char)(0x80 | len));
	} else {
		buf_add_char(out, (char)(0x80 | 126));
		buf_add_char(out, (char)(len >> 8));
		buf_add_char(out, (char)len);
	}
	buf_add(out, "\0\0\0\0", 4);
	buf_add(out, data, len);
}

static void put_message(struct buf *out, const uint8_t *data, size_t size, size_t piece)
{
	bool first = true;

	while (first || size > 0) {
		size_t n = piece > 0 && piece < size ? piece : size;

		put_frame(out, (uint8_t)((first ? 1 : 0) | (n == size ? 0x80 : 0)), data,
			n);
		data += n;
		size -= n;
		first = false;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf bytes = {0};
	int ends[2];

	start();
	if (size < 2 || size > 60000 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		return 0;
	if (data[0] % 2)
		put_message(&bytes, data + 2, size - 2, data[1]);
	else
		buf_add(&bytes, data + 1, size - 1);
	ws_client_start(ws_client_new(gateway.ws, ends[0]), STR_LIT(""), buf_str(&bytes));
	stub_answer(data[1] % 2);
	event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	close(ends[1]);
	for (int i = 0; i < 4 && gateway.ws->count > 0; i++)
		event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	stub_answer(false);
	event_base_loop(gateway.base, EVLOOP_NONBLOCK);
	if (gateway.ws->count > 0)
		abort(); /* a window whose socket is gone */
	buf_free(&bytes);
	return 0;
}

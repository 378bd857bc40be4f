/*
 * bus_tap.c - copies of the messages of this worker for `paigectl tap`, as lines in a
 * pipe.
 *
 * Called where calls are begun, answered and failed and where events are published. All
 * workers write to the same pipe: a line is written with one write(2) of at most PIPE_BUF
 * bytes, so lines never mix. Bodies are cut; what finds no room is dropped and counted.
 */
#include "common/bus/bus_private.h"
#include "common/bus/bus_retry.h"
#include "proto/codec/messages.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* Of a body; what is left of PIPE_BUF is for the other fields and for escapes. */
#define BODY_SHOWN 1500

void bus_tap(struct bus *bus, int fd)
{
	if (bus->tap_fd >= 0)
		close(bus->tap_fd);
	bus->tap_fd = fd;
	bus->tap_dropped = 0;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void write_line(struct bus *bus, const struct tapped *t)
{
	AUTO_BUF line = {0};
	ssize_t n;

	proto_encode(tapped_type(), t, &line);
	buf_add_char(&line, '\n');
	if (line.len > PIPE_BUF) {
		struct tapped bare = *t;

		bare.body = (struct str){NULL, 0};
		buf_clear(&line);
		proto_encode(tapped_type(), &bare, &line);
		buf_add_char(&line, '\n');
	}
	n = write(bus->tap_fd, line.data, line.len);
	if (n < 0 && errno == EAGAIN) {
		bus->tap_dropped++;
	} else if (n < 0 && errno != EINTR) {
		close(bus->tap_fd);
		bus->tap_fd = -1;
	}
}

/* Says first how many lines were dropped; they stay counted while there is no room. */
static void tell_dropped(struct bus *bus, struct str at)
{
	uint64_t dropped = bus->tap_dropped;
	struct tapped t = {.kind = TAPPED_DROPPED,
		.has_kind = true,
		.at = at,
		.from = str_of(worker_infos[bus->self].name),
		.dropped = (int64_t)dropped,
		.has_dropped = true};

	bus->tap_dropped = 0;
	write_line(bus, &t);
	if (bus->tap_dropped > 0)
		bus->tap_dropped = dropped;
}

/* Fills in what every line has, and writes it. */
static void tell(struct bus *bus, struct tapped *t, struct str body)
{
	char at[WALL_ISO_SIZE];

	wall_iso(clock_wall(), at);
	if (bus->tap_dropped > 0)
		tell_dropped(bus, str_of(at));
	if (bus->tap_fd < 0)
		return;
	t->has_kind = true;
	t->at = str_of(at);
	t->bytes = (int64_t)body.len;
	t->has_bytes = true;
	if (body.len > BODY_SHOWN)
		body.len = BODY_SHOWN;
	t->body = body;
	write_line(bus, t);
}

static struct str caller(const struct bus_request *request)
{
	return str_of(worker_infos[request->private_->batch->head.caller].name);
}

void bus_tap_call(const struct bus_request *request, struct str method)
{
	struct bus *bus = request->bus;
	struct tapped t = {.kind = TAPPED_CALL, .name = method};

	if (bus->tap_fd < 0)
		return;
	t.from = caller(request);
	t.to = str_of(worker_infos[bus->self].name);
	tell(bus, &t, request->body);
}

void bus_tap_answer(const struct bus_request *request, bool ok, struct str body)
{
	struct bus *bus = request->bus;
	struct tapped t = {.kind = TAPPED_ANSWER, .has_ms = true};
	AUTO_DOC *error = NULL;

	if (bus->tap_fd < 0)
		return;
	t.from = caller(request);
	t.to = str_of(worker_infos[bus->self].name);
	if (request->method < METHOD_COUNT)
		t.name = str_of(method_infos[request->method].name);
	t.ms = (double)(clock_mono().us - request->private_->batch->head.sent_us) / 1e3;
	if (!ok) {
		error = yyjson_read(body.ptr, body.len, 0);
		t.code = str_of(yyjson_get_str(
			yyjson_obj_get(yyjson_doc_get_root(error), "code")));
	}
	tell(bus, &t, body);
}

void bus_tap_failure(struct bus *bus, const struct bus_call *call, enum bus_status status)
{
	const struct method_info *method = &method_infos[call->method];
	struct tapped t = {.kind = TAPPED_FAILURE};

	if (bus->tap_fd < 0)
		return;
	t.from = str_of(worker_infos[bus->self].name);
	t.to = str_of(worker_infos[method->owner].name);
	t.name = str_of(method->name);
	t.code = str_of(bus_failure_code(status));
	tell(bus, &t, call->body);
}

void bus_tap_event(struct bus *bus, struct str topic, struct str body)
{
	struct tapped t = {.kind = TAPPED_EVENT, .name = topic};

	if (bus->tap_fd < 0)
		return;
	t.from = str_of(worker_infos[bus->self].name);
	tell(bus, &t, body);
}

/*
 * worker_control.c - the worker's end of fd 3 (proto/worker.h): packets to and from the
 * supervisor. Called by worker.c on the loop. Never blocks: a packet that does not fit is
 * dropped, and the status is sent again when there is room.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/base/pass_fd.h"
#include "common/loop/timer.h"
#include "common/worker/worker_private.h"
#include "proto/codec/messages.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Of the packet, so that the status fits with reason and confinement. */
#define DETAIL_MAX (WORKER_PACKET_MAX / 2)

static const char *const condition_names[] = {"fine", "degraded", "failing"};

int worker_control_check(void)
{
	int type = 0;
	socklen_t len = sizeof(type);

	if (getsockopt(WORKER_CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return -errno;
	return type == SOCK_SEQPACKET ? 0 : -EPROTOTYPE;
}

/* ---- to the supervisor ---- */

bool worker_control_send(struct worker *w, enum worker_packet_type type, struct str body)
{
	struct worker_packet_header header = {.type = (uint16_t)type,
		.body_bytes = (uint32_t)body.len,
		.generation = w->generation};
	union {
		const char *bytes;
		char *unchanged;
	} from = {.bytes = body.ptr};
	struct iovec parts[2] = {{&header, sizeof(header)}, {from.unchanged, body.len}};
	struct msghdr packet = {.msg_iov = parts, .msg_iovlen = body.len ? 2 : 1};

	return sendmsg(WORKER_CONTROL_FD, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

bool worker_control_send_connects(struct worker *w, int listener, bool uses_network)
{
	struct {
		struct worker_packet_header header;
		struct worker_connects body;
	} packet = {.header = {.type = WORKER_PACKET_CONNECTS,
			    .body_bytes = sizeof(packet.body),
			    .generation = w->generation},
		.body = {.uses_network = uses_network}};

	return pass_fd(
		WORKER_CONTROL_FD, (struct iovec){&packet, sizeof(packet)}, listener);
}

bool worker_ask_supervisor(struct worker *w, int fd)
{
	struct worker_packet_header header = {
		.type = WORKER_PACKET_ASK, .generation = w->generation};

	return pass_fd(WORKER_CONTROL_FD, (struct iovec){&header, sizeof(header)}, fd);
}

void worker_control_send_status(struct worker *w)
{
	struct worker_private *p = w->private_;
	struct worker_status status = {
		.condition = str_of(condition_names[p->condition]),
		.confinement = str_of(p->confinement),
	};
	AUTO_BUF body = {0};

	if (p->reason.len)
		status.reason = buf_str(&p->reason);
	if (p->detail.len && p->detail.len <= DETAIL_MAX)
		status.detail.raw = buf_str(&p->detail);
	proto_encode(worker_status_type(), &status, &body);
	if (!worker_control_send(w, WORKER_PACKET_STATUS, buf_str(&body))) {
		p->status_unsent = errno == EAGAIN;
		if (p->status_unsent)
			event_add(p->control_writable, NULL);
	}
}

static void on_writable(EVENT_UNUSED, void *arg)
{
	struct worker *w = arg;

	if (w->private_->status_unsent) {
		w->private_->status_unsent = false;
		worker_control_send_status(w);
	}
}

/* A process that cannot close connections any more is of no use. */
static void check_connections(struct worker *w)
{
	struct bus_stats stats;

	bus_get_stats(w->bus, &stats);
	if (stats.connections <= BUS_CONNECTIONS_MAX)
		return;
	log_error("connections of the bus are not closed any more", "open", "%lld",
		(long long)stats.connections, "limit", "%d", BUS_CONNECTIONS_MAX, NULL);
	worker_die(w, WORKER_EXIT_INTERNAL);
}

static void on_heartbeat(EVENT_UNUSED, void *arg)
{
	struct worker *w = arg;

	event_add_in_step_ms(w->private_->heartbeat, WORKER_HEARTBEAT_MS);
	check_connections(w);
	worker_control_send(w, WORKER_PACKET_HEARTBEAT, (struct str){NULL, 0});
}

/* ---- from the supervisor ---- */

/* The values by setting id of a JSON object; what is no setting is passed over. They
 * point into the document. */
static void take_values(yyjson_val *object, const char *values[SETTING_COUNT])
{
	yyjson_obj_iter members = yyjson_obj_iter_with(object);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&members))) {
		int id = setting_by_name(
			(struct str){yyjson_get_str(key), yyjson_get_len(key)});

		if (id >= 0)
			values[id] = yyjson_get_str(yyjson_obj_iter_get_val(key));
	}
}

static void take_settings(struct worker *w, struct settings *fresh)
{
	const struct settings *old = w->settings;

	w->settings = settings_snapshot(fresh);
	log_set_level((enum log_level)w->settings->log_level);
	log_info("settings reloaded", NULL);
	if (w->spec->reload)
		w->spec->reload(w);
	settings_unref(old);
}

static void reload(struct worker *w, struct str body)
{
	AUTO_DOC *document = yyjson_read(body.ptr, body.len, 0);
	const char *values[SETTING_COUNT] = {0};
	struct settings fresh;
	AUTO_BUF problems = {0};

	take_values(yyjson_doc_get_root(document), values);
	if (settings_change(&fresh, w->settings, values, &problems) < 0) {
		log_error("settings not reloaded", "problems", "%.*s",
			STR_ARG(buf_str(&problems)), NULL);
		settings_fini(&fresh);
	} else {
		take_settings(w, &fresh);
	}
}

/* `fd` is what came with it, -1 without; taken. */
static void take_packet(struct worker *w, const struct worker_packet_header *header,
	struct str body, int fd)
{
	if (header->generation != w->generation || header->body_bytes != body.len) {
		log_warn("packet of the supervisor ignored", "type", "%u",
			(unsigned)header->type, NULL);
		if (fd >= 0)
			close(fd);
		return;
	}
	if (header->type == WORKER_PACKET_TAP && fd >= 0) {
		bus_tap(w->bus, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	switch (header->type) {
	case WORKER_PACKET_STOP:
		worker_begin_stop(w, "told to");
		break;
	case WORKER_PACKET_RELOAD:
		reload(w, body);
		break;
	case WORKER_PACKET_FLEET:
		if (w->spec->fleet)
			w->spec->fleet(w, body);
		break;
	default:
		log_warn("packet of the supervisor not known", "type", "%u",
			(unsigned)header->type, NULL);
	}
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	struct worker_packet_header header;
	char body[WORKER_PACKET_MAX];
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec parts[2] = {{&header, sizeof(header)}, {body, sizeof(body)}};
	struct msghdr packet = {.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		event_del(w->private_->control);
		worker_begin_stop(w, "the supervisor is gone");
		return;
	}
	if ((size_t)n >= sizeof(header))
		take_packet(w, &header, (struct str){body, (size_t)n - sizeof(header)},
			passed_fd(&packet));
}

void worker_control_init(struct worker *w)
{
	struct worker_private *p = w->private_;
	evutil_make_socket_nonblocking(WORKER_CONTROL_FD);
	p->control = alloc_checked(event_new(
		w->base, WORKER_CONTROL_FD, EV_READ | EV_PERSIST, on_readable, w));
	p->control_writable = alloc_checked(
		event_new(w->base, WORKER_CONTROL_FD, EV_WRITE, on_writable, w));
	p->heartbeat = alloc_checked(evtimer_new(w->base, on_heartbeat, w));
	event_add(p->control, NULL);
	event_add_in_step_ms(p->heartbeat, WORKER_HEARTBEAT_MS);
}

/* ---- without a supervisor ---- */

static void *guard(void *arg)
{
	struct pollfd control = {.fd = WORKER_CONTROL_FD, .events = POLLRDHUP};
	const struct timespec grace = {
		WORKER_ORPHAN_MS / 1000, WORKER_ORPHAN_MS % 1000 * 1000000L};

	while (poll(&control, 1, -1) < 0 && errno == EINTR)
		;
	nanosleep(&grace, NULL);
	_exit(WORKER_EXIT_OK);
	return arg;
}

void worker_control_guard(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, guard, NULL) != 0)
		log_warn("no guard for the end of the supervisor", NULL);
	pthread_attr_destroy(&attributes);
}

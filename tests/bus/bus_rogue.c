/*
 * bus_rogue.c - a worker that was taken over: it stands in the place of a real one, with
 * its keys, and sends what it likes. lib/rogue.mjs puts it there and tells it what to do,
 * over the socket ROGUE_SOCKET, one line each, answered with "done" and numbers:
 *
 *   burst SEED N   attacks N times with the random numbers of SEED: messages, bytes
 *
 *   say JSON       while it is calm, answers every call with that; before, with an error
 *
 *   call WORKER METHOD JSON   calls as it should be: 1 when it was done, 0 when it was
 *                             refused, -1 without an answer; and the milliseconds
 *
 *   hold WORKER N   tries N times to connect to WORKER, to call and to hear it in turn, and
 *                   keeps what it gets: how many
 *
 *   let-go          gives all of that back
 *
 * With ROGUE_CONFINED it is confined as a worker is, and the supervisor makes its
 * connections where it may.
 *
 * Between bursts it is calm: it answers, and publishes beacons.
 */
#include "common/base/clock.h"
#include "common/base/pass_fd.h"
#include "common/bus/rules/bus_folder.h"
#include "common/confine/confine.h"
#include "proto/worker.h"
#include "tests/bus/rogue_make.h"
#include "tests/bus/rogue_wire.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PEERS_MAX 64
#define BEAT_MS 500
#define CALL_MS 10000
#define FLOOD 300
#define HOLD_MAX 20000

enum { REP, PUB, SIDES };

struct peer {
	struct wire wire;
	int side;
};

static struct rogue rogue;
static const char *runtime_dir;
static uint64_t generation;
static int listeners[SIDES], command_fd = -1;
static struct peer peers[PEERS_MAX];
static struct wire to[WORKER_COUNT];
static bool calm = true;
static char said[4096]; /* "": an error */
static unsigned long long messages, bytes;
static uint32_t next_id = 0x80000000u;

static bool chance(unsigned n)
{
	return rogue_chance(&rogue, n);
}

static void socket_path(enum worker_id worker, const char *suffix, char out[108])
{
	if (snprintf(out, 108, "%s/%s/%s", runtime_dir, worker_infos[worker].name,
		    suffix) >= 108)
		exit(WORKER_EXIT_CONFIG);
}

/* ---- the contract with the supervisor ---- */

static void send_packet(enum worker_packet_type type)
{
	struct worker_packet_header header = {
		.type = (uint16_t)type, .generation = generation};

	if (send(WORKER_CONTROL_FD, &header, sizeof(header), MSG_NOSIGNAL) < 0)
		exit(0);
}

static void on_packet(void)
{
	char packet[WORKER_PACKET_MAX];
	struct worker_packet_header header;
	ssize_t n = recv(WORKER_CONTROL_FD, packet, sizeof(packet), MSG_DONTWAIT);

	if (n < (ssize_t)sizeof(header))
		exit(0);
	memcpy(&header, packet, sizeof(header));
	if (header.type == WORKER_PACKET_STOP)
		exit(0);
}

/* ---- those who ask us and listen to us ---- */

static void accept_peer(int side)
{
	int fd = accept4(listeners[side], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct peer *p = peers;

	if (fd < 0)
		return;
	while (p < peers + PEERS_MAX && p->wire.fd >= 0)
		p++;
	if (p == peers + PEERS_MAX) {
		close(fd);
		return;
	}
	p->side = side;
	wire_accept(&p->wire, fd, side == REP ? WIRE_REP : WIRE_PUB);
}

static void sent(const struct buf *message)
{
	messages++;
	bytes += message->len;
}

static void answer(struct peer *p, struct str request)
{
	struct buf out = {0};

	if (request.len < WIRE_ID_BYTES || (!calm && chance(8)))
		return; /* never answered */
	buf_add(&out, request.ptr, WIRE_ID_BYTES);
	if (!calm && chance(30))
		out.data[rng_below(&rogue.rng, WIRE_ID_BYTES)] ^=
			1; /* the answer to another request */
	rogue_reply(&rogue,
		(struct str){request.ptr + WIRE_ID_BYTES, request.len - WIRE_ID_BYTES},
		calm, &out);
	for (int times = !calm && chance(20) ? 3 : 1; times > 0; times--)
		wire_send(&p->wire, buf_str(&out));
	sent(&out);
	if (!calm && chance(40))
		wire_close(&p->wire);
	buf_free(&out);
}

static void serve_peer(struct peer *p)
{
	struct str request;
	size_t at = 0;

	if (!wire_read(&p->wire, 0))
		return;
	while (p->wire.fd >= 0 && wire_take(&p->wire, &request, &at))
		if (p->side == REP)
			answer(p, request);
	if (p->wire.fd >= 0)
		wire_taken(&p->wire, at);
}

static void publish(void)
{
	struct buf out = {0};

	rogue_events(&rogue, calm, &out);
	for (int i = 0; i < PEERS_MAX; i++)
		if (peers[i].wire.fd >= 0 && peers[i].side == PUB)
			wire_send(&peers[i].wire, buf_str(&out));
	sent(&out);
	buf_free(&out);
}

/* Whatever came, once. */
static void turn(int ms)
{
	struct pollfd p[PEERS_MAX + SIDES + 2];
	int count = 0;
	static int64_t beat;
	int64_t now = clock_mono().us / 1000;

	if (now - beat >= BEAT_MS) {
		beat = now;
		send_packet(WORKER_PACKET_HEARTBEAT);
		if (calm)
			publish();
	}
	for (int i = 0; i < PEERS_MAX; i++)
		p[count++] = (struct pollfd){.fd = peers[i].wire.fd, .events = POLLIN};
	for (int i = 0; i < SIDES; i++)
		p[count++] = (struct pollfd){.fd = listeners[i], .events = POLLIN};
	p[count++] = (struct pollfd){.fd = WORKER_CONTROL_FD, .events = POLLIN};
	p[count] = (struct pollfd){.fd = command_fd, .events = POLLIN};
	if (poll(p, (nfds_t)count + (ms > 0), ms) <= 0)
		return;
	for (int i = 0; i < PEERS_MAX; i++)
		if (p[i].revents)
			serve_peer(&peers[i]);
	for (int i = 0; i < SIDES; i++)
		if (p[PEERS_MAX + i].revents)
			accept_peer(i);
	if (p[PEERS_MAX + SIDES].revents)
		on_packet();
}

/* ---- attacks ---- */

static enum worker_id victim(void)
{
	enum worker_id w;

	do
		w = (enum worker_id)rng_below(&rogue.rng, WORKER_COUNT);
	while (w == rogue.self);
	return w;
}

static struct wire *way_to(enum worker_id w)
{
	char path[108];

	socket_path(w, "rep", path);
	if (to[w].fd < 0 && !wire_dial(&to[w], path, WIRE_REQ))
		return NULL;
	return &to[w];
}

static void add_id(struct buf *out)
{
	uint32_t id = ++next_id | 0x80000000u;
	char text[WIRE_ID_BYTES] = {
		(char)(id >> 24), (char)(id >> 16), (char)(id >> 8), (char)id};

	buf_add(out, text, sizeof(text));
}

static void forget_answers(struct wire *w)
{
	struct str message;
	size_t at = 0;

	if (!wire_read(w, 0))
		return;
	while (wire_take(w, &message, &at))
		;
	wire_taken(w, at);
}

/* Frees the request. */
static void send_request(enum worker_id w, struct buf *request)
{
	struct wire *way = way_to(w);

	if (way && wire_send(way, buf_str(request)))
		forget_answers(way);
	sent(request);
	buf_free(request);
}

static void ask(enum worker_id w)
{
	struct buf out = {0};

	if (!way_to(w))
		return;
	add_id(&out);
	rogue_request(&rogue, w, clock_mono().us, &out);
	send_request(w, &out);
}

/* A row of the action log in anybody's name. */
static void fake_row(void)
{
	char now[WALL_ISO_SIZE];
	struct buf out = {0};

	if (rogue.self == WORKER_STORE || !way_to(WORKER_STORE))
		return;
	wall_iso(clock_wall(), now);
	add_id(&out);
	rogue_row(&rogue, now, clock_mono().us, &out);
	send_request(WORKER_STORE, &out);
}

/* Bytes that nng itself must get along with: no greeting, a wrong one, half a message,
 * one that is too long. */
static void break_framing(enum worker_id w)
{
	char path[108], junk[64];
	struct wire x;
	size_t n = rng_below(&rogue.rng, sizeof(junk));

	socket_path(w, chance(2) ? "rep" : "pub", path);
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)rng_next(&rogue.rng);
	if (!wire_dial(&x, path,
		    chance(2) ? WIRE_REQ
			      : (enum wire_protocol)rng_below(&rogue.rng, 256)))
		return;
	if (chance(2)) {
		junk[0] = 1;
		memset(junk + 1, 0, chance(3) ? 0 : 5);
	}
	if (chance(4)) {
		static char big[4 << 20];
		static const char frame[WIRE_FRAME_BYTES] = {
			1, 0, 0, 0, 0, 1, 0x7f, 0, 0};

		wire_send_raw(&x, (struct str){frame, sizeof(frame)});
		wire_send_raw(&x, (struct str){big, rng_below(&rogue.rng, sizeof(big))});
	} else {
		wire_send_raw(&x, (struct str){junk, n});
	}
	messages++;
	bytes += n;
	wire_close(&x);
}

/* Many at once, without looking at the answers. */
static void flood(enum worker_id w)
{
	for (int i = 0; i < FLOOD; i++) {
		struct wire *way = way_to(w);
		struct buf out = {0};

		if (!way)
			return;
		add_id(&out);
		rogue_request(&rogue, w, clock_mono().us, &out);
		wire_send(way, buf_str(&out));
		sent(&out);
		buf_free(&out);
		if (i % 16 == 0)
			turn(0);
	}
	if (chance(2) && to[w].fd >= 0)
		wire_close(&to[w]);
}

/* Connections that are kept open and say nothing. */
static void hoard(enum worker_id w)
{
	static struct wire held[FLOOD];
	char path[108];

	for (int i = 0; i < FLOOD; i++) {
		socket_path(w, i % 2 ? "rep" : "pub", path);
		wire_dial(&held[i], path, i % 2 ? WIRE_REQ : WIRE_SUB);
		if (i % 16 == 0)
			turn(0);
	}
	for (int i = 0; i < FLOOD; i++)
		wire_close(&held[i]);
	messages += FLOOD;
}

static void attack(void)
{
	enum worker_id w = victim();

	switch (rng_below(&rogue.rng, 100)) {
	case 0:
		flood(w);
		break;
	case 1:
		hoard(w);
		break;
	case 2:
	case 3:
	case 4:
		break_framing(w);
		break;
	case 5:
	case 6:
		fake_row();
		break;
	default:
		if (chance(4))
			publish();
		else
			ask(w);
		break;
	}
	turn(0);
}

/* ---- commands ---- */

/* 1: done, 0: refused, -1: no answer in CALL_MS. */
static int call(enum worker_id w, const char *method, const char *body)
{
	int64_t begun = clock_mono().us / 1000;
	char path[108];
	struct buf out = {0};
	struct wire x = {.fd = -1};
	struct str reply;
	size_t at = 0;
	int done = -1;

	socket_path(w, "rep", path);
	add_id(&out);
	rogue_call(&rogue, w, method, body, clock_mono().us, &out);
	while (clock_mono().us / 1000 - begun < CALL_MS) {
		if (x.fd < 0 && (!wire_dial(&x, path, WIRE_REQ) ||
					!wire_send(&x, buf_str(&out)))) {
			turn(20);
			continue;
		}
		turn(0);
		if (wire_read(&x, 5) && wire_take(&x, &reply, &at))
			break;
	}
	if (at > 0)
		done = memmem(reply.ptr, reply.len, "\nR 1 ok ", 8) ? 1 : 0;
	wire_close(&x);
	buf_free(&out);
	return done;
}

static struct wire held[HOLD_MAX];
static int held_count;

static void hold(enum worker_id w, unsigned long long n)
{
	char path[108];

	for (unsigned long long i = 0; i < n && held_count < HOLD_MAX; i++) {
		socket_path(w, i % 2 ? "rep" : "pub", path);
		if (wire_dial(&held[held_count], path, i % 2 ? WIRE_REQ : WIRE_SUB))
			held_count++;
		if (i % 16 == 0)
			turn(0);
	}
}

static void let_go(void)
{
	while (held_count > 0)
		wire_close(&held[--held_count]);
}

static void command(char *line)
{
	unsigned long long seed, n;
	char name[32], method[64], answer_line[80];
	int64_t begun = clock_mono().us / 1000;
	int len, w, done, body = 0;

	if (sscanf(line, "burst %llu %llu", &seed, &n) == 2) {
		rogue.rng = (struct rng){.state = seed};
		messages = bytes = 0;
		calm = false;
		for (; n > 0; n--)
			attack();
		calm = true;
		len = snprintf(answer_line, sizeof(answer_line), "done %llu %llu\n",
			messages, bytes);
	} else if (strncmp(line, "say ", 4) == 0) {
		snprintf(said, sizeof(said), "%s", line + 4);
		rogue.said = str_of(said);
		len = snprintf(answer_line, sizeof(answer_line), "done\n");
	} else if (sscanf(line, "call %31s %63s %n", name, method, &body) == 2 &&
		   (w = worker_by_name(str_of(name))) >= 0) {
		done = call((enum worker_id)w, method, line + body);
		len = snprintf(answer_line, sizeof(answer_line), "done %d %lld\n", done,
			(long long)(clock_mono().us / 1000 - begun));
	} else if (sscanf(line, "hold %31s %llu", name, &n) == 2 &&
		   (w = worker_by_name(str_of(name))) >= 0) {
		hold((enum worker_id)w, n);
		len = snprintf(answer_line, sizeof(answer_line), "done %d\n", held_count);
	} else if (strcmp(line, "let-go") == 0) {
		let_go();
		len = snprintf(answer_line, sizeof(answer_line), "done\n");
	} else {
		exit(WORKER_EXIT_USAGE);
	}
	if (send(command_fd, answer_line, (size_t)len, MSG_NOSIGNAL) != len)
		exit(0);
}

static void read_commands(void)
{
	static char line[4096];
	static size_t have;
	ssize_t n = recv(command_fd, line + have, sizeof(line) - 1 - have, MSG_DONTWAIT);
	char *end;

	if (n == 0)
		exit(0);
	if (n > 0)
		have += (size_t)n;
	line[have] = '\0';
	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		command(line);
		have -= (size_t)(end + 1 - line);
		memmove(line, end + 1, have + 1);
	}
}

static void take_place(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char path[108];

	for (int i = 0; i < WORKER_COUNT; i++) {
		snprintf(path, sizeof(path), "%s/%s", runtime_dir, worker_infos[i].name);
		(void)mkdir(path, 0700);
		to[i].fd = -1;
	}
	for (int i = 0; i < PEERS_MAX; i++)
		peers[i].wire.fd = -1;
	socket_path(rogue.self, "rep", path);
	listeners[REP] = wire_listen(path);
	socket_path(rogue.self, "pub", path);
	listeners[PUB] = wire_listen(path);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", getenv("ROGUE_SOCKET"));
	command_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listeners[REP] < 0 || listeners[PUB] < 0 ||
		connect(command_fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		exit(WORKER_EXIT_INTERNAL);
}

static void be_confined(void)
{
	static char folders[WORKER_COUNT][108];
	const struct confinement nothing = {0};
	struct confine_sockets sockets = {.own = folders[rogue.self]};
	struct {
		struct worker_packet_header header;
		struct worker_connects body;
	} packet = {.header = {.type = WORKER_PACKET_CONNECTS,
			    .body_bytes = sizeof(packet.body),
			    .generation = generation}};
	int connects = -1;

	for (int i = 0; i < WORKER_COUNT; i++) {
		bus_folder(runtime_dir, (enum worker_id)i, folders[i]);
		sockets.others[i] = folders[i];
	}
	confine_apply(&nothing, &sockets, getenv("PAIGE_BROKER") ? &connects : NULL);
	if (connects < 0)
		return;
	if (!pass_fd(
		    WORKER_CONTROL_FD, (struct iovec){&packet, sizeof(packet)}, connects))
		exit(WORKER_EXIT_INTERNAL);
	close(connects);
}

int main(void)
{
	const char *name = getenv("PAIGE_WORKER"), *keys = getenv("PAIGE_BUS_KEYS");
	int self = name ? worker_by_name(str_of(name)) : -1;

	runtime_dir = getenv("PAIGE_RUNTIME_DIR");
	if (self < 0 || !keys || bus_keys_parse(keys, &rogue.keys) < 0 || !runtime_dir ||
		!getenv("ROGUE_SOCKET"))
		return WORKER_EXIT_USAGE;
	signal(SIGPIPE, SIG_IGN);
	rogue.self = (enum worker_id)self;
	generation = strtoull(getenv("PAIGE_GENERATION"), NULL, 16);
	rogue.epoch = strtoull(getenv("PAIGE_EPOCH"), NULL, 16);
	rogue.incarnation = (uint64_t)getpid();
	take_place();
	if (getenv("ROGUE_CONFINED"))
		be_confined();
	send_packet(WORKER_PACKET_READY);
	for (;;) {
		turn(BEAT_MS / 2);
		read_commands();
	}
}

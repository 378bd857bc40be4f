/*
 * stub_worker.c - a worker that keeps proto/worker.h, or breaks it in the way that it is
 * told.
 *
 * For tests of the supervisor only. It knows the contract, and nothing of common/worker.
 * What to do stands in DATA_DIR/modes/<worker>, one word and its argument, read at every
 * start; without the file it behaves.
 */
#include "proto/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEAT_MS 100

extern char **environ;

static const char *name;
static uint64_t generation;
static char mode[64] = "ok";
static char argument[256];

static bool is(const char *wanted)
{
	return strcmp(mode, wanted) == 0;
}

static void say(const char *text)
{
	fprintf(stderr,
		"ts=2026-01-01T00:00:00.000Z level=info worker=%s msg=\"%s\" pid=%d\n",
		name, text, (int)getpid());
}

static void send_packet(enum worker_packet_type type, const char *body)
{
	char packet[WORKER_PACKET_MAX];
	size_t len = strlen(body);
	struct worker_packet_header header = {.type = (uint16_t)type,
		.body_bytes = (uint32_t)len,
		.generation = generation};

	memcpy(packet, &header, sizeof(header));
	memcpy(packet + sizeof(header), body, len);
	if (send(WORKER_CONTROL_FD, packet, sizeof(header) + len, MSG_NOSIGNAL) < 0)
		exit(0);
}

static void read_mode(void)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/modes/%s", getenv("DATA_DIR"), name);
	file = fopen(path, "r");
	if (!file)
		return;
	if (fscanf(file, "%63s %255[^\n]", mode, argument) < 1)
		strcpy(mode, "ok");
	fclose(file);
}

static void on_usr2(int signal)
{
	static const char text[] = "backtrace asked for\n";
	ssize_t n = write(2, text, sizeof(text) - 1);

	(void)n;
	(void)signal;
}

static void on_abort(int signal)
{
	static const char text[] = "backtrace of the abort\n";
	ssize_t n = write(2, text, sizeof(text) - 1);

	(void)n;
	(void)signal;
	_exit(99);
}

static void on_term(int signal)
{
	static const char text[] = "TERM ignored\n";
	ssize_t n = write(2, text, sizeof(text) - 1);

	(void)n;
	(void)signal;
}

/* Writes what the supervisor gave us. */
static void audit(void)
{
	char path[64], target[256], line[512];
	FILE *status = fopen("/proc/self/status", "r");

	for (int fd = 0; fd < 64; fd++) {
		ssize_t n;

		if (status && fd == fileno(status))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		fprintf(stderr, "ts=audit fd %d %s\n", fd, target);
	}
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "Sig", 3) == 0)
			fprintf(stderr, "ts=audit %s", line);
	if (status)
		fclose(status);
	for (char **entry = environ; *entry; entry++)
		fprintf(stderr, "ts=audit env %s\n", *entry);
	fprintf(stderr, "ts=audit session %d group %d\n", (int)(getsid(0) == getpid()),
		(int)(getpgrp() == getpid()));
	fflush(stderr);
}

static void flood(long megabytes)
{
	static char line[1024];

	memset(line, 'x', sizeof(line));
	memcpy(line, "ts=flood ", 9);
	line[sizeof(line) - 1] = '\n';
	for (long i = 0; i < megabytes * 1024; i++)
		fwrite(line, 1, sizeof(line), stderr);
	fflush(stderr);
	fprintf(stderr, "no newline behind this");
	fflush(stderr);
}

/* A descendant that holds our stderr and is in a session of its own. */
static void leave_grandchild(bool own_session)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (own_session)
			setsid();
		signal(SIGTERM, SIG_IGN);
		close(WORKER_CONTROL_FD);
		sleep(20);
		_exit(0);
	}
	fprintf(stderr, "ts=grandchild %d\n", (int)pid);
}

/* What is done before READY. */
static void begin(void)
{
	if (is("exit")) {
		fprintf(stderr, "ts=last words of %s\n", name);
		exit(atoi(argument));
	}
	if (is("exit-after-flood")) {
		flood(2);
		exit(1);
	}
	if (is("audit"))
		audit();
	if (is("flood"))
		flood(atol(argument));
	if (is("grandchild"))
		leave_grandchild(true);
	if (is("child"))
		leave_grandchild(false);
	if (is("raw"))
		fprintf(stderr, "*** stack smashing detected ***: \"quoted\"\n");
	if (is("wrong-packets")) {
		generation ^= 1;
		send_packet(WORKER_PACKET_READY, "");
		generation ^= 1;
		send_packet((enum worker_packet_type)77, "");
		send_packet(WORKER_PACKET_STATUS, "{\"condition\":7}");
		send_packet(WORKER_PACKET_STATUS, "not JSON");
	}
	if (is("slow-start"))
		usleep((useconds_t)atoi(argument) * 1000);
	if (is("ignore-term") || is("ignore-all"))
		signal(SIGTERM, on_term);
	if (is("hang") || is("never-ready")) {
		signal(SIGUSR2, on_usr2);
		signal(SIGABRT, on_abort);
	}
	if (is("hang-hard")) {
		signal(SIGUSR2, on_usr2);
		signal(SIGABRT, SIG_IGN);
	}
}

static void on_packet(void)
{
	char packet[WORKER_PACKET_MAX + 1];
	struct worker_packet_header header;
	ssize_t n = recv(WORKER_CONTROL_FD, packet, WORKER_PACKET_MAX, 0);

	if (n <= 0) {
		say("the supervisor is gone");
		exit(0);
	}
	packet[n] = '\0';
	memcpy(&header, packet, sizeof(header));
	if (header.generation != generation)
		exit(70);
	fprintf(stderr, "ts=packet %d %s\n", header.type, packet + sizeof(header));
	if (header.type != WORKER_PACKET_STOP)
		return;
	if (is("ignore-stop") || is("ignore-term") || is("ignore-all"))
		return;
	if (is("slow-stop"))
		usleep((useconds_t)atoi(argument) * 1000);
	say("stopped");
	exit(0);
}

int main(void)
{
	struct pollfd p = {.fd = WORKER_CONTROL_FD, .events = POLLIN};

	name = getenv("PAIGE_WORKER");
	if (!name || !getenv("PAIGE_GENERATION") || !getenv("DATA_DIR"))
		return WORKER_EXIT_USAGE;
	generation = strtoull(getenv("PAIGE_GENERATION"), NULL, 16);
	read_mode();
	begin();
	if (is("never-ready"))
		for (;;)
			pause();
	send_packet(WORKER_PACKET_READY, "");
	say("ready");
	if (is("status"))
		send_packet(WORKER_PACKET_STATUS, argument);
	if (is("crash-ready")) {
		usleep((useconds_t)atoi(argument) * 1000);
		raise(SIGSEGV);
	}
	if (is("hang") || is("hang-hard"))
		for (;;)
			pause();
	for (;;) {
		int n = poll(&p, 1, BEAT_MS);

		if (n > 0)
			on_packet();
		else if (n == 0)
			send_packet(WORKER_PACKET_HEARTBEAT, "");
	}
}

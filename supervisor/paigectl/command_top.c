/* command_top.c - paigectl top: the workers and what they use, shown again and again. */
#include "common/base/clock.h"
#include "supervisor/paigectl/paigectl.h"
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define ASK_MS 10000
#define EVERY_DEFAULT 2
#define EVERY_MAX 3600

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static void print_head(const struct ctl_status *s)
{
	char up[32], at[WALL_ISO_SIZE], memory[32];
	int64_t rss = s->rss_bytes;
	double cpu = 0;

	for (size_t i = 0; i < s->workers.count; i++) {
		rss += s->workers.items[i].rss_bytes;
		cpu += s->workers.items[i].cpu_percent;
	}
	terminal_age(s->uptime_ms, up);
	terminal_bytes(rss, memory);
	wall_iso(clock_wall(), at);
	printf("Paige %.*s, %.*s for %s, %.8s UTC\n", STR_ARG(s->version),
		STR_ARG(s->state), up, at + 11);
	printf("All processes: %s, %.1f%% of a processor", memory, cpu);
	if (s->has_disk_free_bytes) {
		terminal_bytes(s->disk_free_bytes, memory);
		printf("; %s free on the disk", memory);
	}
	printf("\n\n");
}

static void print_picture(const struct ctl_status *s, bool again)
{
	if (again)
		terminal_clear();
	print_head(s);
	worker_table_print(s);
}

/* One picture. An exit code. */
static int show(const struct options *o, const struct daemon_place *place, bool again)
{
	AUTO_ARENA arena = {0};
	struct ctl_status status;
	AUTO_DOC *doc = NULL;
	int code = client_status(place, ASK_MS, &arena, &status, &doc);

	if (code == PAIGECTL_DONE && options_get(o, "json"))
		code = paigectl_print_message(ctl_status_type(), &status);
	else if (code == PAIGECTL_DONE)
		print_picture(&status, again);
	fflush(stdout);
	return code;
}

/* Until somebody ends it, or the daemon is gone. */
static int watch(const struct options *o, const struct daemon_place *place, long seconds)
{
	const struct sigaction action = {.sa_handler = on_signal};
	int code = PAIGECTL_DONE;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!ended && code == PAIGECTL_DONE) {
		code = show(o, place, true);
		if (!ended && code == PAIGECTL_DONE)
			(void)poll(NULL, 0, (int)seconds * 1000); /* a signal ends it */
	}
	return code;
}

int paigectl_top(const struct options *o)
{
	AUTO_PLACE place = {0};
	long seconds = EVERY_DEFAULT;
	int code = paigectl_number(o, "interval", 1, EVERY_MAX, &seconds);

	if (code == PAIGECTL_DONE)
		code = place_find(o, &place);
	if (code == PAIGECTL_DONE)
		code = isatty(STDOUT_FILENO) && !options_get(o, "once")
			       ? watch(o, &place, seconds)
			       : show(o, &place, false);
	return code;
}

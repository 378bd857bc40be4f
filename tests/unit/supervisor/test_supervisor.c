/* The small pure parts of the supervisor: packets, exit reasons, usage, environment, command
 * lines. */
#include "supervisor/paigectl/logs/log_filter.h"
#include "supervisor/paiged/process/channel.h"
#include "supervisor/paiged/process/environment.h"
#include "supervisor/paiged/process/exit_reason.h"
#include "supervisor/paiged/process/launch.h"
#include "supervisor/paiged/process/usage.h"
#include "supervisor/shared/listener.h"
#include "supervisor/shared/options.h"
#include "tests/check_run.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

/* ---- packets ---- */

#define GENERATION 0x1122334455667788u

static const struct {
	const char *what;
	unsigned type, body_bytes;
	uint64_t generation;
	size_t len; /* of the whole packet */
	int expect;
} packets[] = {
	{"ready", WORKER_PACKET_READY, 0, GENERATION, 16, WORKER_PACKET_READY},
	{"status with a body", WORKER_PACKET_STATUS, 5, GENERATION, 21,
		WORKER_PACKET_STATUS},
	{"empty packet", 0, 0, 0, 0, -1},
	{"a question", WORKER_PACKET_ASK, 0, GENERATION, 16, WORKER_PACKET_ASK},
	{"header cut short", WORKER_PACKET_READY, 0, GENERATION, 15, -1},
	{"body shorter than told", WORKER_PACKET_STATUS, 6, GENERATION, 21, -1},
	{"body longer than told", WORKER_PACKET_STATUS, 4, GENERATION, 21, -1},
	{"body of 4 GiB told", WORKER_PACKET_STATUS, 0xffffffffu, GENERATION, 21, -1},
	{"another generation", WORKER_PACKET_READY, 0, GENERATION + 1, 16, -1},
	{"a type of the other way", WORKER_PACKET_STOP, 0, GENERATION, 16, -1},
	{"a type that is none", 77, 0, GENERATION, 16, -1},
};

START_TEST(checks_packets)
{
	char packet[64] = {0};
	struct worker_packet_header header = {.type = (uint16_t)packets[_i].type,
		.body_bytes = packets[_i].body_bytes,
		.generation = packets[_i].generation};
	struct str body = {0};
	int type;

	memcpy(packet, &header, sizeof(header));
	type = channel_parse(packet, packets[_i].len, GENERATION, &body);
	ck_assert_msg(type == packets[_i].expect, "%s: %d", packets[_i].what, type);
	if (type >= 0)
		ck_assert_uint_eq(body.len, packets[_i].len - 16);
}
END_TEST

/* ---- exit reasons ---- */

static const struct {
	int code, status, spawn_error; /* as siginfo_t has them */
	bool parks;
	const char *text;
} exit_reasons[] = {
	{CLD_EXITED, 0, 0, false, "exit code 0: Finished."},
	{CLD_EXITED, 1, 0, false, "exit code 1"},
	{CLD_EXITED, 64, 0, true,
		"exit code 64: Started with wrong arguments or environment."},
	{CLD_EXITED, 69, 0, false, "exit code 69: Something it depends on is missing."},
	{CLD_EXITED, 78, 0, true,
		"exit code 78: It cannot work with these settings or this data."},
	{CLD_KILLED, 9, 0, false, "killed by signal 9 (Killed)"},
	{CLD_KILLED, 64, 0, false, "killed by signal 64 (Real-time signal 30)"},
	{CLD_DUMPED, 11, 0, false,
		"killed by signal 11 (Segmentation fault), core dumped"},
	{CLD_EXITED, 127, ENOENT, false,
		"could not be started: No such file or directory; its program is not "
		"installed"},
};

START_TEST(tells_exit_reasons)
{
	siginfo_t info = {.si_code = exit_reasons[_i].code};
	struct exit_reason e = {0};
	struct buf text = {0};

	info.si_status = exit_reasons[_i].status;
	exit_reason_set(&e, &info, exit_reasons[_i].spawn_error, (struct wall){1});
	exit_reason_print(&e, &text);
	buf_add_char(&text, '\0');
	ck_assert_str_eq(text.data, exit_reasons[_i].text);
	ck_assert_int_eq(exit_reason_parks(&e), exit_reasons[_i].parks);
	buf_free(&text);
}
END_TEST

/* ---- usage ---- */

START_TEST(reads_proc_stat)
{
	static const char text[] =
		"123 (a) b (c) R 1 123 123 0 -1 4194560 700 0 3 0 250 50 0 0 20 0 1 0 99 "
		"12345678 1000 18446744073709551615 1 1 0 0 0";
	struct usage usage = {0};

	ck_assert_int_eq(usage_parse(text, 100, 4096, &usage), 0);
	ck_assert_int_eq(usage.cpu_ms, 3000);
	ck_assert_int_eq(usage.rss_bytes, 4096000);
	ck_assert_int_lt(usage_parse("123 nonsense", 100, 4096, &usage), 0);
	ck_assert_int_lt(usage_parse("123 (a) R 1", 100, 4096, &usage), 0);
	ck_assert_int_eq(usage_read(getpid(), &usage), 0);
	ck_assert_int_gt(usage.rss_bytes, 0);
}
END_TEST

START_TEST(percents_are_of_the_time_between)
{
	const struct usage_sample sample = {.at = {1000000}, .cpu_ms = 100};

	ck_assert(usage_percent(sample, (struct mono){3000000}, 1100) == 50);
	ck_assert(usage_percent(sample, (struct mono){1000000}, 1100) == 0);
	ck_assert(usage_percent(sample, (struct mono){3000000}, 50) == 0);
}
END_TEST

/* ---- environment ---- */

static const char *find(char **environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

/* Each worker gets what it needs, and no secret that it does not. */
START_TEST(environments_hold_no_foreign_secret)
{
	char *const inherited[] = {(char[]){"PATH=/bin"}, (char[]){"GH_TOKEN=t"},
		(char[]){"AWS_SECRET=s"}, (char[]){"ANTHROPIC_API_KEY=outer"},
		(char[]){"PAIGE_TOKEN=forged"}, (char[]){"NOTIFY_SOCKET=/n"},
		(char[]){"LC_ALL=C"}, (char[]){"PAIGE_TEST=1"}, NULL};
	struct settings settings;
	struct buf problems = {0};
	struct environment_given given = {.settings = &settings,
		.runtime_dir = "/r",
		.token = "token",
		.epoch = 1,
		.generation = 2,
		.listen_count = 2,
		.port = 4711};
	enum worker_id id = (enum worker_id)_i;
	struct buf changes = {0};
	char **environment;
	yyjson_doc *document;
	yyjson_val *told;

	setenv("PROJECT_DIR", "/p", 1);
	setenv("ANTHROPIC_API_KEY", "key", 1);
	setenv("PORT", "0", 1);
	ck_assert_int_eq(settings_load_environment(&settings, &problems), 0);
	environment = environment_for(id, &given, inherited);
	ck_assert_str_eq(find(environment, "PATH"), "/bin");
	ck_assert_str_eq(find(environment, "LC_ALL"), "C");
	ck_assert_str_eq(find(environment, "PAIGE_TEST"), "1");
	ck_assert_str_eq(find(environment, "PAIGE_WORKER"), worker_infos[id].name);
	ck_assert_str_eq(find(environment, "PAIGE_GENERATION"), "0000000000000002");
	ck_assert_str_eq(find(environment, "PAIGE_RUNTIME_DIR"), "/r");
	ck_assert_str_eq(find(environment, "PORT"), "4711");
	ck_assert_str_eq(find(environment, "MEMORY"), "embedded");
	ck_assert_ptr_null(find(environment, "NOTIFY_SOCKET"));
	/* Not where it would be handed on to other programs. */
	ck_assert(!find(environment, "GLIBC_TUNABLES") ==
		  (id == WORKER_LLM || id == WORKER_AGENT));
	if (id == WORKER_LLM)
		ck_assert_str_eq(find(environment, "ANTHROPIC_API_KEY"), "key");
	else
		ck_assert_ptr_null(find(environment, "ANTHROPIC_API_KEY"));
	if (id == WORKER_LLM || id == WORKER_AGENT) {
		ck_assert_str_eq(find(environment, "GH_TOKEN"), "t");
	} else {
		ck_assert_ptr_null(find(environment, "GH_TOKEN"));
		ck_assert_ptr_null(find(environment, "AWS_SECRET"));
	}
	if (id == WORKER_GATEWAY) {
		ck_assert_str_eq(find(environment, "PAIGE_TOKEN"), "token");
		ck_assert_str_eq(find(environment, "PAIGE_LISTEN_FDS"), "2");
	} else {
		ck_assert_ptr_null(find(environment, "PAIGE_TOKEN"));
	}
	environment_free(environment);
	environment_changes(id, &settings, &changes);
	document = yyjson_read(changes.data, changes.len, 0);
	told = yyjson_doc_get_root(document);
	ck_assert(yyjson_equals_str(yyjson_obj_get(told, "LOG_LEVEL"), "info"));
	ck_assert_ptr_null(yyjson_obj_get(told, "PORT"));
	ck_assert(!yyjson_obj_get(told, "ANTHROPIC_API_KEY") == (id != WORKER_LLM));
	yyjson_doc_free(document);
	buf_free(&changes);
	settings_fini(&settings);
	buf_free(&problems);
}
END_TEST

/* ---- command lines ---- */

static const struct {
	enum command_id command;
	const char *argv[6];
	const char *expect; /* "name=value name operand|", or "!" and the problem */
} command_lines[] = {
	{COMMAND_PAIGED, {"paiged"}, "|"},
	{COMMAND_PAIGED, {"paiged", "--config", "f"}, "config=f|"},
	{COMMAND_PAIGED, {"paiged", "-cf", "--check"}, "config=f check|"},
	{COMMAND_PAIGED, {"paiged", "--config"}, "!--config needs an argument"},
	{COMMAND_PAIGED, {"paiged", "--nonsense"}, "!no such option: --nonsense"},
	{COMMAND_PAIGED, {"paiged", "--chek"},
		"!no such option: --chek; is --check meant?"},
	{COMMAND_STATUS, {"status", "--jsno"},
		"!no such option: --jsno; is --json meant?"},
	{COMMAND_LOGS, {"logs", "--levle=warn"},
		"!no such option: --levle=warn; is --level meant?"},
	{COMMAND_LOGS, {"logs", "--follow=x"},
		"!--follow=x: the option takes no argument"},
	{COMMAND_LOGS, {"logs", "--=x"}, "!no such option: --=x"},
	{COMMAND_PAIGED, {"paiged", "-x"}, "!no such option: -x"},
	{COMMAND_PAIGED, {"paiged", "x"}, "!what is \"x\" for?"},
	{COMMAND_PAIGED, {"paiged", "--json"}, "!no such option: --json"},
	{COMMAND_LOGS, {"logs", "gateway", "-n", "3"}, "lines=3|gateway"},
	{COMMAND_LOGS, {"logs", "-f", "store", "--level=warn", "llm"},
		"follow level=warn|store llm"},
	{COMMAND_LOGS, {"logs", "--", "-f"}, "|-f"},
	{COMMAND_STATUS, {"status", "--json", "--config=c"}, "json config=c|"},
};

START_TEST(reads_command_lines)
{
	char *argv[7] = {0};
	struct options o;
	struct buf seen = {0}, problem = {0};
	int argc = 0;

	for (; command_lines[_i].argv[argc]; argc++)
		argv[argc] = strdup(command_lines[_i].argv[argc]);
	if (options_read(&o, command_lines[_i].command, argc, argv, &problem) != 0) {
		buf_printf(&seen, "!%.*s", STR_ARG(buf_str(&problem)));
	} else {
		for (size_t i = 0; i < o.count; i++)
			buf_printf(&seen, "%s%s%s%s", i ? " " : "", o.given[i][0],
				*o.given[i][1] ? "=" : "", o.given[i][1]);
		buf_add_char(&seen, '|');
		for (int i = 0; i < o.operand_count; i++)
			buf_printf(&seen, "%s%s", i ? " " : "", o.operands[i]);
	}
	buf_add_char(&seen, '\0');
	ck_assert_str_eq(seen.data, command_lines[_i].expect);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	buf_free(&seen);
	buf_free(&problem);
}
END_TEST

/* ---- logs ---- */

#define NOW 1764417600000000 /* microseconds: 2025-11-29T12:00:00.000Z */

static const struct {
	const char *text, *iso; /* NULL: refused */
} times[] = {
	{"2026-11-29", "2026-11-29T00:00:00.000Z"},
	{"2026-11-29T12:30", "2026-11-29T12:30:00.000Z"},
	{"2026-11-29 12:30:05", "2026-11-29T12:30:05.000Z"},
	{"2026-11-29T12:30:05Z", "2026-11-29T12:30:05.000Z"},
	{"2026-11-29T12:30:05.250", "2026-11-29T12:30:05.250Z"},
	{"2026-11-29T12:30:05.250Z", "2026-11-29T12:30:05.250Z"},
	{"2024-02-29", "2024-02-29T00:00:00.000Z"},
	{"0s", "2025-11-29T12:00:00.000Z"},
	{"90s", "2025-11-29T11:58:30.000Z"},
	{"10m", "2025-11-29T11:50:00.000Z"},
	{"2h", "2025-11-29T10:00:00.000Z"},
	{"3d", "2025-11-26T12:00:00.000Z"},
	{"36500d", "1970-01-01T00:00:00.000Z"},
	{"36501d", NULL},
	{"99999999999999999999s", NULL},
	{"2026-02-29", NULL},
	{"2026-13-01", NULL},
	{"2026-11-29T24:01", NULL},
	{"2026-11-29T12:30:61", NULL},
	{"2026/11/29", NULL},
	{"2026-11-29T12", NULL},
	{"-5m", NULL},
	{"5", NULL},
	{"5 m", NULL},
	{"m", NULL},
	{"", NULL},
	{"yesterday", NULL},
};

START_TEST(reads_times)
{
	char iso[WALL_ISO_SIZE];
	int error = log_filter_time(times[_i].text, (struct wall){NOW}, iso);

	ck_assert_msg(error == (times[_i].iso ? 0 : -EINVAL), "%s", times[_i].text);
	if (times[_i].iso)
		ck_assert_str_eq(iso, times[_i].iso);
}
END_TEST

/* A terminal of 80 columns shows the help of each command without breaking its lines. */
START_TEST(help_fits_a_terminal)
{
	struct buf help = {0};
	size_t column = 0;

	options_print_help((enum command_id)_i, &help);
	ck_assert_uint_gt(help.len, 0);
	for (size_t i = 0; i < help.len; i++) {
		column = help.data[i] == '\n' ? 0 : column + 1;
		ck_assert_msg(column < 80, "%s: %.*s", command_infos[_i].name, (int)i,
			help.data);
	}
	buf_free(&help);
}
END_TEST

/* No two options of a command share a letter or a name. */
START_TEST(options_are_unambiguous)
{
	for (int command = 0; command < COMMAND_COUNT; command++) {
		for (size_t i = 0; i < option_count; i++) {
			for (size_t j = i + 1; j < option_count; j++) {
				const struct option_info *a = &option_infos[i],
							 *b = &option_infos[j];

				if (!option_applies(a, (enum command_id)command) ||
					!option_applies(b, (enum command_id)command))
					continue;
				ck_assert_int_ne(a->letter, b->letter);
				ck_assert_str_ne(a->name, b->name);
			}
		}
	}
}
END_TEST

/* ---- the listener ---- */

static const struct {
	const char *host;
	size_t count;
	const char *url; /* without the port; NULL: refused */
} hosts[] = {
	{"localhost", 2, "http://localhost:"},
	{"127.0.0.1", 1, "http://127.0.0.1:"},
	{"127.0.0.2", 1, "http://127.0.0.2:"},
	{"::1", 1, "http://[::1]:"},
	{"[::1]", 1, "http://[::1]:"},
	{"0.0.0.0", 1, "http://0.0.0.0:"},
	{"no.such.host.invalid", 0, NULL},
	{"203.0.113.1", 0, NULL},
};

START_TEST(listens_on_all_addresses_of_a_host)
{
	struct listener l, again;
	struct buf text = {0};
	int error = listener_open(&l, hosts[_i].host, 0, &text);

	if (!hosts[_i].url) {
		ck_assert_int_ne(error, 0);
		ck_assert_ptr_nonnull(memmem(
			text.data, text.len, hosts[_i].host, strlen(hosts[_i].host)));
		buf_free(&text);
		return;
	}
	ck_assert_int_eq(error, 0);
	ck_assert_uint_eq(l.count, hosts[_i].count);
	ck_assert_int_gt(l.port, 0);
	listener_url(&l, hosts[_i].host, &text);
	ck_assert_int_eq(strncmp(text.data, hosts[_i].url, strlen(hosts[_i].url)), 0);
	buf_clear(&text);
	ck_assert_int_eq(
		listener_open(&again, hosts[_i].host, l.port, &text), -EADDRINUSE);
	ck_assert_ptr_nonnull(memmem(text.data, text.len, "EADDRINUSE", 10));
	listener_close(&l);
	buf_free(&text);
}
END_TEST

/* ---- launch ---- */

static void let_pidfd_open_fail(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {COUNT(rules), rules};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

START_TEST(a_worker_that_cannot_be_watched_is_ended_and_reaped)
{
	char *const environment[] = {NULL};
	const struct launch_request request = {.program = "/bin/cat",
		.environment = environment,
		.directory = "/",
		.generation = GENERATION,
		.log_fd = STDERR_FILENO};
	struct launched launched;

	let_pidfd_open_fail();
	ck_assert_int_eq(launch_worker(&request, &launched), -EMFILE);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("supervisor");

	check_add_table(tests, checks_packets, packets);
	check_add_table(tests, tells_exit_reasons, exit_reasons);
	tcase_add_test(tests, reads_proc_stat);
	tcase_add_test(tests, percents_are_of_the_time_between);
	tcase_add_loop_test(tests, environments_hold_no_foreign_secret, 0, WORKER_COUNT);
	check_add_table(tests, reads_command_lines, command_lines);
	check_add_table(tests, reads_times, times);
	tcase_add_loop_test(tests, help_fits_a_terminal, 0, COMMAND_COUNT);
	tcase_add_test(tests, options_are_unambiguous);
	check_add_table(tests, listens_on_all_addresses_of_a_host, hosts);
	tcase_add_test(tests, a_worker_that_cannot_be_watched_is_ended_and_reaped);
	return check_run(tests);
}

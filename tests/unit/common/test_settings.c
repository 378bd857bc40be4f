/* Settings: the format of files, precedence, rules, directories (FR-005, FR-006). */
#include "common/settings/envfile.h"
#include "common/settings/nearest.h"
#include "common/settings/settings.h"
#include "common/settings/settings_paths.h"
#include "common/settings/settings_snapshot.h"
#include "tests/check_run.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a scratch directory that is also the current one, and a clean environment ---- */

static char scratch[64];

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void set_up(void)
{
	clearenv();
	strcpy(scratch, "/tmp/paige-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	ck_assert_int_eq(chdir(scratch), 0);
	ck_assert_int_eq(mkdir("project", 0700), 0);
	setenv("HOME", scratch, 1);
	ck_assert_int_eq(mkdir(".config", 0700), 0);
	ck_assert_int_eq(mkdir(".config/paige", 0700), 0);
	setenv("PROJECT_DIR", "project", 1);
	setenv("ANTHROPIC_API_KEY", "sk-very-secret", 1);
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	ck_assert_int_eq(system(command), 0);
}

/* Loads; the problems (or warnings) as text, to be freed. */
static char *load(const char *config, struct settings *s, int *result)
{
	struct buf problems = {0};

	*result = settings_load(s, config, &problems);
	buf_add_char(&problems, '\0');
	return problems.data;
}

/* ---- envfile ---- */

static const struct {
	const char *what, *text,
		*expect; /* items as "KEY=value|", malformed lines as "!line|" */
} files[] = {
	{"empty", "", ""},
	{"plain", "A=1\nB=2", "A=1|B=2|"},
	{"comments and blank lines", "# x\n\n ; y\n  \nA=1 \n", "A=1|"},
	{"blanks around", "  A \t=\t1 2  \n", "A=1 2|"},
	{"export", "export A=1\nexport=2\n", "A=1|export=2|"},
	{"single quotes", "A=' x\\n $ \" '\n", "A= x\\n $ \" |"},
	{"double quotes", "A=\" x \\\" \\\\ \\$ \\` \\n '\"\n", "A= x \" \\ $ ` \\n '|"},
	{"quoted pieces", "A='a b'\"c\"d\n", "A=a bcd|"},
	{"quotes over lines", "A=\"x\ny\"\nB=1\n", "A=x\ny|B=1|"},
	{"line joined in quotes", "A=\"x\\\ny\"\n", "A=xy|"},
	{"continued line", "A=x\\\ny\nB=1\n", "A=xy|B=1|"},
	{"escaped blank is kept", "A=x\\ \n", "A=x |"},
	{"comment behind a value", "A=1 # one\nB=a#b\nC=#c\nD= # none\n",
		"A=1|B=a#b|C=#c|D=|"},
	{"comment behind quotes", "A='1' # one\nB=2\n", "A=1|B=2|"},
	{"hash in quotes", "A='1 # one'\n", "A=1 # one|"},
	{"CR LF", "A=1\r\n\r\nB='x\r\ny'\r\n", "A=1|B=x\ny|"},
	{"byte order mark",
		"\xef\xbb\xbf"
		"A=1\n",
		"A=1|"},
	{"empty value", "A=\nB=\"\"\n", "A=|B=|"},
	{"equals sign in the value", "A=b=c\n", "A=b=c|"},
	{"last one in the file without a line end", "A=x\\", "A=x|"},
	{"no equals sign", "A=1\nhello\nB=2\n", "A=1|!2|B=2|"},
	{"no key", "=1\nB=2\n", "!1|B=2|"},
	{"key with a dash", "A-B=1\nB=2\n", "!1|B=2|"},
	{"open quote", "A=1\nB='x\ny\n", "A=1|!2|"},
	{"line numbers count joined lines", "A=\"x\ny\"\n?\n", "A=x\ny|!3|"},
};

START_TEST(reads_files)
{
	struct envfile f = {.text = str_of(files[_i].text)};
	struct buf seen = {0};
	struct str key, value;
	enum envfile_item item;

	while ((item = envfile_next(&f, &key, &value)) != ENVFILE_END) {
		if (item == ENVFILE_MALFORMED)
			buf_printf(&seen, "!%d|", f.line);
		else
			buf_printf(&seen, "%.*s=%.*s|", STR_ARG(key), STR_ARG(value));
	}
	buf_add_char(&seen, '\0');
	ck_assert_msg(strcmp(seen.data, files[_i].expect) == 0,
		"%s: got \"%s\", expected \"%s\"", files[_i].what, seen.data,
		files[_i].expect);
	buf_free(&seen);
	envfile_fini(&f);
}
END_TEST

/* ---- defaults and precedence ---- */

START_TEST(defaults_hold)
{
	struct settings s;
	struct buf text = {0};
	int result;
	char *problems = load(NULL, &s, &result);

	ck_assert_str_eq(problems, "");
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(s.port, 3000);
	ck_assert_str_eq(s.host, "localhost");
	ck_assert_int_eq(s.log_level, 1);
	ck_assert(s.observer_min_confidence == 0.7);
	ck_assert_int_eq(settings_source(&s, SETTING_ID_port), SETTING_DEFAULT);
	ck_assert_int_eq(
		settings_source(&s, SETTING_ID_project_dir), SETTING_ENVIRONMENT);
	settings_print(&s, SETTING_ID_observer_min_confidence, false, &text);
	ck_assert(str_is(buf_str(&text), "0.7"));
	buf_free(&text);
	settings_fini(&s);
	free(problems);
}
END_TEST

/* Every default of the table keeps its own rule; MEMORY's is found by another setting. */
START_TEST(every_default_is_valid)
{
	const struct setting_info *info = setting_info((enum setting_id)_i);
	struct settings s, again;
	struct buf text = {0};
	int result;
	char *problems;

	if (info->flags & SETTING_REQUIRED)
		return;
	free(load(NULL, &s, &result));
	settings_print(&s, (enum setting_id)_i, true, &text);
	buf_add_char(&text, '\0');
	if (text.len > 1)
		setenv(info->name, text.data, 1);
	problems = load(NULL, &again, &result);
	ck_assert_str_eq(problems, "");
	ck_assert(!settings_differ(&s, &again, (enum setting_id)_i));
	free(problems);
	buf_free(&text);
	settings_fini(&s);
	settings_fini(&again);
}
END_TEST

START_TEST(environment_before_dotenv_before_config)
{
	struct settings s;
	int result;

	write_file("paige.conf", "PORT=1\nIDLE_TIMEOUT_MS=1\nMAX_IDLE_MS=1\n");
	write_file(".env", "PORT=2\nIDLE_TIMEOUT_MS=2\n");
	setenv("PORT", "3", 1);
	free(load("paige.conf", &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(s.port, 3);
	ck_assert_int_eq(s.idle_timeout_ms, 2);
	ck_assert_int_eq(s.max_idle_ms, 1);
	ck_assert_int_eq(settings_source(&s, SETTING_ID_port), SETTING_ENVIRONMENT);
	ck_assert_int_eq(settings_source(&s, SETTING_ID_idle_timeout_ms), SETTING_DOTENV);
	ck_assert_int_eq(
		settings_source(&s, SETTING_ID_max_idle_ms), SETTING_CONFIG_FILE);
	settings_fini(&s);
}
END_TEST

START_TEST(without_config_the_users_own_file_is_read)
{
	struct settings s;
	char *other;
	int result;

	write_file(".config/paige/paige.conf", "PORT=1\nIDLE_TIMEOUT_MS=1\n");
	write_file(".env", "PORT=2\n");
	free(load(NULL, &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(s.port, 2);
	ck_assert_int_eq(s.idle_timeout_ms, 1);
	ck_assert_ptr_nonnull(strstr(settings_origin(&s, SETTING_ID_port), "/.env"));
	ck_assert_ptr_nonnull(strstr(settings_origin(&s, SETTING_ID_idle_timeout_ms),
		"/.config/paige/paige.conf"));
	ck_assert_str_eq(settings_origin(&s, SETTING_ID_host), "default");
	settings_fini(&s);

	ck_assert_int_eq(mkdir("other", 0700), 0);
	ck_assert_int_eq(mkdir("other/paige", 0700), 0);
	write_file("other/paige/paige.conf", "IDLE_TIMEOUT_MS=3\n");
	setenv("XDG_CONFIG_HOME", "other", 1);
	free(load(NULL, &s, &result));
	ck_assert_msg(s.idle_timeout_ms == 1, "a relative one counts for nothing");
	settings_fini(&s);
	other = realpath("other", NULL);
	setenv("XDG_CONFIG_HOME", other, 1);
	free(other);
	free(load(NULL, &s, &result));
	ck_assert_int_eq(s.idle_timeout_ms, 3);
	settings_fini(&s);

	write_file("mine.conf", "MAX_IDLE_MS=4\n");
	free(load("mine.conf", &s, &result));
	ck_assert_int_eq(s.max_idle_ms, 4);
	ck_assert_msg(s.idle_timeout_ms == 300000, "--config takes the place of it");
	settings_fini(&s);
}
END_TEST

/* What the coached project holds; `commands` are run in the scratch directory. */
static const struct {
	const char *what, *commands, *cwd, *project;
	bool ignored;
} in_projects[] = {
	{"in it", "", "project", ".", true},
	{"below it", "mkdir project/a", "project/a", "..", true},
	{"beside it", "", "beside", "../project", false},
	{"above it", "", ".", "project", false},
	{"beside one whose name begins alike", "mkdir project-x", "project-x",
		"../project", false},
	{"in it by a link to the project", "ln -s project link", "link", "../project",
		true},
	{"the project is a link", "ln -s project link", "project", "../link", true},
	{"a link beside it leads into it",
		"touch project/x; ln -s ../project/x beside/.env", "beside", "../project",
		true},
	{"a link in it leads out of it", "touch beside/x; ln -s ../beside/x project/.env",
		"project", ".", true},
	{"by home", "", "project", "~/project", true},
};

START_TEST(the_project_configures_nothing)
{
	char *problems, command[200];
	struct settings s;
	int result;

	ck_assert_int_eq(mkdir("beside", 0700), 0);
	snprintf(command, sizeof(command), "%s%strue", in_projects[_i].commands,
		in_projects[_i].commands[0] ? ";" : "");
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(chdir(in_projects[_i].cwd), 0);
	write_file(".env", "ANTHROPIC_BASE_URL=http://evil\nAGENT_COMMAND=evil\n"
			   "HOST=0.0.0.0\nMEMORY=chroma\nHOSTT=1\n");
	setenv("PROJECT_DIR", in_projects[_i].project, 1);
	problems = load(NULL, &s, &result);
	ck_assert_msg(result == 0, "%s: %s", in_projects[_i].what, problems);
	buf_add_char(&s.warnings, '\0');
	ck_assert_msg(!strcmp(s.agent_command, "evil") == !in_projects[_i].ignored, "%s",
		in_projects[_i].what);
	if (in_projects[_i].ignored) {
		ck_assert_str_eq(s.host, "localhost");
		ck_assert_str_eq(s.anthropic_base_url, "https://api.anthropic.com");
		ck_assert_ptr_nonnull(strstr(s.warnings.data,
			"put HOST, ANTHROPIC_BASE_URL, MEMORY, AGENT_COMMAND into "));
		ck_assert_ptr_nonnull(
			strstr(s.warnings.data, "/.config/paige/paige.conf\n"));
		ck_assert_ptr_null(strstr(s.warnings.data, "HOSTT"));
	}
	free(problems);
	settings_fini(&s);
	ck_assert_int_eq(chdir(scratch), 0);
}
END_TEST

START_TEST(what_a_project_says_for_itself_is_no_problem)
{
	struct settings s;
	int result;

	setenv("PROJECT_DIR", ".", 1);
	write_file("project/.env", "DATABASE_URL=x\nPORT\n");
	ck_assert_int_eq(chdir("project"), 0);
	free(load(NULL, &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(s.warnings.len, 0);
	settings_fini(&s);
	ck_assert_int_eq(chdir(scratch), 0);
}
END_TEST

START_TEST(a_file_that_names_its_own_directory_as_project_names_none)
{
	struct settings s;
	char *problems;
	int result;

	unsetenv("PROJECT_DIR");
	write_file(".env", "PROJECT_DIR=.\n");
	problems = load(NULL, &s, &result);
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_nonnull(strstr(problems, "PROJECT_DIR is not set"));
	free(problems);
	settings_fini(&s);
	write_file(".config/paige/paige.conf", "PROJECT_DIR=project\n");
	free(load(NULL, &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_str_eq(settings_origin(&s, SETTING_ID_project_dir), s.config_path);
	settings_fini(&s);
}
END_TEST

START_TEST(the_users_own_file_in_the_project_counts_only_when_it_is_named)
{
	struct settings s;
	int result;

	setenv("PROJECT_DIR", ".config", 1);
	write_file(".config/paige/paige.conf", "PORT=7\n");
	free(load(NULL, &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(s.port, 3000);
	buf_add_char(&s.warnings, '\0');
	ck_assert_ptr_nonnull(strstr(s.warnings.data, "start with --config FILE"));
	settings_fini(&s);
	free(load(".config/paige/paige.conf", &s, &result));
	ck_assert_int_eq(s.port, 7);
	settings_fini(&s);
}
END_TEST

START_TEST(an_empty_value_wins_and_means_the_default)
{
	struct settings s;
	int result;

	write_file(".env", "PORT=2\n");
	setenv("PORT", " \t", 1);
	free(load(NULL, &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(s.port, 3000);
	settings_fini(&s);
}
END_TEST

static const struct {
	const char *url, *memory;
	int expect;
} memories[] = {
	{NULL, NULL, MEMORY_EMBEDDED},
	{"http://localhost:8000", NULL, MEMORY_CHROMA},
	{"", NULL, MEMORY_EMBEDDED},
	{NULL, "chroma", MEMORY_CHROMA},
	{"http://localhost:9", "embedded", MEMORY_EMBEDDED},
};

START_TEST(memory_follows_chromadb_url)
{
	struct settings s;
	int result;

	if (memories[_i].url)
		setenv("CHROMADB_URL", memories[_i].url, 1);
	if (memories[_i].memory)
		setenv("MEMORY", memories[_i].memory, 1);
	free(load(NULL, &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(s.memory, memories[_i].expect);
	ck_assert_str_eq(s.chromadb_url, memories[_i].url && *memories[_i].url
						 ? memories[_i].url
						 : "http://localhost:8000");
	settings_fini(&s);
}
END_TEST

/* ---- rules ---- */

static const struct {
	const char *name, *value;
	bool fine;
} values[] = {
	{"PORT", "0", true},
	{"PORT", " 65535 ", true},
	{"PORT", "65536", false},
	{"PORT", "-1", false},
	{"PORT", "12abc", false},
	{"PORT", "0x10", false},
	{"PORT", "1e3", false},
	{"PORT", "80.0", false},
	{"PORT", "+80", false},
	{"PORT", "8 0", false},
	{"PORT", "99999999999999999999", false},
	{"OBSERVER_MIN_CONFIDENCE", "1", true},
	{"OBSERVER_MIN_CONFIDENCE", ".5", true},
	{"OBSERVER_MIN_CONFIDENCE", "5e-1", true},
	{"OBSERVER_MIN_CONFIDENCE", "1.5", false},
	{"OBSERVER_MIN_CONFIDENCE", "nan", false},
	{"OBSERVER_MIN_CONFIDENCE", "inf", false},
	{"OBSERVER_MIN_CONFIDENCE", "0x1p-1", false},
	{"OBSERVER_MIN_CONFIDENCE", "0,5", false},
	{"LOG_LEVEL", "warn", true},
	{"LOG_LEVEL", "loud", false},
	{"LOG_LEVEL", "WARN", false},
	{"LOG_LEVEL", "debug info", false},
	{"HOST", "a\nb", false},
	{"ANTHROPIC_BASE_URL", "http://127.0.0.1:9", true},
	{"ANTHROPIC_BASE_URL", "localhost:9", false},
	{"ANTHROPIC_BASE_URL", "h", false},
	{"ANTHROPIC_BASE_URL", "https://", false},
	{"ANTHROPIC_BASE_URL", "https:///v1", false},
	{"ANTHROPIC_BASE_URL", "https://:443", false},
	{"ANTHROPIC_BASE_URL", "https://user@/v1", false},
	{"ANTHROPIC_BASE_URL", "https://host/?key=1", false},
	{"ANTHROPIC_BASE_URL", "https://host/#v1", false},
	{"ANTHROPIC_BASE_URL", "https://my host", false},
	{"ANTHROPIC_BASE_URL", "https://user:pass@host:8443/claude", true},
	{"ANTHROPIC_BASE_URL", "http://[::1]:9", true},
	{"DATA_DIR", "~bob/x", false},
	{"DATA_DIR", "/dev/null/x", false},
	{"DATA_DIR", "/dev/null", false},
};

START_TEST(values_keep_their_rules)
{
	struct settings s;
	int result;
	char *problems;

	setenv(values[_i].name, values[_i].value, 1);
	problems = load(NULL, &s, &result);
	ck_assert_msg((result == 0) == values[_i].fine, "%s=%s: %d %s", values[_i].name,
		values[_i].value, result, problems);
	if (!values[_i].fine)
		ck_assert_msg(
			strncmp(problems, values[_i].name, strlen(values[_i].name)) ==
					0 &&
				strchr(problems, '\n') == problems + strlen(problems) - 1,
			"one line that begins with the name: %s", problems);
	free(problems);
	settings_fini(&s);
}
END_TEST

START_TEST(all_problems_are_in_one_list)
{
	struct settings s;
	int result;
	char *problems;

	setenv("PORT", "70000", 1);
	setenv("ANTHROPIC_API_KEY", " \t ", 1);
	setenv("LOG_LEVEL", "loud", 1);
	setenv("PROJECT_DIR", "nowhere", 1);
	setenv("TIMEBOX_MS", "9", 1);
	problems = load("no-such-file", &s, &result);
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_nonnull(strstr(problems, "PORT=\"70000\" (environment): must be a "
					       "whole number from 0 to 65535\n"));
	ck_assert_ptr_nonnull(
		strstr(problems, "ANTHROPIC_API_KEY is not set. It is required"));
	ck_assert_ptr_nonnull(strstr(problems, "LOG_LEVEL=\"loud\" (environment): must "
					       "be one of: debug info warn error\n"));
	ck_assert_ptr_nonnull(strstr(problems, "PROJECT_DIR: nowhere does not exist\n"));
	ck_assert_ptr_nonnull(strstr(problems, "--config no-such-file: cannot be read"));
	ck_assert_ptr_null(strstr(problems, "TIMEBOX_MS"));
	ck_assert_int_eq(s.timebox_ms, 9);
	ck_assert_int_eq(s.port, 3000);
	free(problems);
	settings_fini(&s);
}
END_TEST

START_TEST(a_secret_is_never_shown)
{
	struct settings s;
	struct buf text = {0};
	int result;
	char *problems;

	setenv("ANTHROPIC_API_KEY", "sk-very\x01secret", 1);
	problems = load(NULL, &s, &result);
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_null(strstr(problems, "secret"));
	ck_assert_ptr_nonnull(strstr(problems, "ANTHROPIC_API_KEY=********"));
	free(problems);
	settings_fini(&s);
	setenv("ANTHROPIC_API_KEY", "sk-very-secret", 1);
	free(load(NULL, &s, &result));
	settings_print(&s, SETTING_ID_anthropic_api_key, false, &text);
	ck_assert(str_is(buf_str(&text), "********"));
	settings_print(&s, SETTING_ID_anthropic_api_key, true, &text);
	ck_assert(str_is(buf_str(&text), "********sk-very-secret"));
	buf_free(&text);
	settings_fini(&s);
}
END_TEST

START_TEST(a_worker_may_lack_the_secret)
{
	struct settings s;
	struct buf problems = {0};

	unsetenv("ANTHROPIC_API_KEY");
	ck_assert_int_eq(settings_load_environment(&s, &problems), 0);
	ck_assert_str_eq(s.anthropic_api_key, "");
	ck_assert_str_eq(s.project_dir, "project");
	settings_fini(&s);
	unsetenv("PROJECT_DIR");
	ck_assert_int_eq(settings_load_environment(&s, &problems), -EINVAL);
	settings_fini(&s);
	buf_free(&problems);
}
END_TEST

/* ---- warnings ---- */

#define LONG_NAME "012345678901234567890123456789012345678901234567890123456789abc"

static const struct {
	const char *word, *names[4], *nearest;
} words[] = {
	{"logs", {"list", "logs"}, "logs"},
	{"lgos", {"list", "logs"}, "logs"}, /* two letters changed places */
	{"stats", {"status", "stop"}, "status"},
	{"stauts", {"stop", "status", "restart"}, "status"},
	{"gatway", {"fswatch", "gateway"}, "gateway"},
	{"resart", {"start", "restart"}, "restart"},
	{"cat", {"bat", "rat"}, "bat"}, /* as near: the first one */
	{"top", {"tap"}, "tap"},
	{"x", {"a", "b"}, NULL}, /* every letter is another */
	{"ab", {"xy"}, NULL},
	{"", {"a", ""}, NULL},
	{"nonsense", {"status", "stop"}, NULL},
	{"LOGS", {"logs"}, NULL},
	{LONG_NAME, {LONG_NAME}, LONG_NAME},
	{LONG_NAME "x", {LONG_NAME}, LONG_NAME},
	{LONG_NAME "xy", {LONG_NAME}, NULL}, /* longer than any that is compared */
	{LONG_NAME, {LONG_NAME "x"}, NULL},
};

START_TEST(misspelt_words_find_the_nearest_name)
{
	struct nearest nearest = {.word = str_of(words[_i].word)};

	for (size_t i = 0; i < 4 && words[_i].names[i]; i++)
		nearest_offer(&nearest, words[_i].names[i]);
	if (words[_i].nearest)
		ck_assert_ptr_nonnull(nearest.name);
	ck_assert_msg(words[_i].nearest ? strcmp(nearest.name, words[_i].nearest) == 0
					: !nearest.name,
		"%s: %s", words[_i].word, nearest.name ? nearest.name : "none");
}
END_TEST

START_TEST(misspelt_settings_are_named)
{
	struct settings s;
	int result;

	write_file("paige.conf", "PORTT=1\nCOLOUR=red\n");
	write_file(".env", "OBSERVER_IDEL_MS=5\nDATABASE_URL=x\nhello\n");
	free(load("paige.conf", &s, &result));
	ck_assert_int_eq(result, 0);
	buf_add_char(&s.warnings, '\0');
	ck_assert_str_eq(s.warnings.data,
		"paige.conf line 1: unknown setting PORTT; is PORT meant?\n"
		"paige.conf line 2: unknown setting COLOUR\n"
		".env line 1: unknown setting OBSERVER_IDEL_MS; is OBSERVER_IDLE_MS "
		"meant?\n"
		".env line 3: not a line of the form KEY=value, or a quote is not "
		"closed\n");
	settings_fini(&s);
}
END_TEST

START_TEST(a_malformed_config_file_is_a_problem)
{
	struct settings s;
	int result;
	char *problems;

	write_file("paige.conf", "PORT 1\n");
	problems = load("paige.conf", &s, &result);
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_nonnull(
		strstr(problems, "paige.conf line 1: not a line of the form KEY=value"));
	free(problems);
	settings_fini(&s);
}
END_TEST

START_TEST(an_unreadable_dotenv_is_a_problem)
{
	struct settings s;
	int result;
	char *problems;

	ck_assert_int_eq(mkdir(".env", 0700), 0);
	problems = load(NULL, &s, &result);
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_nonnull(
		strstr(problems, ".env in the current directory cannot be read"));
	free(problems);
	settings_fini(&s);
}
END_TEST

/* ---- directories ---- */

START_TEST(directories_are_resolved)
{
	struct settings s;
	char expect[128];
	int result;
	char *problems;

	ck_assert_int_eq(symlink("project", "link"), 0);
	setenv("PROJECT_DIR", "~/link/.", 1);
	setenv("DATA_DIR", "link/a//./b/", 1);
	setenv("PROMPTS_DIR", "prompts", 1);
	problems = load(NULL, &s, &result);
	ck_assert_str_eq(problems, "");
	snprintf(expect, sizeof(expect), "%s/project", scratch);
	ck_assert_str_eq(s.project_dir, expect);
	ck_assert_ptr_nonnull(strstr(s.project_spelling, "/link/."));
	snprintf(expect, sizeof(expect), "%s/project/a/b", scratch);
	ck_assert_str_eq(s.data_dir, expect);
	/* Every other directory, also one of a default, is absolute and without ~. */
	snprintf(expect, sizeof(expect), "%s/prompts", scratch);
	ck_assert_str_eq(s.prompts_dir, expect);
	snprintf(expect, sizeof(expect), "%s/.cache/paige/use-lite", scratch);
	ck_assert_str_eq(s.embedding_model_dir, expect);
	free(problems);
	settings_fini(&s);
}
END_TEST

START_TEST(data_dir_is_the_same_before_and_after_it_is_made)
{
	struct settings before, after;
	int result;

	ck_assert_int_eq(symlink("project", "link"), 0);
	setenv("DATA_DIR", "link/data", 1);
	free(load(NULL, &before, &result));
	ck_assert_int_eq(mkdir("project/data", 0700), 0);
	free(load(NULL, &after, &result));
	ck_assert_str_eq(before.data_dir, after.data_dir);
	settings_fini(&before);
	settings_fini(&after);
}
END_TEST

START_TEST(a_file_is_no_project)
{
	struct settings s;
	int result;
	char *problems;

	write_file("file", "x");
	setenv("PROJECT_DIR", "file", 1);
	problems = load(NULL, &s, &result);
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_nonnull(strstr(problems, "/file is not a directory"));
	free(problems);
	settings_fini(&s);
}
END_TEST

START_TEST(a_project_is_one_folder_of_many)
{
	struct settings s;
	int result;
	char *problems;

	setenv("PROJECT_DIR", "project/../../..", 1);
	problems = load(NULL, &s, &result);
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_nonnull(
		strstr(problems, "PROJECT_DIR: / is the whole file system"));
	free(problems);
	settings_fini(&s);

	setenv("PROJECT_DIR", "project/..", 1);
	problems = load(NULL, &s, &result);
	ck_assert_int_eq(result, 0);
	buf_add_char(&s.warnings, '\0');
	ck_assert_ptr_nonnull(strstr(s.warnings.data, "is your home directory"));
	free(problems);
	settings_fini(&s);

	setenv("PROJECT_DIR", "project", 1);
	problems = load(NULL, &s, &result);
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(s.warnings.len, 0);
	free(problems);
	settings_fini(&s);
}
END_TEST

START_TEST(the_runtime_directory_is_short)
{
	struct settings s;
	char dir[108], other[108], longest[200];
	int result;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	setenv("DATA_DIR", longest, 1);
	free(load(NULL, &s, &result));
	settings_runtime_dir(&s, dir);
	ck_assert_int_eq(strncmp(dir, "/tmp/paige-", 11), 0);
	setenv("XDG_RUNTIME_DIR", "/no/such/directory", 1);
	settings_runtime_dir(&s, dir);
	ck_assert_int_eq(strncmp(dir, "/tmp/paige-", 11), 0);
	setenv("XDG_RUNTIME_DIR", scratch, 1);
	settings_runtime_dir(&s, dir);
	ck_assert_int_eq(strncmp(dir, scratch, strlen(scratch)), 0);
	ck_assert_uint_eq(strlen(dir), strlen(scratch) + strlen("/paige-") + 16);
	setenv("RUNTIME_DIRECTORY", "/run/paige:/run/other", 1);
	settings_runtime_dir(&s, other);
	ck_assert_str_eq(other, "/run/paige");
	longest[0] = '/';
	setenv("RUNTIME_DIRECTORY", longest, 1);
	settings_runtime_dir(&s, other);
	ck_assert_str_eq(other, dir);
	setenv("XDG_RUNTIME_DIR", longest, 1);
	settings_runtime_dir(&s, other);
	ck_assert_int_eq(strncmp(other, "/tmp/paige-", 11), 0);
	settings_fini(&s);
	setenv("DATA_DIR", "elsewhere", 1);
	free(load(NULL, &s, &result));
	settings_runtime_dir(&s, dir);
	ck_assert_str_ne(dir, other);
	settings_fini(&s);
}
END_TEST

/* ---- addresses ---- */

static const struct {
	const char *name, *given, *expect;
	enum setting_id id;
} addresses[] = {
	{"ANTHROPIC_BASE_URL", "https://a", "https://a", SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/", "https://a", SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a//", "https://a", SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/v1", "https://a",
		SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/v1/", "https://a",
		SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/v1/messages", "https://a",
		SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/v1/messages/", "https://a",
		SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a//v1", "https://a",
		SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/claude/v1", "https://a/claude",
		SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/claude-v1", "https://a/claude-v1",
		SETTING_ID_anthropic_base_url},
	{"ANTHROPIC_BASE_URL", "https://a/messages", "https://a/messages",
		SETTING_ID_anthropic_base_url},
	{"CHROMADB_URL", "http://a:8000/", "http://a:8000", SETTING_ID_chromadb_url},
	{"CHROMADB_URL", "http://a:8000/v1", "http://a:8000/v1", SETTING_ID_chromadb_url},
};

START_TEST(addresses_can_be_joined)
{
	struct settings s;
	int result;

	setenv(addresses[_i].name, addresses[_i].given, 1);
	free(load(NULL, &s, &result));
	ck_assert_int_eq(result, 0);
	ck_assert_str_eq(addresses[_i].id == SETTING_ID_chromadb_url
				 ? s.chromadb_url
				 : s.anthropic_base_url,
		addresses[_i].expect);
	settings_fini(&s);
}
END_TEST

/* ---- snapshots ---- */

START_TEST(a_change_makes_another_snapshot)
{
	const char *changes[SETTING_COUNT] = {[SETTING_ID_model_sonnet] = "new",
		[SETTING_ID_host] = "",
		[SETTING_ID_timebox_ms] = "7"};
	struct buf problems = {0};
	struct settings s;
	const struct settings *old, *now;

	setenv("MODEL_SONNET", "old", 1);
	setenv("MODEL_HAIKU", "kept", 1);
	setenv("HOST", "0.0.0.0", 1);
	ck_assert_int_eq(settings_load_environment(&s, &problems), 0);
	old = settings_snapshot(&s);
	/* Not looked at any more. */
	setenv("MODEL_HAIKU", "other", 1);
	ck_assert_int_eq(settings_change(&s, old, changes, &problems), 0);
	now = settings_ref(settings_snapshot(&s));
	ck_assert_str_eq(old->model_sonnet, "old");
	ck_assert_str_eq(old->host, "0.0.0.0");
	settings_unref(old);
	settings_unref(now);
	ck_assert_str_eq(now->model_sonnet, "new");
	ck_assert_str_eq(now->model_haiku, "kept");
	ck_assert_str_eq(now->host, "localhost");
	ck_assert_int_eq(now->timebox_ms, 7);
	ck_assert_str_eq(now->anthropic_api_key, "sk-very-secret");
	settings_unref(now);
	buf_free(&problems);
}
END_TEST

START_TEST(a_wrong_change_is_refused_by_name)
{
	const char *changes[SETTING_COUNT] = {[SETTING_ID_timebox_ms] = "soon"};
	struct buf problems = {0};
	struct settings s, changed;

	ck_assert_int_eq(settings_load_environment(&s, &problems), 0);
	ck_assert_int_eq(settings_change(&changed, &s, changes, &problems), -EINVAL);
	buf_add_char(&problems, '\0');
	ck_assert_ptr_nonnull(strstr(problems.data, "TIMEBOX_MS=\"soon\""));
	settings_fini(&changed);
	settings_fini(&s);
	buf_free(&problems);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("settings");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	check_add_table(tests, reads_files, files);
	tcase_add_test(tests, defaults_hold);
	tcase_add_loop_test(tests, every_default_is_valid, 0, SETTING_COUNT);
	tcase_add_test(tests, environment_before_dotenv_before_config);
	tcase_add_test(tests, without_config_the_users_own_file_is_read);
	check_add_table(tests, the_project_configures_nothing, in_projects);
	tcase_add_test(tests, what_a_project_says_for_itself_is_no_problem);
	tcase_add_test(tests, a_file_that_names_its_own_directory_as_project_names_none);
	tcase_add_test(
		tests, the_users_own_file_in_the_project_counts_only_when_it_is_named);
	tcase_add_test(tests, an_empty_value_wins_and_means_the_default);
	check_add_table(tests, memory_follows_chromadb_url, memories);
	check_add_table(tests, values_keep_their_rules, values);
	tcase_add_test(tests, all_problems_are_in_one_list);
	tcase_add_test(tests, a_secret_is_never_shown);
	tcase_add_test(tests, a_worker_may_lack_the_secret);
	check_add_table(tests, misspelt_words_find_the_nearest_name, words);
	tcase_add_test(tests, misspelt_settings_are_named);
	tcase_add_test(tests, a_malformed_config_file_is_a_problem);
	tcase_add_test(tests, an_unreadable_dotenv_is_a_problem);
	tcase_add_test(tests, directories_are_resolved);
	tcase_add_test(tests, data_dir_is_the_same_before_and_after_it_is_made);
	tcase_add_test(tests, a_file_is_no_project);
	tcase_add_test(tests, a_project_is_one_folder_of_many);
	tcase_add_test(tests, the_runtime_directory_is_short);
	check_add_table(tests, addresses_can_be_joined, addresses);
	tcase_add_test(tests, a_change_makes_another_snapshot);
	tcase_add_test(tests, a_wrong_change_is_refused_by_name);
	return check_run(tests);
}

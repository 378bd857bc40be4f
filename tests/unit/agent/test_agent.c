/* Tests of what the agent worker decides by itself: workers/agent/{process/{command,environment},
 * folders,history,line_reader,turn}.h. */
#include "tests/check_run.h"
#include "workers/agent/folders.h"
#include "workers/agent/history.h"
#include "workers/agent/idle_driver.h"
#include "workers/agent/process/command.h"
#include "workers/agent/process/environment.h"
#include "workers/agent/process/line_reader.h"
#include "workers/agent/prompts.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))
#define ID "0190b0b0-0000-7000-8000-000000000001"
#define OTHER_ID "0190b0b0-0000-7000-8000-000000000002"

/* ---- command ---- */

static const struct command_case {
	const char *text;
	int error;
	const char *argv[6];
} commands[] = {
	{"claude", 0, {"claude"}},
	{"  claude\t--model  opus ", 0, {"claude", "--model", "opus"}},
	{"a 'b c' \"d 'e'\" f\\ g", 0, {"a", "b c", "d 'e'", "f g"}},
	{"a '' \"\"", 0, {"a", "", ""}},
	{"a b'c d'e", 0, {"a", "bc de"}},
	{"a '\\n' \"\\\"\"", 0, {"a", "\\n", "\""}},
	{"a $HOME ~ * `id`", 0, {"a", "$HOME", "~", "*", "`id`"}},
	{"", -EINVAL, {NULL}},
	{" \t ", -EINVAL, {NULL}},
	{"''", -EINVAL, {NULL}},
	{"a 'b", -EINVAL, {NULL}},
	{"a \"b", -EINVAL, {NULL}},
	{"a \\", -EINVAL, {NULL}},
	{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 "
	 "30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 "
	 "56 57 58 59 60 61 62 63 64 65",
		-E2BIG, {NULL}},
};

START_TEST(splits_commands)
{
	const struct command_case *c = &commands[_i];
	struct arena arena = {0};
	char **argv = NULL;

	ck_assert_msg(command_split(c->text, &arena, &argv) == c->error, "%s", c->text);
	for (int i = 0; c->error == 0 && i < 6; i++) {
		if (!c->argv[i]) {
			ck_assert_msg(!argv[i], "%s: %s", c->text, argv[i]);
			break;
		}
		ck_assert_str_eq(argv[i], c->argv[i]);
	}
	arena_free(&arena);
}
END_TEST

START_TEST(puts_the_session_last)
{
	char *const base[] = {(char[]){"claude"}, (char[]){"--model"}, NULL};
	struct arena arena = {0};
	char **argv;
	size_t n;

	for (int resume = 0; resume < 2; resume++) {
		argv = command_for_session(base,
			&(struct command_session){.id = ID, .resume = resume}, &arena);
		for (n = 0; argv[n]; n++)
			;
		ck_assert_str_eq(argv[0], "claude");
		ck_assert_str_eq(argv[1], "--model");
		ck_assert_str_eq(argv[n - 2], resume ? "--resume" : "--session-id");
		ck_assert_str_eq(argv[n - 1], ID);
	}
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *base[3];
	const char *mcp;
	const char *named; /* what stands behind --mcp-config */
	int count;	   /* how often that stands there */
} mcp_cases[] = {
	{{"claude"}, "/run/mcp.json", "/run/mcp.json", 1},
	{{"claude"}, NULL, NULL, 0},
	{{"claude", "--mcp-config", "own"}, "/run/mcp.json", "own", 1},
	{{"claude", "--mcp-config=own"}, "/run/mcp.json", NULL, 0},
	{{"claude", "--mcp-configuration"}, "/run/mcp.json", "/run/mcp.json", 1},
};

START_TEST(names_mcp_servers_once)
{
	char *base[4] = {NULL};
	struct arena arena = {0};
	const char *named = NULL;
	char **argv;
	int count = 0;

	for (int i = 0; i < 3 && mcp_cases[_i].base[i]; i++)
		base[i] = arena_cstr(&arena, str_of(mcp_cases[_i].base[i]));
	argv = command_for_session(base,
		&(struct command_session){.id = ID, .mcp = mcp_cases[_i].mcp}, &arena);
	for (; *argv; argv++) {
		if (strcmp(*argv, "--mcp-config") != 0)
			continue;
		count++;
		named = argv[1];
	}
	ck_assert_int_eq(count, mcp_cases[_i].count);
	ck_assert_pstr_eq(named, mcp_cases[_i].named);
	arena_free(&arena);
}
END_TEST

/* ---- environment ---- */

START_TEST(keeps_what_is_paiges_from_agents)
{
	char *const inherited[] = {(char[]){"HOME=/h"}, (char[]){"PAIGE_TOKEN=t"},
		(char[]){"ANTHROPIC_API_KEY=k"}, (char[]){"ANTHROPIC_BASE_URL=u"},
		(char[]){"DATA_DIR=/d"}, (char[]){"ODD"}, NULL};
	struct arena arena = {0};
	char **own = environment_for_agent(inherited, false, &arena);
	char **paiges = environment_for_agent(inherited, true, &arena);

	ck_assert_str_eq(own[0], "HOME=/h");
	ck_assert_str_eq(own[1], "ODD");
	ck_assert_ptr_null(own[2]);
	ck_assert_str_eq(paiges[1], "ANTHROPIC_API_KEY=k");
	ck_assert_str_eq(paiges[2], "ANTHROPIC_BASE_URL=u");
	ck_assert_str_eq(paiges[3], "ODD");
	ck_assert_ptr_null(paiges[4]);
	arena_free(&arena);
}
END_TEST

START_TEST(a_file_adds_to_the_environment)
{
	char *const base[] = {(char[]){"HOME=/h"}, (char[]){"LANG=C"}, NULL};
	struct arena arena = {0};
	char **list;
	int line;

	list = environment_with(base,
		STR_LIT("# for agents\nANTHROPIC_API_KEY='a key'\nLANG=de\nLANG=en\n"
			"EMPTY="),
		&arena, &line);
	ck_assert_ptr_nonnull(list);
	ck_assert_str_eq(list[0], "HOME=/h");
	ck_assert_str_eq(list[1], "LANG=en");
	ck_assert_str_eq(list[2], "ANTHROPIC_API_KEY=a key");
	ck_assert_str_eq(list[3], "EMPTY=");
	ck_assert_ptr_null(list[4]);
	ck_assert_str_eq(environment_value(list, "LANG"), "en");
	ck_assert_str_eq(environment_value(list, "EMPTY"), "");
	ck_assert_ptr_null(environment_value(list, "LAN"));
	ck_assert_ptr_null(environment_with(base, STR_LIT("A=1\nB='2\n"), &arena, &line));
	ck_assert_int_eq(line, 2);
	ck_assert_ptr_null(
		environment_with(base, STR_LIT("A=1\n\n1B=2\n"), &arena, &line));
	ck_assert_int_eq(line, 3);
	arena_free(&arena);
}
END_TEST

/* ---- prompts ---- */

static struct prompt *add_prompt(struct prompts *p, struct str content)
{
	struct buf copy = {0};
	struct prompt *one;

	buf_add_str(&copy, content);
	one = prompts_add(p, &copy);
	/* What is not taken is left. */
	ck_assert_uint_eq(copy.len, one ? 0 : content.len);
	buf_free(&copy);
	return one;
}

START_TEST(prompts_are_kept_until_their_turn_has_ended)
{
	struct prompts p, other;
	char uuids[4][UUID_SIZE];

	prompts_init(&p);
	for (int i = 0; i < 4; i++)
		snprintf(uuids[i], UUID_SIZE, "%s",
			add_prompt(&p, STR_LIT("\"x\""))->uuid);
	ck_assert_uint_eq(p.bytes, 12);
	/* Two of them become one turn. */
	prompts_read(&p, str_of(uuids[0]));
	prompts_read(&p, str_of(uuids[1]));
	prompts_read(&p, STR_LIT("somebody else's"));
	ck_assert_uint_eq(prompts_turn_ended(&p), 2);
	/* A program that does not repeat them. */
	ck_assert_uint_eq(prompts_turn_ended(&p), 1);
	ck_assert_str_eq(TAILQ_FIRST(&p.list)->uuid, uuids[3]);
	prompts_move(&p, &other);
	ck_assert_uint_eq(prompts_turn_ended(&p), 0);
	ck_assert_uint_eq(other.bytes, 3);
	prompts_clear(&other);
	ck_assert_uint_eq(other.bytes, 0);
}
END_TEST

START_TEST(what_was_not_taken_up_is_kept)
{
	for (int read = 0; read < 2; read++) {
		struct prompts p;
		char second[UUID_SIZE];

		prompts_init(&p);
		add_prompt(&p, STR_LIT("\"the one that is interrupted\""));
		snprintf(second, sizeof(second), "%s",
			add_prompt(&p, STR_LIT("\"behind\""))->uuid);
		if (read)
			prompts_read(&p, str_of(TAILQ_FIRST(&p.list)->uuid));
		ck_assert(!prompts_aborting(&p));
		prompts_abort(&p);
		ck_assert(prompts_aborting(&p));
		prompts_keep_unread(&p);
		ck_assert(!prompts_aborting(&p));
		ck_assert_str_eq(TAILQ_FIRST(&p.list)->uuid, second);
		ck_assert_ptr_null(TAILQ_NEXT(TAILQ_FIRST(&p.list), link));
		prompts_clear(&p);
	}
}
END_TEST

/* It waits for the end of its program, so no turn of that can be its own. */
START_TEST(what_could_not_be_written_is_no_part_of_a_turn)
{
	struct prompts p;
	struct prompt *behind;

	prompts_init(&p);
	add_prompt(&p, STR_LIT("\"written\""));
	behind = add_prompt(&p, STR_LIT("\"behind\""));
	behind->unwritten = true;
	ck_assert_uint_eq(prompts_turn_ended(&p), 1);
	ck_assert_uint_eq(prompts_turn_ended(&p), 0);
	prompts_abort(&p);
	ck_assert(!prompts_aborting(&p));
	prompts_keep_unread(&p);
	ck_assert_ptr_eq(TAILQ_FIRST(&p.list), behind);
	prompts_clear(&p);
}
END_TEST

/* Who writes a prompt has its content where it is, also when its turn has ended before. */
START_TEST(prompts_are_not_copied)
{
	struct prompts p;
	struct buf content = {0};
	struct prompt *one;
	const char *where;

	buf_add_str(&content, STR_LIT("\"a long one\""));
	where = content.data;
	prompts_init(&p);
	one = prompt_ref(prompts_add(&p, &content));
	ck_assert_ptr_eq(one->content.data, where);
	prompts_drop(&p, one);
	ck_assert_uint_eq(p.bytes, 0);
	ck_assert_ptr_eq(one->content.data, where);
	ck_assert(str_is(buf_str(&one->content), "\"a long one\""));
	prompt_unref(one);
}
END_TEST

START_TEST(prompts_have_a_bound)
{
	struct prompts p;
	char *text = calloc(1, PROMPTS_MAX_BYTES);

	prompts_init(&p);
	ck_assert_ptr_nonnull(add_prompt(&p, (struct str){text, PROMPTS_MAX_BYTES - 1}));
	ck_assert_ptr_null(add_prompt(&p, STR_LIT("ab")));
	ck_assert_ptr_nonnull(add_prompt(&p, STR_LIT("a")));
	prompts_clear(&p);
	free(text);
}
END_TEST

/* ---- folders ---- */

static const struct folder_case {
	const char *asked; /* %s: the root */
	int error;
	const char *name; /* below the root */
} folder_cases[] = {
	{"one", 0, "one"},
	{"one/", 0, "one"},
	{"one/deep", 0, "one/deep"},
	{"%s/one", 0, "one"},
	{"%s/one/../two", 0, "two"},
	{"one/../two", 0, "two"},
	{"inner", 0, "one"},
	{"", -EXDEV, NULL},
	{".", -EXDEV, NULL},
	{"%s", -EXDEV, NULL},
	{"%s/", -EXDEV, NULL},
	{"..", -EXDEV, NULL},
	{"one/../..", -EXDEV, NULL},
	{"%s-twin", -EXDEV, NULL},
	{"/", -EXDEV, NULL},
	{"/no/such/folder", -EXDEV, NULL},
	{"../no-such", -EXDEV, NULL},
	{"outer", -EXDEV, NULL},
	{"outer/tmp", -EXDEV, NULL},
	{"no-such", -ENOENT, NULL},
	{"%s/no-such", -ENOENT, NULL},
	{"file", -ENOTDIR, NULL},
};

static void make_directory(const char *root, const char *name)
{
	char path[64 + PATH_MAX]; /* both */

	snprintf(path, sizeof(path), "%s%s", root, name);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_tree(char root[64])
{
	char path[PATH_MAX];
	int fd;

	strcpy(root, "/tmp/paige-agent-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	make_directory(root, "/two");
	make_directory(root, "/one");
	make_directory(root, "/one/deep");
	make_directory(root, "/.hidden");
	make_directory(root, "-twin");
	snprintf(path, sizeof(path), "%s/inner", root);
	ck_assert_int_eq(symlink("one", path), 0);
	snprintf(path, sizeof(path), "%s/outer", root);
	ck_assert_int_eq(symlink("/", path), 0);
	snprintf(path, sizeof(path), "%s/file", root);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void remove_tree(const char *root)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r '%s' '%s-twin'", root, root);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(opens_folders_inside_the_root_only)
{
	char root[64], asked[PATH_MAX], wanted[PATH_MAX];
	struct folder top, found = {.fd = -1};

	make_tree(root);
	ck_assert_int_eq(folder_open_root(root, &top), 0);
	for (int i = 0; i < COUNT(folder_cases); i++) {
		const struct folder_case *c = &folder_cases[i];
		const char *mark = strstr(c->asked, "%s");
		int r;

		snprintf(asked, sizeof(asked), "%s%s", mark ? root : "",
			mark ? mark + 2 : c->asked);
		r = folder_open(&top, str_of(asked), &found);
		ck_assert_msg(r == c->error, "%s: %d", asked, r);
		if (r < 0)
			continue;
		snprintf(wanted, sizeof(wanted), "%s/%s", root, c->name);
		ck_assert_str_eq(found.path, wanted);
		close(found.fd);
	}
	ck_assert_int_eq(folder_open(&top, (struct str){"one\0x", 5}, &found), -EXDEV);
	close(top.fd);
	remove_tree(root);
}
END_TEST

START_TEST(lists_folders_by_name)
{
	struct arena arena = {0};
	struct strs_of_folders names;
	struct folder top;
	char root[64];

	make_tree(root);
	ck_assert_int_eq(folder_open_root(root, &top), 0);
	names = folder_names(&top, &arena);
	ck_assert_uint_eq(names.count, 2);
	ck_assert_str_eq(names.names[0], "one");
	ck_assert_str_eq(names.names[1], "two");
	close(top.fd);
	arena_free(&arena);
	remove_tree(root);
}
END_TEST

static void make_kept(const char *root, const char *name, time_t changed)
{
	const struct timespec times[2] = {{.tv_sec = changed}, {.tv_sec = changed}};
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/projects/-p-my-app-/%s", root, name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(futimens(fd, times), 0);
	close(fd);
}

START_TEST(finds_the_newest_session_that_was_kept)
{
	struct kept_session kept;
	char root[64];

	make_tree(root);
	ck_assert_str_eq(folder_kept_session(root, "/p/my_app.").id, "");
	make_directory(root, "/projects");
	make_directory(root, "/projects/-p-my-app-");
	make_kept(root, ID ".jsonl", 2000);
	make_kept(root, OTHER_ID ".jsonl", 1000);
	make_kept(root, "notes.jsonl", 3000);
	make_kept(root, OTHER_ID ".json1x", 3000);
	kept = folder_kept_session(root, "/p/my_app.");
	ck_assert_str_eq(kept.id, ID);
	ck_assert_int_eq(kept.changed_ms, 2000000);
	remove_tree(root);
}
END_TEST

START_TEST(finds_the_folder_of_a_session_that_was_kept)
{
	char root[64], path[PATH_MAX];
	struct folder top, found = {.fd = -1};

	make_tree(root);
	ck_assert_int_eq(folder_open_root(root, &top), 0);
	ck_assert_int_eq(folder_of_kept_session(root, &top, ID, &found), -ENOENT);
	make_directory(root, "/projects");
	/* The root begins with "/tmp/paige-agent-" and six letters or digits. */
	snprintf(path, sizeof(path), "/projects/-tmp-paige-agent-%s-one",
		root + sizeof("/tmp/paige-agent-") - 1);
	make_directory(root, path);
	ck_assert_int_eq(folder_of_kept_session(root, &top, ID, &found), -ENOENT);
	snprintf(path, sizeof(path), "%s/projects/-tmp-paige-agent-%s-one/" ID ".jsonl",
		root, root + sizeof("/tmp/paige-agent-") - 1);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(folder_of_kept_session(root, &top, OTHER_ID, &found), -ENOENT);
	ck_assert_int_eq(folder_of_kept_session(root, &top, ID, &found), 0);
	snprintf(path, sizeof(path), "%s/one", root);
	ck_assert_str_eq(found.path, path);
	close(found.fd);
	ck_assert(folder_keeps_session(root, path, ID));
	ck_assert(!folder_keeps_session(root, path, OTHER_ID));
	ck_assert(!folder_keeps_session(root, root, ID));
	close(top.fd);
	remove_tree(root);
}
END_TEST

START_TEST(opens_folders_again)
{
	char root[64], path[PATH_MAX];
	struct folder top, found = {.fd = -1};

	make_tree(root);
	ck_assert_int_eq(folder_open_root(root, &top), 0);
	ck_assert_int_eq(folder_reopen(&top, top.path, &found), 0);
	ck_assert_str_eq(found.path, top.path);
	ck_assert_int_ne(found.fd, top.fd);
	close(found.fd);
	snprintf(path, sizeof(path), "%s/one/deep", root);
	ck_assert_int_eq(folder_reopen(&top, path, &found), 0);
	ck_assert_str_eq(found.path, path);
	close(found.fd);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(folder_reopen(&top, path, &found), -ENOENT);
	ck_assert_int_eq(symlink("/tmp", path), 0);
	ck_assert_int_eq(folder_reopen(&top, path, &found), -EXDEV);
	close(top.fd);
	remove_tree(root);
}
END_TEST

/* ---- history ---- */

START_TEST(forgets_the_oldest_beyond_the_count)
{
	struct history h = {0};
	char text[32];

	for (int i = 0; i < HISTORY_MAX_EVENTS + 5; i++) {
		snprintf(text, sizeof(text), "%d", i);
		history_add(&h, str_of(text));
	}
	ck_assert_uint_eq(h.count, HISTORY_MAX_EVENTS);
	ck_assert_uint_eq(h.dropped, 5);
	ck_assert(str_is(history_at(&h, 0), "5"));
	ck_assert(str_is(history_at(&h, HISTORY_MAX_EVENTS - 1), text));
	history_fini(&h);
}
END_TEST

START_TEST(forgets_the_oldest_beyond_the_bytes)
{
	struct history h = {0};
	char *large = calloc(1, HISTORY_MAX_BYTES);

	history_add(&h, STR_LIT("a"));
	history_add(&h, (struct str){large, HISTORY_MAX_BYTES - 1});
	ck_assert_uint_eq(h.count, 2);
	history_add(&h, STR_LIT("b"));
	ck_assert_uint_eq(h.count, 2);
	history_add(&h, (struct str){large, HISTORY_MAX_BYTES});
	ck_assert_uint_eq(h.count, 1);
	ck_assert_uint_eq(h.bytes, HISTORY_MAX_BYTES);
	ck_assert_uint_eq(h.dropped, 3);
	free(large);
	history_fini(&h);
}
END_TEST

/* ---- lines ---- */

static void note_line(void *arg, struct buf *line)
{
	struct buf *out = arg;

	if (line)
		buf_printf(out, "[%.*s]", (int)line->len, line->data ? line->data : "");
	else
		buf_add_str(out, STR_LIT("!"));
}

struct pausing {
	struct line_reader reader;
	struct buf out;
};

/* Takes the memory of the line and no further line. */
static void note_and_pause(void *arg, struct buf *line)
{
	struct pausing *p = arg;

	note_line(&p->out, line);
	if (line) {
		buf_free(line);
		*line = (struct buf){0};
	}
	ck_assert(!p->reader.paused);
	p->reader.paused = true;
}

static const struct line_case {
	const char *bytes, *lines;
} line_cases[] = {
	{"a\nbc\n", "[a][bc]"},
	{"\n\n", "[][]"},
	{"12345678\n", "[12345678]"},
	{"123456789\nx\n", "![x]"},
	{"12345678901234567890\n\n123456789\n", "![]!"},
	{"last", "[last]"},
	{"123456789", "!"},
	{"", ""},
};

/* However the bytes are cut into pieces. */
START_TEST(cuts_lines)
{
	const struct line_case *c = &line_cases[_i];
	size_t len = strlen(c->bytes);

	for (size_t piece = 1; piece <= len + 1; piece++) {
		struct line_reader r = {.max = 8};
		struct buf out = {0};

		for (size_t at = 0; at < len; at += piece)
			line_reader_feed(&r,
				(struct str){c->bytes + at,
					len - at < piece ? len - at : piece},
				note_line, &out);
		line_reader_end(&r, note_line, &out);
		ck_assert_msg(
			str_is(buf_str(&out), c->lines) || (out.len == 0 && !*c->lines),
			"%s by %zu: %.*s", c->bytes, piece, STR_ARG(buf_str(&out)));
		line_reader_fini(&r);
		buf_free(&out);
	}
}
END_TEST

/* Whoever pauses at each line gets one at a time, the same ones, and nothing is lost. */
START_TEST(pauses_at_each_line)
{
	const struct line_case *c = &line_cases[_i];
	struct pausing p = {.reader.max = 8};
	size_t given = 0;

	line_reader_feed(&p.reader, str_of(c->bytes), note_and_pause, &p);
	while (p.reader.paused) {
		size_t before = p.out.len;

		ck_assert_uint_le(++given, strlen(c->bytes));
		line_reader_resume(&p.reader, note_and_pause, &p);
		ck_assert(p.out.len > before || !p.reader.paused);
	}
	line_reader_end(&p.reader, note_and_pause, &p);
	ck_assert_msg(str_is(buf_str(&p.out), c->lines) || (p.out.len == 0 && !*c->lines),
		"%s: %.*s", c->bytes, STR_ARG(buf_str(&p.out)));
	line_reader_fini(&p.reader);
	buf_free(&p.out);
}
END_TEST

/* ---- turns ---- */

/* Letters: C client comes, c goes, P prompt, o output, r result, x exit, . a tick; a
 * number before it is the time in minutes. Times are kept small on purpose. */
static const struct turn_case {
	const char *what, *script;
	enum idle_driver_verdict last; /* of the last step */
	const char *reason;
	bool in_progress;
} turn_cases[] = {
	{"no client was ever there", "0P 1o 2r 99.", IDLE_DRIVER_NOTHING, "", false},
	{"idle", "0C 0P 1r 1c 6.", IDLE_DRIVER_KILL, "idle timeout", false},
	{"not yet", "0C 1c 5.", IDLE_DRIVER_NOTHING, "", false},
	{"working", "0C 0P 1c 5o 6.", IDLE_DRIVER_RECHECK,
		"kept alive by active-turn: CC is mid-turn", true},
	{"grace", "0C 0P 1c 5o 6. 6r 7.", IDLE_DRIVER_RECHECK,
		"grace period — CC finished working, restarting idle countdown", false},
	{"after the grace", "0C 0P 1c 5o 6. 6r 7. 13.", IDLE_DRIVER_KILL, "idle timeout",
		false},
	{"came back", "0C 1c 3C 9.", IDLE_DRIVER_NOTHING, "", false},
	{"two prompts, one result", "0C 0P 0P 1r 2.", IDLE_DRIVER_NOTHING, "", true},
	{"the exit ends all turns", "0C 0P 0P 1x 2.", IDLE_DRIVER_NOTHING, "", false},
	{"the cap", "0C 0P 1c 8o 16o 24o 31o 32.", IDLE_DRIVER_KILL,
		"safety cap exceeded", true},
};

static int event_of(char letter)
{
	switch (letter) {
	case 'C':
		return IDLE_CLIENT_CONNECTED;
	case 'c':
		return IDLE_CLIENT_DISCONNECTED;
	case 'P':
		return IDLE_PROMPT_WRITTEN;
	case 'o':
		return IDLE_OUTPUT;
	case 'r':
		return IDLE_RESULT;
	default:
		return IDLE_PROCESS_EXIT;
	}
}

START_TEST(drives_the_idle_machine)
{
	const struct turn_case *c = &turn_cases[_i];
	const struct machine_defaults limits = {.idle_timeout_ms = 300000,
		.max_idle_ms = 1800000,
		.stale_output_ms = 600000};
	struct idle_driver_outcome outcome = {0};
	const char *at = c->script;
	struct idle_driver t;

	ck_assert_int_eq(idle_driver_init(&t, &limits), 0);
	while (*at) {
		char *end;
		int64_t now_ms = strtol(at, &end, 10) * 60000;

		outcome = *end == '.' ? idle_driver_tick(&t, now_ms)
				      : idle_driver_event(&t, event_of(*end), now_ms);
		at = end + 1 + strspn(end + 1, " ");
	}
	ck_assert_msg(outcome.verdict == c->last, "%s: %d", c->what, outcome.verdict);
	ck_assert_msg(strcmp(outcome.reason, c->reason) == 0, "%s: %s", c->what,
		outcome.reason);
	ck_assert_msg(idle_driver_in_progress(&t) == c->in_progress, "%s", c->what);
}
END_TEST

/* What clients are told of the next check is what the check then says. */
START_TEST(foresees_the_next_check)
{
	static const struct {
		const char *what;
		int prompts;
		int64_t output_ms; /* the program writes then; 0: never again */
		int64_t check_ms, latest_ms;
		enum idle_driver_verdict verdict;
	} cases[] = {
		{"idle", 0, 0, 300000, 1800001, IDLE_DRIVER_KILL},
		{"working", 1, 200000, 300000, 1800001, IDLE_DRIVER_RECHECK},
	};
	const struct machine_defaults limits = {.idle_timeout_ms = 300000,
		.max_idle_ms = 1800000,
		.stale_output_ms = 600000};

	for (int i = 0; i < COUNT(cases); i++) {
		struct idle_driver_outcome foreseen, said;
		struct idle_driver t;

		ck_assert_int_eq(idle_driver_init(&t, &limits), 0);
		idle_driver_event(&t, IDLE_CLIENT_CONNECTED, 0);
		ck_assert_int_eq(idle_driver_foresee(&t).verdict, IDLE_DRIVER_NOTHING);
		ck_assert(idle_driver_latest(&t) == MACHINE_NEVER);
		for (int k = 0; k < cases[i].prompts; k++)
			idle_driver_event(&t, IDLE_PROMPT_WRITTEN, 0);
		idle_driver_event(&t, IDLE_CLIENT_DISCONNECTED, 0);
		if (cases[i].output_ms)
			idle_driver_event(&t, IDLE_OUTPUT, cases[i].output_ms);
		foreseen = idle_driver_foresee(&t);
		ck_assert_msg(foreseen.verdict == cases[i].verdict, "%s", cases[i].what);
		ck_assert_int_eq(idle_driver_deadline(&t), cases[i].check_ms);
		ck_assert_int_eq(idle_driver_latest(&t), cases[i].latest_ms);
		said = idle_driver_tick(&t, cases[i].check_ms);
		ck_assert_int_eq(said.verdict, foreseen.verdict);
		ck_assert_str_eq(said.reason, foreseen.reason);
		ck_assert_str_ne(said.reason, "");
	}
}
END_TEST

/* A session that works without end ends at the latest when it was said. */
START_TEST(ends_at_the_latest_when_it_said)
{
	const struct machine_defaults limits = {.idle_timeout_ms = 300000,
		.max_idle_ms = 1800000,
		.stale_output_ms = 600000};
	struct idle_driver t;
	int64_t at_ms = 0;
	int checks = 0;

	ck_assert_int_eq(idle_driver_init(&t, &limits), 0);
	idle_driver_event(&t, IDLE_CLIENT_CONNECTED, 0);
	idle_driver_event(&t, IDLE_PROMPT_WRITTEN, 0);
	idle_driver_event(&t, IDLE_CLIENT_DISCONNECTED, 0);
	for (; idle_driver_deadline(&t) != MACHINE_NEVER && checks < 100; checks++) {
		ck_assert_int_eq(idle_driver_latest(&t), 1800001);
		at_ms = idle_driver_deadline(&t);
		idle_driver_event(&t, IDLE_OUTPUT, at_ms - 1);
		idle_driver_tick(&t, at_ms);
	}
	ck_assert_int_eq(at_ms, 1800001);
	ck_assert(idle_driver_latest(&t) == MACHINE_NEVER);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("agent");

	check_add_table(tests, splits_commands, commands);
	tcase_add_test(tests, puts_the_session_last);
	check_add_table(tests, names_mcp_servers_once, mcp_cases);
	tcase_add_test(tests, keeps_what_is_paiges_from_agents);
	tcase_add_test(tests, a_file_adds_to_the_environment);
	tcase_add_test(tests, prompts_are_kept_until_their_turn_has_ended);
	tcase_add_test(tests, what_was_not_taken_up_is_kept);
	tcase_add_test(tests, what_could_not_be_written_is_no_part_of_a_turn);
	tcase_add_test(tests, prompts_are_not_copied);
	tcase_add_test(tests, prompts_have_a_bound);
	tcase_add_test(tests, opens_folders_inside_the_root_only);
	tcase_add_test(tests, lists_folders_by_name);
	tcase_add_test(tests, finds_the_newest_session_that_was_kept);
	tcase_add_test(tests, finds_the_folder_of_a_session_that_was_kept);
	tcase_add_test(tests, opens_folders_again);
	tcase_add_test(tests, forgets_the_oldest_beyond_the_count);
	tcase_add_test(tests, forgets_the_oldest_beyond_the_bytes);
	check_add_table(tests, cuts_lines, line_cases);
	check_add_table(tests, pauses_at_each_line, line_cases);
	check_add_table(tests, drives_the_idle_machine, turn_cases);
	tcase_add_test(tests, foresees_the_next_check);
	tcase_add_test(tests, ends_at_the_latest_when_it_said);
	return check_run(tests);
}

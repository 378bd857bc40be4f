/*
 * settings.c - the settings of config/settings.def: see settings.h.
 *
 * Called once at the start of every program, and by the supervisor again on SIGHUP. Reads
 * the environment and two files; changes nothing anywhere. It must never put a secret
 * into a message.
 */
#include "common/settings.h"
#include "common/peers.h"

#include "common/envfile.h"
#include "common/file_io.h"
#include "common/settings_paths.h"
#include "common/settings_values.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A value as it was found, before it is understood. `text` is the holder's, NULL when
 * nobody set it. */
struct candidate {
	char *text;
	enum setting_source source;
};

#define FILE_MAX_BYTES (1024 * 1024)

/* ---- problems ---- */

/* "PORT="70000" (environment): must be a whole number from 0 to 65535" */
static void problem(struct buf *problems, enum setting_id id, const struct candidate *c,
	const char *rule)
{
	buf_printf(problems, "%s=", setting_info(id)->name);
	setting_show_value(
		id, str_of(c->text ? c->text : setting_info(id)->fallback), problems);
	buf_printf(problems, " (%s): %s\n", setting_source_name(c->source), rule);
}

/* ---- sources ---- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Replaces what a lower source said. Blanks at the ends are never meant, except in the
 * name of a directory; nothing but blanks is empty (P1.4). */
static void propose(struct candidate *c, enum setting_id id, struct str value,
	enum setting_source source)
{
	size_t start = 0, end = value.len;

	while (start < end && is_space(value.ptr[start]))
		start++;
	while (end > start && is_space(value.ptr[end - 1]))
		end--;
	if (setting_info(id)->kind == SETTING_PATH && start < end) {
		start = 0;
		end = value.len;
	}
	free(c->text);
	c->text = strndup(value.ptr + start, end - start);
	if (!c->text)
		abort();
	c->source = source;
}

/* Letters to change, add or take away to make one name of the other (Levenshtein). */
static size_t distance(struct str a, const char *b)
{
	size_t row[64];
	size_t n = strlen(b);

	if (n >= 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = corner + (a.ptr[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

/* The setting that `key` may be a misspelling of, or NULL. */
static const char *nearest_setting(struct str key)
{
	const char *nearest = NULL;
	size_t best = key.len > 64 ? 0 : key.len / 4 + 1;

	for (int i = 0; i < SETTING_COUNT; i++) {
		size_t d = distance(key, setting_info((enum setting_id)i)->name);

		if (d < best || (d == best && !nearest && best > 0)) {
			best = d;
			nearest = setting_info((enum setting_id)i)->name;
		}
	}
	return nearest;
}

static void unknown_key(struct settings *s, struct str key, const char *path, int line,
	enum setting_source source)
{
	const char *nearest = nearest_setting(key);

	if (nearest)
		buf_printf(&s->warnings,
			"%s line %d: unknown setting %.*s; is %s meant?\n", path, line,
			(int)(key.len > 64 ? 64 : key.len), key.ptr, nearest);
	else if (source == SETTING_CONFIG_FILE)
		buf_printf(&s->warnings, "%s line %d: unknown setting %.*s\n", path, line,
			(int)(key.len > 64 ? 64 : key.len), key.ptr);
}

static void read_text(struct settings *s, struct candidate *candidates, struct str text,
	const char *path, enum setting_source source, struct buf *problems)
{
	struct envfile f = {.text = text};
	struct str key = {0}, value = {0};
	enum envfile_item item;

	while ((item = envfile_next(&f, &key, &value)) != ENVFILE_END) {
		int id;

		if (item == ENVFILE_MALFORMED) {
			buf_printf(
				source == SETTING_CONFIG_FILE ? problems : &s->warnings,
				"%s line %d: not a line of the form KEY=value, or a "
				"quote is not closed\n",
				path, f.line);
			continue;
		}
		id = setting_by_name(key);
		if (id < 0)
			unknown_key(s, key, path, f.line, source);
		else if (memchr(value.ptr, '\0', value.len))
			buf_printf(problems, "%s line %d: %s contains a NUL byte\n", path,
				f.line, setting_info(id)->name);
		else
			propose(&candidates[id], (enum setting_id)id, value, source);
	}
	envfile_fini(&f);
}

/* Reads a whole regular file of at most FILE_MAX_BYTES. 0 or -errno. */
static int slurp(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int error;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		error = -errno;
	else if (S_ISDIR(st.st_mode))
		error = -EISDIR;
	else
		error = file_read_all(fd, FILE_MAX_BYTES, out);
	close(fd);
	return error;
}

static void read_file(struct settings *s, struct candidate *candidates, const char *path,
	enum setting_source source, struct buf *problems)
{
	struct buf text = {0};
	int error = slurp(path, &text);

	if (error == 0)
		read_text(s, candidates, buf_str(&text), path, source, problems);
	else if (source == SETTING_CONFIG_FILE)
		buf_printf(problems, "--config %s: cannot be read: %s\n", path,
			strerror(-error));
	else if (error != -ENOENT) /* no .env is the normal case (EC-04) */
		buf_printf(problems, "%s in the current directory cannot be read: %s\n",
			path, strerror(-error));
	buf_free(&text);
}

static void read_environment(struct candidate *candidates)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		const char *value = getenv(setting_info((enum setting_id)i)->name);

		if (value)
			propose(&candidates[i], (enum setting_id)i, str_of(value),
				SETTING_ENVIRONMENT);
	}
}

/* ---- putting it together ---- */

static void settle(struct settings *s, enum setting_id id, const struct candidate *c,
	bool required, struct buf *problems)
{
	const struct setting_info *info = setting_info(id);
	bool given = c->text && c->text[0];

	if (setting_is_text(info->kind))
		*(char **)setting_member(s, id) = NULL;
	if (given && setting_set(s, id, c->text) == 0) {
		s->sources[id] = (unsigned char)c->source;
		return;
	}
	if (given) {
		struct buf rule = {0};

		setting_rule(id, &rule);
		buf_add_char(&rule, '\0');
		problem(problems, id, c, rule.data);
		buf_free(&rule);
	} else if (required) {
		buf_printf(problems, "%s is not set. It is required: %s\n", info->name,
			info->meaning);
	}
	/* The fallback of MEMORY is empty: it depends on another setting. */
	if (setting_set(s, id, info->fallback) != 0 && setting_is_text(info->kind))
		*(char **)setting_member(s, id) = strdup("");
	s->sources[id] = SETTING_DEFAULT;
}

static void settle_all(struct settings *s, struct candidate *candidates,
	bool secrets_required, struct buf *problems)
{
	*s = (struct settings){
		.warnings = s->warnings, .sources = calloc(SETTING_COUNT, 1)};
	if (!s->sources)
		abort();
	for (int i = 0; i < SETTING_COUNT; i++) {
		bool required =
			setting_info((enum setting_id)i)->flags & SETTING_REQUIRED;

		if (setting_info((enum setting_id)i)->flags & SETTING_SECRET &&
			!secrets_required)
			required = false;
		settle(s, (enum setting_id)i, &candidates[i], required, problems);
	}
	if (settings_source(s, SETTING_ID_memory) == SETTING_DEFAULT)
		s->memory = settings_source(s, SETTING_ID_chromadb_url) == SETTING_DEFAULT
				    ? MEMORY_EMBEDDED
				    : MEMORY_CHROMA;
}

static void replace(char **text, char *with)
{
	free(*text);
	*text = with;
}

/* Expands and resolves one directory; `c` is for messages. False after having reported a
 * problem. */
static bool resolve_directory(struct settings *s, enum setting_id id,
	const struct candidate *c, char *(*resolve)(const char *path),
	struct buf *problems)
{
	char **value = setting_member(s, id);
	char *path;

	if (!**value)
		return false;
	path = path_expand_home(*value);
	if (!path) {
		problem(problems, id, c,
			"only ~ and ~/ are expanded, and the home directory must be "
			"known");
		return false;
	}
	replace(value, path);
	path = resolve(*value);
	if (!path) {
		buf_printf(problems, "%s: %s %s\n", setting_info(id)->name, *value,
			errno == ENOENT ? "does not exist" : strerror(errno));
		return false;
	}
	replace(value, path);
	return true;
}

static char *spelling_of(const char *path)
{
	char *expanded = *path ? path_expand_home(path) : NULL;
	char *spelling = expanded ? path_absolute(expanded) : NULL;

	free(expanded);
	return spelling;
}

static char *real_path(const char *path)
{
	return realpath(path, NULL);
}

/* A project is one folder of many: what holds everything is hardly meant. */
static void look_at_project(struct settings *s, struct buf *problems)
{
	const char *name = setting_info(SETTING_ID_project_dir)->name;
	char *home = path_expand_home("~");
	char *real = home ? realpath(home, NULL) : NULL;

	if (strcmp(s->project_dir, "/") == 0)
		buf_printf(problems,
			"%s: / is the whole file system: name the folder of one "
			"project\n",
			name);
	else if (real && strcmp(s->project_dir, real) == 0)
		buf_printf(&s->warnings,
			"%s: %s is your home directory, and all of it is watched and "
			"shown: name the folder of one project\n",
			name, s->project_dir);
	free(real);
	free(home);
}

/* FR-006, P1.4. */
static void check_directories(
	struct settings *s, struct candidate *candidates, struct buf *problems)
{
	enum setting_id id = SETTING_ID_project_dir;
	struct stat st;

	s->project_spelling = spelling_of(s->project_dir);
	if (resolve_directory(s, id, &candidates[id], real_path, problems)) {
		if (stat(s->project_dir, &st) == 0 && !S_ISDIR(st.st_mode))
			buf_printf(problems, "%s: %s is not a directory\n",
				setting_info(id)->name, s->project_dir);
		else if (access(s->project_dir, R_OK | X_OK) != 0)
			buf_printf(problems, "%s: %s cannot be read: %s\n",
				setting_info(id)->name, s->project_dir, strerror(errno));
		else
			look_at_project(s, problems);
	}
	/* Workers run elsewhere: every other directory is made absolute too, whether it
	 * exists or not. */
	for (int i = 0; i < SETTING_COUNT; i++) {
		id = (enum setting_id)i;
		if (setting_info(id)->kind == SETTING_PATH &&
			id != SETTING_ID_project_dir)
			resolve_directory(
				s, id, &candidates[id], path_canonical, problems);
	}
	if (stat(s->data_dir, &st) == 0 && !S_ISDIR(st.st_mode))
		buf_printf(problems, "%s: %s is not a directory\n",
			setting_info(SETTING_ID_data_dir)->name, s->data_dir);
}

static void forget(struct candidate *candidates)
{
	for (int i = 0; i < SETTING_COUNT; i++)
		free(candidates[i].text);
}

/* Who else may connect must exist, and public names must be some. */
static void check_peers(const struct settings *s, struct buf *problems)
{
	struct str hosts = str_of(s->public_hosts), element;
	struct public_host host;
	struct peers peers;

	peers_resolve(
		str_of(s->allowed_users), str_of(s->allowed_groups), &peers, problems);
	while (list_next(&hosts, &element))
		if (!public_host_read(element, &host))
			buf_printf(problems,
				"PUBLIC_HOSTS: \"%.*s\" must be NAME, NAME:PORT, or one "
				"of "
				"these behind http:// or https://\n",
				STR_ARG(element));
}

int settings_load(struct settings *s, const char *config_file, struct buf *problems)
{
	struct candidate candidates[SETTING_COUNT] = {0};
	size_t before = problems->len;

	*s = (struct settings){0};
	if (config_file)
		read_file(s, candidates, config_file, SETTING_CONFIG_FILE, problems);
	read_file(s, candidates, ".env", SETTING_DOTENV, problems);
	read_environment(candidates);
	settle_all(s, candidates, true, problems);
	check_directories(s, candidates, problems);
	check_peers(s, problems);
	forget(candidates);
	return problems->len == before ? 0 : -EINVAL;
}

int settings_load_environment(struct settings *s, struct buf *problems)
{
	struct candidate candidates[SETTING_COUNT] = {0};
	size_t before = problems->len;

	*s = (struct settings){0};
	read_environment(candidates);
	settle_all(s, candidates, false, problems);
	forget(candidates);
	if (getenv(SETTINGS_PROJECT_SPELLING))
		s->project_spelling = strdup(getenv(SETTINGS_PROJECT_SPELLING));
	return problems->len == before ? 0 : -EINVAL;
}

int settings_change(struct settings *s, const struct settings *old,
	const char *const values[SETTING_COUNT], struct buf *problems)
{
	struct candidate candidates[SETTING_COUNT] = {0};
	size_t before = problems->len;

	*s = (struct settings){0};
	for (int i = 0; i < SETTING_COUNT; i++) {
		enum setting_id id = (enum setting_id)i;
		struct buf text = {0};

		if (values[i])
			buf_add_str(&text, str_of(values[i]));
		else
			settings_print(old, id, true, &text);
		propose(&candidates[i], id, text.len ? buf_str(&text) : STR_LIT(""),
			settings_source(old, id));
		buf_free(&text);
	}
	settle_all(s, candidates, false, problems);
	forget(candidates);
	if (old->project_spelling)
		s->project_spelling = strdup(old->project_spelling);
	return problems->len == before ? 0 : -EINVAL;
}

enum setting_source settings_source(const struct settings *s, enum setting_id id)
{
	return (enum setting_source)s->sources[id];
}

void settings_fini(struct settings *s)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		if (setting_is_text(setting_info((enum setting_id)i)->kind))
			replace(setting_member(s, (enum setting_id)i), NULL);
	}
	free(s->sources);
	s->sources = NULL;
	free(s->project_spelling);
	s->project_spelling = NULL;
	buf_free(&s->warnings);
}

void settings_runtime_dir(const struct settings *s, char out[108])
{
	const char *given = getenv("RUNTIME_DIRECTORY");
	const char *base = getenv("XDG_RUNTIME_DIR");
	uint64_t hash = path_hash(str_of(s->data_dir));
	int n;

	/* systemd separates several by colons; the first is ours. */
	if (given && given[0] == '/' && strcspn(given, ":") <= SETTINGS_RUNTIME_DIR_MAX) {
		snprintf(out, 108, "%.*s", (int)strcspn(given, ":"), given);
		return;
	}
	/* After su(1) it may be another user's, or gone. */
	if (base && base[0] == '/' && access(base, W_OK | X_OK) == 0) {
		n = snprintf(out, 108, "%s/paige-%016" PRIx64, base, hash);
		if (n > 0 && n <= SETTINGS_RUNTIME_DIR_MAX)
			return;
	}
	snprintf(out, 108, "/tmp/paige-%u-%016" PRIx64, (unsigned)getuid(), hash);
}

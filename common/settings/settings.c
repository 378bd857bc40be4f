/*
 * settings.c - the settings of config/settings.def: see settings.h.
 *
 * Called once at the start of every program, and by the supervisor again on SIGHUP. Reads
 * the environment and two files; changes nothing anywhere. It must never put a secret
 * into a message.
 */
#include "common/settings/settings.h"
#include "common/base/alloc.h"
#include "common/settings/peers.h"

#include "common/settings/settings_files.h"
#include "common/settings/settings_paths.h"
#include "common/settings/settings_values.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void read_environment(struct candidate *candidates)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		const char *value = getenv(setting_info((enum setting_id)i)->name);

		if (value)
			candidate_propose(&candidates[i], (enum setting_id)i,
				str_of(value), SETTING_ENVIRONMENT);
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
		AUTO_BUF rule = {0};

		setting_rule(id, &rule);
		buf_add_char(&rule, '\0');
		problem(problems, id, c, rule.data);
	} else if (required) {
		buf_printf(problems, "%s is not set. It is required: %s\n", info->name,
			info->meaning);
	}
	/* The fallback of MEMORY is empty: it depends on another setting. */
	if (setting_set(s, id, info->fallback) != 0 && setting_is_text(info->kind))
		*(char **)setting_member(s, id) = xstrdup("");
	s->sources[id] = SETTING_DEFAULT;
}

static void settle_all(struct settings *s, struct candidate *candidates,
	bool secrets_required, struct buf *problems)
{
	s->sources = xcalloc(SETTING_COUNT, 1);
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
	AUTO_FREE char *expanded = *path ? path_expand_home(path) : NULL;

	return expanded ? path_absolute(expanded) : NULL;
}

static char *real_path(const char *path)
{
	return realpath(path, NULL);
}

/* A project is one folder of many: what holds everything is hardly meant. */
static void look_at_project(struct settings *s, struct buf *problems)
{
	const char *name = setting_info(SETTING_ID_project_dir)->name;
	AUTO_FREE char *home = path_expand_home("~");
	AUTO_FREE char *real = home ? realpath(home, NULL) : NULL;

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

/* Who else may connect must exist, and public names must be some. */
static void check_peers(const struct settings *s, struct buf *problems)
{
	struct str hosts = str_of(s->public_hosts), element;
	struct public_host host;
	struct peers peers;
	struct proxies proxies;

	peers_resolve(
		str_of(s->allowed_users), str_of(s->allowed_groups), &peers, problems);
	proxies_resolve(str_of(s->trusted_proxies), &proxies, problems);
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
	read_environment(candidates);
	settings_read_files(s, candidates, config_file, problems);
	settle_all(s, candidates, true, problems);
	check_directories(s, candidates, problems);
	check_peers(s, problems);
	candidates_forget(candidates);
	return problems->len == before ? 0 : -EINVAL;
}

int settings_load_environment(struct settings *s, struct buf *problems)
{
	struct candidate candidates[SETTING_COUNT] = {0};
	size_t before = problems->len;

	*s = (struct settings){0};
	read_environment(candidates);
	settle_all(s, candidates, false, problems);
	candidates_forget(candidates);
	if (getenv(SETTINGS_PROJECT_SPELLING))
		s->project_spelling = xstrdup(getenv(SETTINGS_PROJECT_SPELLING));
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
		AUTO_BUF text = {0};

		if (values[i])
			buf_add_str(&text, str_of(values[i]));
		else
			settings_print(old, id, true, &text);
		candidate_propose(&candidates[i], id,
			text.len ? buf_str(&text) : STR_LIT(""),
			settings_source(old, id));
	}
	settle_all(s, candidates, false, problems);
	candidates_forget(candidates);
	if (old->project_spelling)
		s->project_spelling = xstrdup(old->project_spelling);
	return problems->len == before ? 0 : -EINVAL;
}

enum setting_source settings_source(const struct settings *s, enum setting_id id)
{
	return (enum setting_source)s->sources[id];
}

const char *settings_origin(const struct settings *s, enum setting_id id)
{
	enum setting_source source = settings_source(s, id);

	if (source == SETTING_CONFIG_FILE && s->config_path)
		return s->config_path;
	if (source == SETTING_DOTENV && s->dotenv_path)
		return s->dotenv_path;
	return setting_source_name(source);
}

void settings_fini(struct settings *s)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		if (setting_is_text(setting_info((enum setting_id)i)->kind))
			replace(setting_member(s, (enum setting_id)i), NULL);
	}
	free(s->sources);
	s->sources = NULL;
	replace(&s->project_spelling, NULL);
	replace(&s->config_path, NULL);
	replace(&s->dotenv_path, NULL);
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

/*
 * settings_files.c - the files that settings come from (settings_files.h): found, read,
 * and passed over when they lie in the project that is coached on.
 *
 * Called by settings.c. Changes nothing anywhere. It must never put a secret into a
 * message.
 */
#include "common/settings/settings_files.h"
#include "common/base/alloc.h"

#include "common/base/file_io.h"
#include "common/settings/envfile.h"
#include "common/settings/nearest.h"
#include "common/settings/settings_paths.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES (1024 * 1024)

/* A file and what is said in it. */
struct file {
	const char *path; /* as it is named in messages */
	enum setting_source source;
	bool named; /* by --config */
	char *real; /* where it lies, links followed; NULL when it was not opened */
	struct candidate values[SETTING_COUNT];
	struct buf problems, warnings;
};

/* ---- candidates ---- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void candidate_propose(struct candidate *c, enum setting_id id, struct str value,
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
	c->text = xstrndup(value.ptr + start, end - start);
	c->source = source;
}

void candidates_forget(struct candidate candidates[SETTING_COUNT])
{
	for (int i = 0; i < SETTING_COUNT; i++)
		free(candidates[i].text);
}

/* ---- lines ---- */

static void unknown_key(struct file *f, struct str key, int line)
{
	struct nearest nearest = {.word = key};

	for (int i = 0; i < SETTING_COUNT; i++)
		nearest_offer(&nearest, setting_info((enum setting_id)i)->name);
	if (nearest.name)
		buf_printf(&f->warnings,
			"%s line %d: unknown setting %.*s; is %s meant?\n", f->path, line,
			(int)(key.len > 64 ? 64 : key.len), key.ptr, nearest.name);
	else if (f->source == SETTING_CONFIG_FILE)
		buf_printf(&f->warnings, "%s line %d: unknown setting %.*s\n", f->path,
			line, (int)(key.len > 64 ? 64 : key.len), key.ptr);
}

static void read_text(struct file *f, struct str text)
{
	struct envfile lines = {.text = text};
	struct str key = {0}, value = {0};
	enum envfile_item item;

	while ((item = envfile_next(&lines, &key, &value)) != ENVFILE_END) {
		int id;

		if (item == ENVFILE_MALFORMED) {
			buf_printf(f->source == SETTING_CONFIG_FILE ? &f->problems
								    : &f->warnings,
				"%s line %d: not a line of the form KEY=value, or a "
				"quote is not closed\n",
				f->path, lines.line);
			continue;
		}
		id = setting_by_name(key);
		if (id < 0)
			unknown_key(f, key, lines.line);
		else if (memchr(value.ptr, '\0', value.len))
			buf_printf(&f->problems, "%s line %d: %s contains a NUL byte\n",
				f->path, lines.line, setting_info(id)->name);
		else
			candidate_propose(
				&f->values[id], (enum setting_id)id, value, f->source);
	}
	envfile_fini(&lines);
}

/* ---- reading ---- */

/* The path of what was opened, whatever links led there; returns new. */
static char *path_of(int fd, const char *path)
{
	char link[40], real[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real));
	if (n <= 0 || n >= (ssize_t)sizeof(real) || real[0] != '/')
		return realpath(path, NULL);
	return xstrndup(real, (size_t)n);
}

/* Reads a whole regular file of at most FILE_MAX_BYTES. 0 or -errno. */
static int slurp(struct file *f, struct buf *out)
{
	AUTO_FD fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	f->real = path_of(fd, f->path);
	if (fstat(fd, &st) != 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return file_read_all(fd, FILE_MAX_BYTES, out);
}

static void read_file(struct file *f)
{
	AUTO_BUF text = {0};
	int error = slurp(f, &text);

	if (error == 0)
		read_text(f, buf_str(&text));
	else if (f->named)
		buf_printf(&f->problems, "--config %s: cannot be read: %s\n", f->path,
			strerror(-error));
	else if (error == -ENOENT || error == -ENOTDIR)
		; /* the normal case (EC-04) */
	else if (f->source == SETTING_DOTENV)
		buf_printf(&f->problems,
			"%s in the current directory cannot be read: %s\n", f->path,
			strerror(-error));
	else /* a service may not look into a home */
		buf_printf(&f->warnings, "%s: cannot be read: %s\n", f->path,
			strerror(-error));
}

static void file_fini(struct file *f)
{
	candidates_forget(f->values);
	free(f->real);
	buf_free(&f->problems);
	buf_free(&f->warnings);
}

/* ---- the project's own files ---- */

/* The directory that `candidate` of PROJECT_DIR names. */
static bool find_project(const struct candidate *candidate, struct stat *project)
{
	AUTO_FREE char *path = candidate->text && *candidate->text
				       ? path_expand_home(candidate->text)
				       : NULL;

	return path && stat(path, project) == 0;
}

/* Whether `path`, absolute and without links, is the directory or lies under it. Compared
 * by identity: the same directory may be mounted elsewhere, too. */
static bool lies_in(const char *path, const struct stat *directory)
{
	AUTO_FREE char *rest = xstrdup(path);
	bool in = false;
	char *end;

	for (end = rest; end && !in; *end = '\0') {
		struct stat st;

		in = stat(rest[0] ? rest : "/", &st) == 0 &&
		     st.st_dev == directory->st_dev && st.st_ino == directory->st_ino;
		end = strrchr(rest, '/');
		if (!end)
			break;
	}
	return in;
}

/* The file, or the place where it was looked for. */
static bool belongs_to(const struct file *f, const struct stat *project)
{
	AUTO_FREE char *place = path_absolute(f->path), *real = NULL;

	if (!place)
		return false;
	*strrchr(place, '/') = '\0';
	real = realpath(place[0] ? place : "/", NULL);
	return (real && lies_in(real, project)) || (f->real && lies_in(f->real, project));
}

/* Forgets what a file says, and tells when that was anything. */
static void pass_over(struct settings *s, struct file *f)
{
	AUTO_FREE char *home = settings_config_path();
	const char *between = "";
	AUTO_BUF names = {0};

	for (int i = 0; i < SETTING_COUNT; i++) {
		if (!f->values[i].text)
			continue;
		buf_printf(
			&names, "%s%s", between, setting_info((enum setting_id)i)->name);
		between = ", ";
	}
	if (names.len > 0)
		buf_printf(&s->warnings,
			"%s is ignored: it lies in the project that is coached on, whose "
			"files never configure Paige. If they are meant for Paige, put "
			"%.*s into %s\n",
			f->real ? f->real : f->path, STR_ARG(buf_str(&names)),
			home && f->source == SETTING_DOTENV
				? home
				: "a file outside of it and start with --config FILE");
	file_fini(f);
	*f = (struct file){.path = f->path, .source = f->source};
}

/* ---- the whole ---- */

char *settings_config_path(void)
{
	const char *base = getenv("XDG_CONFIG_HOME");

	if (!base || base[0] != '/')
		return path_expand_home("~/.config/paige/paige.conf");
	return xasprintf("%s/paige/paige.conf", base);
}

static void take(struct candidate candidates[SETTING_COUNT], struct file *f, char **path)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		if (candidates[i].text)
			continue;
		candidates[i] = f->values[i];
		f->values[i].text = NULL;
	}
	if (f->real)
		*path = path_absolute(f->path);
}

static void report(struct settings *s, const struct file *f, struct buf *problems)
{
	buf_add_str(problems, buf_str(&f->problems));
	buf_add_str(&s->warnings, buf_str(&f->warnings));
}

void settings_read_files(struct settings *s, struct candidate candidates[SETTING_COUNT],
	const char *config_file, struct buf *problems)
{
	const enum setting_id project_dir = SETTING_ID_project_dir;
	AUTO_FREE char *usual = settings_config_path();
	struct file dotenv = {.path = ".env", .source = SETTING_DOTENV};
	struct file config = {.path = config_file ? config_file : usual,
		.source = SETTING_CONFIG_FILE,
		.named = config_file != NULL};
	struct candidate *named = &candidates[project_dir];
	struct stat project;

	if (config.path)
		read_file(&config);
	read_file(&dotenv);
	if (!named->text)
		named = &dotenv.values[project_dir];
	if (!named->text)
		named = &config.values[project_dir];
	if (find_project(named, &project) && belongs_to(&dotenv, &project))
		pass_over(s, &dotenv);
	/* It may have been .env that named the project. */
	if (!candidates[project_dir].text && !dotenv.values[project_dir].text)
		named = &config.values[project_dir];
	if (config.path && !config.named && find_project(named, &project) &&
		belongs_to(&config, &project))
		pass_over(s, &config);
	take(candidates, &dotenv, &s->dotenv_path);
	take(candidates, &config, &s->config_path);
	report(s, &config, problems);
	report(s, &dotenv, problems);
	file_fini(&config);
	file_fini(&dotenv);
}

/*
 * settings.h - the settings of config/settings.def: read, checked, printed.
 *
 * Precedence: environment, then .env in the current directory, then --config FILE or else
 * paige.conf in the user's configuration directory, then the default. Every file is
 * KEY=value lines (envfile.h). A value that is empty or only blanks stands for the
 * default, and still wins over the sources below it. Unknown keys and malformed lines of
 * a paige.conf are reported; .env may be shared with other programs, so there only what
 * looks like a misspelt setting is.
 *
 * Files of the project that is coached on configure nothing: whoever wrote the project
 * must not choose where the key goes or which program runs. Neither a .env nor a
 * paige.conf that lies in PROJECT_DIR is taken, however it is reached; only --config FILE
 * is, which somebody typed.
 */
#pragma once

#include "common/base/buf.h"
#include <stdbool.h>
#include <stdint.h>

enum setting_flags {
	SETTING_REQUIRED = 1,
	SETTING_SECRET = 2, /* masked wherever it is shown, kept from workers that do not
			       need it */
	SETTING_RELOAD = 4, /* applied by SIGHUP without a restart of workers */
	/* http or https, of a host and perhaps a path; slashes at its end are taken off */
	SETTING_URL = 8,
	/* Decides where the key or what the learner writes goes, or which program runs:
	 * logged at the start with where it came from. */
	SETTING_RISKY = 16,
	/* A URL to which "/v1/messages" is joined: it may end with that already. */
	SETTING_CLAUDE_API = 32,
};
enum setting_kind {
	SETTING_INT,
	SETTING_NUMBER,
	SETTING_TEXT,
	SETTING_PATH,
	SETTING_CHOICE
};
enum setting_source {
	SETTING_DEFAULT,
	SETTING_CONFIG_FILE,
	SETTING_DOTENV,
	SETTING_ENVIRONMENT
};

enum memory_kind { MEMORY_CHROMA, MEMORY_EMBEDDED };

#define SETTING_TYPE_INT int64_t
#define SETTING_TYPE_NUMBER double
#define SETTING_TYPE_TEXT char *
#define SETTING_TYPE_PATH char *
#define SETTING_TYPE_CHOICE int

/* The variable that hands project_spelling to the workers. */
#define SETTINGS_PROJECT_SPELLING "PAIGE_PROJECT_SPELLING"

struct settings {
#define SETTING(kind, member, ...) SETTING_TYPE_##kind member;
#include "config/settings.def"
#undef SETTING
	unsigned char *sources; /* enum setting_source by setting id */
	/* PROJECT_DIR as it was given, made absolute, links kept: the name by which the
	 * learner knows it. NULL when there is none. */
	char *project_spelling;
	char *config_path, *dotenv_path; /* the files that were read, NULL without */
	struct buf warnings; /* lines about what was ignored, for the caller to log */
};

enum setting_id {
#define SETTING(kind, member, ...) SETTING_ID_##member,
#include "config/settings.def"
#undef SETTING
	SETTING_COUNT
};

struct setting_info {
	const char *name;
	enum setting_kind kind;
	const char *fallback; /* the default, as text */
	const char *choices;  /* CHOICE: names separated by blanks, else NULL */
	double min, max;
	unsigned flags;
	const char *meaning;
};

const struct setting_info *setting_info(enum setting_id id);
/* The setting of a name, or -1. */
int setting_by_name(struct str name);

/*
 * Reads everything; `config_file` is what --config names, or NULL. 0, or -EINVAL with *problems holding one
 * line for each problem, each naming its variable, the value (secrets masked) and the
 * rule. Checks of the file system (PROJECT_DIR exists and is a directory; FR-005, FR-006,
 * P1.4) are part of it. On failure *s still holds every value that is right and the
 * default of the others, so that a tool may go on with DATA_DIR. PROJECT_DIR becomes its
 * real path; DATA_DIR too as far as it exists. Free with settings_fini in any case.
 */
int settings_load(struct settings *s, const char *config_file, struct buf *problems)
	__attribute__((warn_unused_result));
/* The worker's side: reads the resolved values that the supervisor put into the
 * environment. Secrets may be absent there. */
int settings_load_environment(struct settings *s, struct buf *problems)
	__attribute__((warn_unused_result));
/*
 * A copy of `old` with other values: values[id] as text, NULL for the one of `old`. 0, or
 * -EINVAL as settings_load. No environment and no file is looked at; directories are
 * taken as they stand.
 */
int settings_change(struct settings *s, const struct settings *old,
	const char *const values[SETTING_COUNT], struct buf *problems)
	__attribute__((warn_unused_result));
/* The value as text, secrets as "********" unless `reveal`. */
void settings_print(
	const struct settings *s, enum setting_id id, bool reveal, struct buf *out);
/* Whether the values differ; both were loaded. */
bool settings_differ(
	const struct settings *a, const struct settings *b, enum setting_id id);
enum setting_source settings_source(const struct settings *s, enum setting_id id);
/* Where the value came from, for people: "environment", or the path of the file.
 * Borrowed. */
const char *settings_origin(const struct settings *s, enum setting_id id);
const char *setting_source_name(enum setting_source source);
void settings_fini(struct settings *s);
/* Where paige.conf is looked for without --config: $XDG_CONFIG_HOME/paige/paige.conf, else
 * ~/.config/paige/paige.conf. Returns new; NULL without a home. */
char *settings_config_path(void);

/*
 * Where sockets go: $RUNTIME_DIRECTORY, else $XDG_RUNTIME_DIR/paige-<hash of
 * DATA_DIR>, else /tmp/paige-<uid>-<hash>. One that cannot be written, or whose path
 * leaves too little room for the sockets in it (SETTINGS_RUNTIME_DIR_MAX) is passed
 * over. Writes the path; does not make it. Always the same for the same environment
 * and DATA_DIR, whether DATA_DIR exists or not.
 */
#define SETTINGS_RUNTIME_DIR_MAX                                                         \
	75 /* a socket path has at most 107 bytes, ours stay below 100 */
void settings_runtime_dir(const struct settings *s, char out[108]);

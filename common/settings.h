/*
 * settings.h - the settings of config/settings.def: read, checked, printed (contract section 2).
 *
 * Precedence: environment, then .env in the current directory, then --config FILE, then the default.
 * Every file is KEY=value lines as in systemd's EnvironmentFile: comments (#, ;), blank lines, single and
 * double quotes, `export ` tolerated. Unknown keys in files are warnings that name the nearest setting.
 */
#ifndef PAIGE_COMMON_SETTINGS_H
#define PAIGE_COMMON_SETTINGS_H

#include "common/buf.h"
#include <stdbool.h>
#include <stdint.h>

enum setting_flags { SETTING_REQUIRED = 1, SETTING_SECRET = 2, SETTING_RELOAD = 4 };
enum setting_kind { SETTING_INT, SETTING_NUMBER, SETTING_TEXT, SETTING_PATH, SETTING_CHOICE };
enum setting_source { SETTING_DEFAULT, SETTING_CONFIG_FILE, SETTING_DOTENV, SETTING_ENVIRONMENT };

enum memory_kind { MEMORY_CHROMA, MEMORY_EMBEDDED };

#define SETTING_TYPE_INT int64_t
#define SETTING_TYPE_NUMBER double
#define SETTING_TYPE_TEXT char *
#define SETTING_TYPE_PATH char *
#define SETTING_TYPE_CHOICE int

struct settings {
#define SETTING(kind, member, ...) SETTING_TYPE_##kind member;
#include "config/settings.def"
#undef SETTING
	unsigned char *sources; /* enum setting_source by setting id */
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

/*
 * Reads everything; `config_file` may be NULL. 0, or -EINVAL with *problems holding one line for each
 * problem, each naming its variable, the value (secrets masked) and the rule. Checks of the file system
 * (PROJECT_DIR exists and is a directory; FR-005, FR-006, P1.4) are part of it.
 */
int settings_load(struct settings *s, const char *config_file, struct buf *problems)
	__attribute__((warn_unused_result));
/* The worker's side: reads the resolved values that the supervisor put into the environment. Secrets may
 * be absent there. */
int settings_load_environment(struct settings *s, struct buf *problems) __attribute__((warn_unused_result));
/* The value as text, secrets as "********" unless `reveal`. */
void settings_print(const struct settings *s, enum setting_id id, bool reveal, struct buf *out);
enum setting_source settings_source(const struct settings *s, enum setting_id id);
const char *setting_source_name(enum setting_source source);
void settings_fini(struct settings *s);

/*
 * Where sockets go: $RUNTIME_DIRECTORY, else $XDG_RUNTIME_DIR/paige-<hash of DATA_DIR>, else
 * /tmp/paige-<uid>-<hash> (contract section 1). Writes the path; does not make it. 0 or -ENAMETOOLONG.
 */
int settings_runtime_dir(const struct settings *s, char out[108]) __attribute__((warn_unused_result));

#endif

/* prompts.c - the kinds of call and their system prompts (prompts.h). */
#include "prompts/prompts.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PROMPT_MAX_BYTES 65535
#define PLACEHOLDER "{dreyfus_stage}"

#define CALL(symbol, name, ...)                                                          \
	extern const char prompt_##name[];                                               \
	extern const size_t prompt_##name##_len;
#include "prompts/calls.def"
#undef CALL

const struct call_info call_infos[CALL_KINDS] = {
#define CALL(symbol, name_, tier_, request_, response_, searches_)                       \
	[CALL_##symbol] = {.name = #name_,                                               \
		.tier = MODEL_##tier_,                                                   \
		.request = request_##_type,                                              \
		.response = response_##_type,                                            \
		.searches = searches_},
#include "prompts/calls.def"
#undef CALL
};

struct prompts {
	struct buf texts[CALL_KINDS]; /* empty: the one compiled in */
};

static struct str built_in(enum call_kind kind)
{
	switch (kind) {
#define CALL(symbol, name, ...)                                                          \
	case CALL_##symbol:                                                              \
		return (struct str){prompt_##name, prompt_##name##_len};
#include "prompts/calls.def"
#undef CALL
	case CALL_KINDS:
		break;
	}
	abort();
}

static void read_one(struct prompts *p, const char *dir, enum call_kind kind)
{
	AUTO_FREE char *path = xasprintf("%s/%s.md", dir, call_infos[kind].name);
	struct buf *text = &p->texts[kind];
	int error = file_read_named(AT_FDCWD, path, PROMPT_MAX_BYTES, text);

	if (!error && text->len > 0) {
		log_info("prompt read", "path", "%s", path, NULL);
		return;
	}
	if (!error || error == -EFBIG)
		log_warn("prompt is empty or too long, the one compiled in is used",
			"path", "%s", path, NULL);
	else if (error != -ENOENT)
		log_warn("prompt not readable, the one compiled in is used", "path", "%s",
			path, "error", "%s", strerror(-error), "hint", "%s",
			"paigectl restart llm, when the directory is new", NULL);
	buf_free(text);
}

struct prompts *prompts_read(const char *dir)
{
	struct prompts *p = xcalloc(1, sizeof(*p));

	if (*dir && access(dir, R_OK | X_OK) != 0)
		log_warn("directory of prompts cannot be used, those compiled in are",
			"path", "%s", dir, "error", "%s", strerror(errno), NULL);
	for (int kind = 0; *dir && kind < CALL_KINDS; kind++)
		read_one(p, dir, (enum call_kind)kind);
	return p;
}

void prompts_free(struct prompts *p)
{
	for (int kind = 0; kind < CALL_KINDS; kind++)
		buf_free(&p->texts[kind]);
	free(p);
}

struct str prompt_text(const struct prompts *p, enum call_kind kind,
	struct str dreyfus_stage, struct arena *arena)
{
	const size_t mark = sizeof(PLACEHOLDER) - 1;
	struct str text =
		p->texts[kind].len > 0 ? buf_str(&p->texts[kind]) : built_in(kind);
	const char *end = text.ptr + text.len, *at = text.ptr, *hit;
	AUTO_BUF b = {0};

	while ((hit = memmem(at, (size_t)(end - at), PLACEHOLDER, mark)) != NULL) {
		buf_add(&b, at, (size_t)(hit - at));
		buf_add_str(&b, dreyfus_stage);
		at = hit + mark;
	}
	buf_add(&b, at, (size_t)(end - at));
	return arena_str(arena, buf_str(&b));
}

/* prompts.c - the kinds of call and their system prompts (prompts.h). */
#include "prompts/prompts.h"
#include "common/base/buf.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROMPT_MAX_BYTES 65536
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
	char *texts[CALL_KINDS]; /* NULL: the one compiled in */
	size_t lens[CALL_KINDS];
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
	char path[4096], *text;
	size_t len;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s.md", dir, call_infos[kind].name) >=
		(int)sizeof(path))
		return;
	f = fopen(path, "re");
	if (!f) {
		if (errno != ENOENT)
			log_warn("prompt not readable, the one compiled in is used",
				"path", "%s", path, "error", "%s", strerror(errno),
				"hint", "%s",
				"paigectl restart llm, when the directory is new", NULL);
		return;
	}
	text = malloc(PROMPT_MAX_BYTES);
	if (!text)
		abort();
	len = fread(text, 1, PROMPT_MAX_BYTES, f);
	fclose(f);
	if (len == 0 || len == PROMPT_MAX_BYTES) {
		log_warn("prompt is empty or too long, the one compiled in is used",
			"path", "%s", path, NULL);
		free(text);
		return;
	}
	p->texts[kind] = text;
	p->lens[kind] = len;
	log_info("prompt read", "path", "%s", path, NULL);
}

struct prompts *prompts_read(const char *dir)
{
	struct prompts *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
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
		free(p->texts[kind]);
	free(p);
}

struct str prompt_text(const struct prompts *p, enum call_kind kind,
	struct str dreyfus_stage, struct arena *arena)
{
	const size_t mark = sizeof(PLACEHOLDER) - 1;
	struct str text = p->texts[kind] ? (struct str){p->texts[kind], p->lens[kind]}
					 : built_in(kind);
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

/* embedder.c - text to a vector (embedder.h). */
#include "workers/llm/memory/embedder.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "workers/llm/memory/feature_hash.h"
#include "workers/llm/memory/sentence_encoder.h"
#include <math.h>
#include <stdlib.h>

/* Shares of meaning and identifiers in the squared length; anything from 0.9/0.1 to
 * 0.5/0.5 ranks alike. */
#define MEANING_SHARE 0.7f
#define HASH_SHARE 0.3f

struct embedder {
	struct sentence_encoder *encoder; /* NULL: the hash alone */
};

struct embedder *embedder_open(const char *model_dir)
{
	struct embedder *e = xcalloc(1, sizeof(*e));
	const char *reason = "no directory was given";

	if (model_dir)
		e->encoder = sentence_encoder_open(model_dir, &reason);
	if (!e->encoder)
		log_warn(
			"sentence model not available: memories are found by words alone",
			"dir", "%s", model_dir ? model_dir : "", "reason", "%s", reason,
			NULL);
	return e;
}

void embedder_close(struct embedder *e)
{
	if (!e)
		return;
	sentence_encoder_close(e->encoder);
	free(e);
}

const char *embedder_name(const struct embedder *e)
{
	return e->encoder ? "use-lite+hash-1" : "hash-1";
}

int embedder_size(const struct embedder *e)
{
	return FEATURE_HASH_SIZE + (e->encoder ? SENTENCE_VECTOR_SIZE : 0);
}

static void scale(float *v, int n, float factor)
{
	for (int i = 0; i < n; i++)
		v[i] *= factor;
}

static float squared_length(const float *v, int n)
{
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i] * v[i];
	return sum;
}

void embed(struct embedder *e, struct str text, float *out)
{
	const int size = embedder_size(e);
	float *hash = e->encoder ? out + SENTENCE_VECTOR_SIZE : out;
	float length;

	feature_hash(text, hash);
	if (e->encoder) {
		sentence_encode(e->encoder, text, out);
		scale(out, SENTENCE_VECTOR_SIZE, sqrtf(MEANING_SHARE));
		scale(hash, FEATURE_HASH_SIZE, sqrtf(HASH_SHARE));
	}
	length = sqrtf(squared_length(out, size));
	if (length > 0)
		scale(out, size, 1 / length);
	else
		out[0] = 1;
}

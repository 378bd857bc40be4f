/* sentence_encoder.c - the sentence encoder's forward pass (sentence_encoder.h). */
#include "workers/llm/memory/sentence_encoder.h"
#include "common/base/alloc.h"
#include "common/base/arena.h"
#include "workers/llm/memory/tokenizer.h"
#include "workers/llm/memory/weights.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 512	/* of a token from layer 0's output on */
#define FIRST_WIDTH 256 /* of a token's embedding */
#define FFN_WIDTH 1536
#define HEADS 4
#define LAYERS 2
#define TOKENS TOKENIZER_MAX_TOKENS
#define NORM_EPSILON 1e-6f

/* y = x * weights + bias; weights are row by input column. */
struct dense {
	const float *weights, *bias;
	int in, out;
};

struct norm {
	const float *scale, *bias;
	int width;
};

struct layer {
	struct norm before_attention, before_ffn;
	struct dense qkv, attention_out, ffn_in, ffn_out;
};

/* Room for one text; all of it is used by the longest text only. */
struct scratch {
	float x[TOKENS * WIDTH];
	float normed[TOKENS * WIDTH];
	float wide[TOKENS * FFN_WIDTH];
	float mixed[TOKENS * WIDTH];
};

struct sentence_encoder {
	struct weights *weights;
	struct tokenizer *tokenizer;
	const float *embeddings, *timing;
	struct dense residual; /* widens layer 0's input for its residual */
	struct dense last;
	struct layer layers[LAYERS];
	struct scratch *scratch;
};

/* ---- opening ---- */

static bool get(
	const struct weights *w, const char *name, size_t count, const float **out)
{
	*out = weights_find(w, name, count);
	return *out != NULL;
}

static bool get_dense(const struct weights *w, const char *weights, const char *bias,
	int in, int out, struct dense *d)
{
	d->in = in;
	d->out = out;
	return get(w, weights, (size_t)in * (size_t)out, &d->weights) &&
	       get(w, bias, (size_t)out, &d->bias);
}

static bool get_norm(
	const struct weights *w, const char *place, int layer, int width, struct norm *n)
{
	char scale[160], bias[160];

	snprintf(scale, sizeof(scale),
		"Layer_%d/TransformerLayer/%slayer_prepostprocess/layer_norm/"
		"layer_norm_scale/"
		"ConcatPartitions/concat",
		layer, place);
	snprintf(bias, sizeof(bias),
		"Layer_%d/TransformerLayer/%slayer_prepostprocess/layer_norm/"
		"layer_norm_bias/"
		"ConcatPartitions/concat",
		layer, place);
	n->width = width;
	return get(w, scale, (size_t)width, &n->scale) &&
	       get(w, bias, (size_t)width, &n->bias);
}

static bool get_layer_dense(const struct weights *w, int layer, const char *part,
	const char *kernel, int in, int out, struct dense *d)
{
	char weights[160], bias[160];

	snprintf(weights, sizeof(weights), "Layer_%d/TransformerLayer/%s/%s", layer, part,
		kernel);
	snprintf(bias, sizeof(bias),
		"Layer_%d/TransformerLayer/%s/bias/ConcatPartitions/concat", layer, part);
	return get_dense(w, weights, bias, in, out, d);
}

static bool get_layer(const struct weights *w, int i, struct layer *l)
{
	int width = i == 0 ? FIRST_WIDTH : WIDTH;

	return get_norm(w, "", i, width, &l->before_attention) &&
	       get_norm(w, "FFN/", i, WIDTH, &l->before_ffn) &&
	       get_layer_dense(w, i, "MultiheadAttention/qkv_transform_single",
		       "kernel/part_0", width, 3 * width, &l->qkv) &&
	       get_layer_dense(w, i, "MultiheadAttention/output_transform_single",
		       "kernel/part_0", width, WIDTH, &l->attention_out) &&
	       get_layer_dense(w, i, "FFN/conv1", "Tensordot/Reshape_1", WIDTH, FFN_WIDTH,
		       &l->ffn_in) &&
	       get_layer_dense(w, i, "FFN/conv2", "Tensordot/Reshape_1", FFN_WIDTH, WIDTH,
		       &l->ffn_out);
}

static bool get_all(struct sentence_encoder *e)
{
	const struct weights *w = e->weights;

	for (int i = 0; i < LAYERS; i++)
		if (!get_layer(w, i, &e->layers[i]))
			return false;
	return get(w, "module/Embeddings_en", tokenizer_count(e->tokenizer) * FIRST_WIDTH,
		       &e->embeddings) &&
	       get(w, "AddTimingSignal/TimingSignal/ExpandDims_1", FIRST_WIDTH / 2,
		       &e->timing) &&
	       get_dense(w,
		       "Layer_0/TransformerLayer/dense/kernel/ConcatPartitions/concat",
		       "Layer_0/TransformerLayer/dense/bias/ConcatPartitions/concat",
		       FIRST_WIDTH, WIDTH, &e->residual) &&
	       get_dense(w, "tanh_layer_0/weights", "tanh_layer_0/bias", WIDTH, WIDTH,
		       &e->last);
}

struct sentence_encoder *sentence_encoder_open(const char *dir, const char **reason)
{
	struct sentence_encoder *e = xcalloc(1, sizeof(*e));

	e->weights = weights_open(dir, reason);
	if (!e->weights)
		goto fail;
	e->tokenizer = weights_vocabulary(dir);
	if (!e->tokenizer) {
		*reason = "vocab.json is missing or not a vocabulary";
		goto fail;
	}
	if (!get_all(e)) {
		*reason = "model.json lacks a weight of the expected name and shape";
		goto fail;
	}
	e->scratch = xmalloc(sizeof(*e->scratch));
	return e;
fail:
	sentence_encoder_close(e);
	return NULL;
}

void sentence_encoder_close(struct sentence_encoder *e)
{
	if (!e)
		return;
	weights_close(e->weights);
	tokenizer_free(e->tokenizer);
	free(e->scratch);
	free(e);
}

/* ---- arithmetic ---- */

typedef float lanes __attribute__((vector_size(16), aligned(4)));
#define LANES 4
#define ROWS 4 /* of x at a time */
#define STEP 4 /* columns of x at a time */

/*
 * Adds `STEP` columns of x, times their rows of weights, to `rows` rows of y. The weights
 * are read in the order in which they stand and once for all of the rows: they do not fit
 * the caches, so that matters more than the arithmetic.
 */
static inline void add_products(
	const float *x, int rows, const struct dense *d, int k, float *y)
{
	const float *w = d->weights + k * d->out;

	for (int j = 0; j < d->out; j += LANES) {
		lanes weights[STEP];

		for (int i = 0; i < STEP; i++)
			weights[i] = *(const lanes *)(w + i * d->out + j);
		for (int r = 0; r < rows; r++) {
			const float *factors = x + r * d->in + k;
			lanes *sum = (lanes *)(y + r * d->out + j);

			*sum += factors[0] * weights[0] + factors[1] * weights[1] +
				factors[2] * weights[2] + factors[3] * weights[3];
		}
	}
}

static void multiply_rows(const float *x, int rows, const struct dense *d, float *y)
{
	for (int r = 0; r < rows; r++)
		memcpy(y + r * d->out, d->bias, sizeof(float) * (size_t)d->out);
	for (int k = 0; k < d->in; k += STEP) {
		if (rows == ROWS)
			add_products(x, ROWS, d, k, y);
		else
			add_products(x, rows, d, k, y);
	}
}

static void dense_apply(const struct dense *d, const float *x, int rows, float *y)
{
	for (int i = 0; i < rows; i += ROWS)
		multiply_rows(x + i * d->in, rows - i < ROWS ? rows - i : ROWS, d,
			y + i * d->out);
}

static void norm_apply(const struct norm *n, const float *x, int rows, float *y)
{
	for (int i = 0; i < rows; i++, x += n->width, y += n->width) {
		float mean = 0, variance = 0, factor;

		for (int j = 0; j < n->width; j++)
			mean += x[j];
		mean /= (float)n->width;
		for (int j = 0; j < n->width; j++)
			variance += (x[j] - mean) * (x[j] - mean);
		factor = 1 / sqrtf(variance / (float)n->width + NORM_EPSILON);
		for (int j = 0; j < n->width; j++)
			y[j] = (x[j] - mean) * factor * n->scale[j] + n->bias[j];
	}
}

static float dot(const float *a, const float *b, int n)
{
	lanes sum = {0};

	for (int i = 0; i < n; i += LANES)
		sum += *(const lanes *)(a + i) * *(const lanes *)(b + i);
	return sum[0] + sum[1] + sum[2] + sum[3];
}

static void add(float *to, const float *what, int n)
{
	for (int i = 0; i < n; i++)
		to[i] += what[i];
}

/* ---- forward pass ---- */

static void softmax(float *scores, int n)
{
	float most = scores[0], sum = 0;

	for (int i = 1; i < n; i++)
		if (scores[i] > most)
			most = scores[i];
	for (int i = 0; i < n; i++)
		sum += scores[i] = expf(scores[i] - most);
	for (int i = 0; i < n; i++)
		scores[i] /= sum;
}

/* `qkv` holds query, key and value of each token, side by side; `out` is one width wide.
 */
static void attend(const float *qkv, int tokens, int width, float *out)
{
	const int head_width = width / HEADS, stride = 3 * width;
	const float factor = 1 / sqrtf((float)head_width);

	for (int i = 0; i < tokens * width; i++)
		out[i] = 0;
	for (int head = 0; head < HEADS; head++) {
		for (int i = 0; i < tokens; i++) {
			const float *query = qkv + i * stride + head * head_width;
			float *sum = out + i * width + head * head_width;
			float scores[TOKENS];

			for (int j = 0; j < tokens; j++)
				scores[j] = factor * dot(query,
							     qkv + j * stride + width +
								     head * head_width,
							     head_width);
			softmax(scores, tokens);
			for (int j = 0; j < tokens; j++) {
				const float *value =
					qkv + j * stride + 2 * width + head * head_width;

				for (int k = 0; k < head_width; k++)
					sum[k] += scores[j] * value[k];
			}
		}
	}
}

static void layer_apply(const struct sentence_encoder *e, int i, int tokens)
{
	const struct layer *l = &e->layers[i];
	struct scratch *s = e->scratch;

	norm_apply(&l->before_attention, s->x, tokens, s->normed);
	dense_apply(&l->qkv, s->normed, tokens, s->wide);
	attend(s->wide, tokens, l->qkv.in, s->mixed);
	dense_apply(&l->attention_out, s->mixed, tokens, s->normed);
	if (i == 0) {
		dense_apply(&e->residual, s->x, tokens, s->mixed);
		for (int k = 0; k < tokens * WIDTH; k++)
			s->x[k] = s->mixed[k];
	}
	add(s->x, s->normed, tokens * WIDTH);
	norm_apply(&l->before_ffn, s->x, tokens, s->normed);
	dense_apply(&l->ffn_in, s->normed, tokens, s->wide);
	for (int k = 0; k < tokens * FFN_WIDTH; k++)
		s->wide[k] = s->wide[k] > 0 ? s->wide[k] : 0;
	dense_apply(&l->ffn_out, s->wide, tokens, s->mixed);
	add(s->x, s->mixed, tokens * WIDTH);
}

/* Twice the token's embedding plus sines and cosines of its position. */
static void embed_tokens(const struct sentence_encoder *e, const int *ids, int tokens)
{
	const int half = FIRST_WIDTH / 2;

	for (int i = 0; i < tokens; i++) {
		const float *row = e->embeddings + ids[i] * FIRST_WIDTH;
		float *x = e->scratch->x + i * FIRST_WIDTH;

		for (int j = 0; j < half; j++) {
			float phase = (float)i * e->timing[j];

			x[j] = 2 * row[j] + sinf(phase);
			x[half + j] = 2 * row[half + j] + cosf(phase);
		}
	}
}

void sentence_encode(
	struct sentence_encoder *e, struct str text, float out[SENTENCE_VECTOR_SIZE])
{
	float mean[WIDTH] = {0}, length = 0;
	AUTO_ARENA arena = {0};
	int ids[TOKENS], tokens;

	tokens = (int)tokenizer_split(e->tokenizer, text, &arena, ids);
	memset(out, 0, sizeof(float) * SENTENCE_VECTOR_SIZE);
	if (tokens <= 0 || tokens > TOKENS)
		return;
	embed_tokens(e, ids, tokens);
	for (int i = 0; i < LAYERS; i++)
		layer_apply(e, i, tokens);
	for (int i = 0; i < tokens; i++)
		add(mean, e->scratch->x + i * WIDTH, WIDTH);
	for (int j = 0; j < WIDTH; j++)
		mean[j] /= (float)tokens;
	dense_apply(&e->last, mean, 1, out);
	for (int j = 0; j < WIDTH; j++)
		out[j] = tanhf(out[j]);
	length = sqrtf(dot(out, out, WIDTH));
	for (int j = 0; j < WIDTH && length > 0; j++)
		out[j] /= length;
}

/* scorer.c - see scorer.h. */
#include "workers/guard-engine/session/scorer.h"
#include <errno.h>
#include <math.h>

static double clip(double x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

void scorer_init(struct scorer_trait *t)
{
	*t = (struct scorer_trait){.s = SCORER_INITIAL_SCORE};
}

int scorer_weight(double d, double q, double ind, double rec, double *w)
{
	double product;

	if (isnan(d) || isnan(q) || isnan(ind) || isnan(rec))
		return -EINVAL;
	product = clip(d) * clip(q) * (clip(ind) + clip(rec)) / 2;
	*w = product > SCORER_MAX_WEIGHT ? SCORER_MAX_WEIGHT : product;
	return 0;
}

int scorer_add(struct scorer_trait *t, double r, double w, struct scorer_change *change)
{
	struct scorer_trait before = *t;

	if (isnan(r) || isnan(w))
		return -EINVAL;
	r = clip(r);
	w = clip(w);
	if (w > SCORER_MAX_WEIGHT)
		w = SCORER_MAX_WEIGHT;
	if (w > 0) {
		t->s = clip((t->w * t->s + w * r) / (t->w + w));
		t->w += w;
		t->n++;
	}
	if (change)
		*change = (struct scorer_change){
			.r = r, .w = w, .before = before, .after = *t};
	return 0;
}

struct scorer_trait scorer_merge(struct scorer_trait a, struct scorer_trait b)
{
	double w = a.w + b.w;

	return (struct scorer_trait){
		.s = w > 0 ? clip((a.w * a.s + b.w * b.s) / w) : SCORER_INITIAL_SCORE,
		.w = w,
		.n = a.n + b.n,
	};
}

double scorer_confidence(const struct scorer_trait *t, double c)
{
	return t->w / (t->w + c);
}

bool scorer_gate(const struct scorer_trait *traits, int count, double c, double tau,
	int64_t min_samples)
{
	for (int i = 0; i < count; i++) {
		if (traits[i].n == 0 || traits[i].n < min_samples)
			return false;
		if (scorer_confidence(&traits[i], c) < tau)
			return false;
	}
	return true;
}

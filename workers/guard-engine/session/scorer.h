/*
 * scorer.h - the weighted-mean scorer of the session guard (G10).
 *
 * Per trait a mean S, an evidence mass W and a number of samples n. Pure; called by
 * session_guard.c. The result does not depend on the order of the samples (to 1e-12).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SCORER_INITIAL_SCORE 0.5
#define SCORER_MAX_WEIGHT 1.0

struct scorer_trait {
	double s;  /* weighted mean, 0 to 1 */
	double w;  /* evidence mass */
	int64_t n; /* samples of a weight above 0 */
};

/* What one sample did. */
struct scorer_change {
	double r, w; /* as counted, after clipping */
	struct scorer_trait before, after;
};

void scorer_init(struct scorer_trait *t);

/* Weight of a sample from difficulty, quality and the independence and recency of the
 * evidence, each clipped to 0..1: d * q * (ind + rec) / 2, at most SCORER_MAX_WEIGHT. 0,
 * or -EINVAL when one is not a number. */
int scorer_weight(double d, double q, double ind, double rec, double *w)
	__attribute__((warn_unused_result));

/* Adds a sample, r and w clipped to 0..1. A weight of 0 changes nothing. `change` may be
 * NULL. 0, or -EINVAL with nothing changed when r or w is not a number. */
int scorer_add(struct scorer_trait *t, double r, double w, struct scorer_change *change)
	__attribute__((warn_unused_result));

/* The trait that all samples of both would have given. */
struct scorer_trait scorer_merge(struct scorer_trait a, struct scorer_trait b);

/* W / (W + c). */
double scorer_confidence(const struct scorer_trait *t, double c);

/* True when every trait was ever seen, has `min_samples` and a confidence of at least
 * `tau`. */
bool scorer_gate(const struct scorer_trait *traits, int count, double c, double tau,
	int64_t min_samples);

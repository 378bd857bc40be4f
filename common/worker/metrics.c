/* metrics.c - see metrics.h. */
#include "common/worker/metrics.h"
#include "proto/tables/methods.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct series {
	enum metric metric;
	struct metric_labels labels;
	double value; /* of a histogram: the sum of what was observed */
	int64_t count;
	int64_t within[METRIC_LIMIT_COUNT]; /* by the lowest limit that it keeps */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct series all[METRIC_SERIES_MAX];
static size_t all_count;

/* ---- labels ---- */

/* Appends a byte of a value, escaped as the text format wants it. False when it does not fit: room for the closing
 * quote stays. */
static bool put_value_byte(struct metric_labels *labels, char c)
{
	bool escaped = c == '"' || c == '\\' || c == '\n';

	if (labels->len + escaped + 2 > sizeof(labels->text))
		return false;
	if (escaped)
		labels->text[labels->len++] = '\\';
	labels->text[labels->len++] = c == '\n' ? 'n' : c;
	return true;
}

void metric_label(struct metric_labels *labels, const char *name, const char *value)
{
	const size_t left = sizeof(labels->text) - labels->len;
	const int len = snprintf(labels->text + labels->len, left, "%s%s=\"",
		labels->len ? "," : "", name);

	if ((size_t)len + 2 > left)
		return;
	labels->len += (size_t)len;
	while (*value && put_value_byte(labels, *value))
		value++;
	labels->text[labels->len++] = '"';
}

/* ---- counting ---- */

static bool same(
	const struct series *s, enum metric metric, const struct metric_labels *labels)
{
	return s->metric == metric && s->labels.len == labels->len &&
	       memcmp(s->labels.text, labels->text, labels->len) == 0;
}

/* NULL when there are too many. With the lock. */
static struct series *series_of(enum metric metric, const struct metric_labels *labels)
{
	static const struct metric_labels none;
	struct series *s;

	if (!labels)
		labels = &none;
	for (size_t i = 0; i < all_count; i++)
		if (same(&all[i], metric, labels))
			return &all[i];
	if (all_count == METRIC_SERIES_MAX)
		return NULL;
	s = &all[all_count++];
	*s = (struct series){.metric = metric, .labels = *labels};
	return s;
}

void metric_add(enum metric metric, const struct metric_labels *labels, double n)
{
	struct series *s;

	pthread_mutex_lock(&lock);
	s = series_of(metric, labels);
	if (s)
		s->value += n;
	pthread_mutex_unlock(&lock);
}

void metric_observe(
	enum metric metric, const struct metric_labels *labels, double seconds)
{
	struct series *s;
	size_t i = 0;

	while (i < METRIC_LIMIT_COUNT && seconds > metric_limits[i])
		i++;
	pthread_mutex_lock(&lock);
	s = series_of(metric, labels);
	if (s) {
		s->value += seconds;
		s->count++;
		if (i < METRIC_LIMIT_COUNT)
			s->within[i]++;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- printing ---- */

static void print_value(const struct series *s, struct buf *out)
{
	const char *name = metric_infos[s->metric].name;

	if (s->labels.len)
		buf_printf(out, "%s{%.*s} %.15g\n", name, (int)s->labels.len,
			s->labels.text, s->value);
	else
		buf_printf(out, "%s %.15g\n", name, s->value);
}

static void print_histogram(const struct series *s, struct buf *out)
{
	const char *name = metric_infos[s->metric].name;
	const int len = (int)s->labels.len;
	const char *comma = len ? "," : "";
	int64_t count = 0;

	for (size_t i = 0; i < METRIC_LIMIT_COUNT; i++) {
		count += s->within[i];
		buf_printf(out, "%s_bucket{%.*s%sle=\"%g\"} %" PRId64 "\n", name, len,
			s->labels.text, comma, metric_limits[i], count);
	}
	buf_printf(out, "%s_bucket{%.*s%sle=\"+Inf\"} %" PRId64 "\n", name, len,
		s->labels.text, comma, s->count);
	buf_printf(out, "%s_sum{%.*s} %.15g\n", name, len, s->labels.text, s->value);
	buf_printf(
		out, "%s_count{%.*s} %" PRId64 "\n", name, len, s->labels.text, s->count);
}

void metric_print_head(
	struct buf *out, const char *name, const char *kind, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

static void print_metric(enum metric metric, struct buf *out)
{
	const struct metric_info *info = &metric_infos[metric];

	metric_print_head(out, info->name, metric_kind_names[info->kind], info->help);
	for (size_t i = 0; i < all_count; i++) {
		if (all[i].metric != metric)
			continue;
		if (info->kind == METRIC_HISTOGRAM)
			print_histogram(&all[i], out);
		else
			print_value(&all[i], out);
	}
}

void metrics_print(enum worker_id worker, struct buf *out)
{
	pthread_mutex_lock(&lock);
	for (int metric = 0; metric < METRIC_COUNT; metric++)
		if (metric_infos[metric].worker == worker)
			print_metric((enum metric)metric, out);
	pthread_mutex_unlock(&lock);
}

int metrics_method(enum worker_id worker)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.metrics", worker_infos[worker].name);
	return method_by_name(str_of(name));
}

void metrics_reset(void)
{
	pthread_mutex_lock(&lock);
	all_count = 0;
	pthread_mutex_unlock(&lock);
}

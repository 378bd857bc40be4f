/* memory.c - memories across sessions (memory.h). */
#include "workers/llm/memory/memory.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/worker/metrics.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/memory/chroma.h"
#include "workers/llm/memory/embedder.h"
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct memory {
	struct embedder *embedder;
	pthread_mutex_t embedding; /* the embedder serves one caller at a time */
	struct chroma *chroma;	   /* NULL: memory.db */
	atomic_bool kept_by_store; /* memory.db could be used the last time */
};

struct memory *memory_new(const struct settings *settings)
{
	struct memory *m = xcalloc(1, sizeof(*m));

	m->kept_by_store = true;
	pthread_mutex_init(&m->embedding, NULL);
	m->embedder = embedder_open(settings->embedding_model_dir);
	if (settings->memory == MEMORY_CHROMA)
		m->chroma = chroma_new(settings->chromadb_url, embedder_name(m->embedder),
			embedder_size(m->embedder));
	return m;
}

void memory_connect(struct memory *m, struct flow *flow)
{
	struct bus_reply reply;
	struct written count;

	if (m->chroma)
		chroma_connect(m->chroma, flow);
	else
		m->kept_by_store = ask(flow, METHOD_MEMORY_COUNT, &(struct empty){0},
					   &count, &reply) == 0;
}

bool memory_available(const struct memory *m)
{
	return m->chroma ? chroma_available(m->chroma) : m->kept_by_store;
}

bool memory_chroma_available(const struct memory *m)
{
	return m->chroma && chroma_available(m->chroma);
}

static void make_vector(struct memory *m, struct str text, float *out)
{
	pthread_mutex_lock(&m->embedding);
	embed(m->embedder, text, out);
	pthread_mutex_unlock(&m->embedding);
}

/* ---- keeping ---- */

static struct str join_tags(struct flow *flow, struct strs tags)
{
	AUTO_BUF joined = {0};

	for (size_t i = 0; i < tags.count; i++) {
		if (i)
			buf_add_char(&joined, ',');
		for (size_t k = 0; k < tags.items[i].len; k++)
			if (tags.items[i].ptr[k] != ',')
				buf_add_char(&joined, tags.items[i].ptr[k]);
	}
	return arena_str(&flow->arena, buf_str(&joined));
}

static struct str encode_vector(struct flow *flow, const float *vector, int size)
{
	size_t bytes = (size_t)size * sizeof(float);
	unsigned char *text = arena_alloc(&flow->arena, bytes * 4 / 3 + 8);
	int n = EVP_EncodeBlock(
		text, (const unsigned char *)(const void *)vector, (int)bytes);

	return (struct str){(const char *)text, (size_t)n};
}

/* The records of memories; ids are filled in from `first` on, or left to the store when
 * it is negative. */
static struct memory_record *make_records(struct flow *flow,
	const struct new_memory *memories, size_t count, struct str session_id,
	struct str project, long first)
{
	struct memory_record *records =
		arena_array(&flow->arena, count, sizeof(*records));
	char now[WALL_ISO_SIZE];

	wall_iso(clock_wall(), now);
	for (size_t i = 0; i < count; i++)
		records[i] = (struct memory_record){
			.id = first < 0 ? STR_LIT("")
					: arena_printf(&flow->arena, "mem_%.*s_%ld",
						  STR_ARG(session_id), first + (long)i),
			.content = memories[i].content,
			.session_id = session_id,
			.project = project,
			.created_at = arena_str(&flow->arena, str_of(now)),
			.importance = str_of(
				urgency_enumeration()->names[memories[i].importance]),
			.tags = join_tags(flow, memories[i].tags)};
	return records;
}

static size_t keep_in_store(struct memory *m, struct flow *flow,
	struct memory_record *records, const float *vectors, size_t count)
{
	struct memory_add add = {.embedder = str_of(embedder_name(m->embedder))};
	int size = embedder_size(m->embedder);
	struct bus_reply reply;
	struct written written;

	for (size_t i = 0; i < count; i++)
		records[i].embedding =
			encode_vector(flow, vectors + i * (size_t)size, size);
	add.memories.items = records;
	add.memories.count = count;
	m->kept_by_store =
		tell_once(flow, METHOD_MEMORY_ADD, &add, &written, &reply) == 0;
	if (m->kept_by_store)
		return (size_t)written.count;
	log_warn("memories not kept", "error", "%.*s", STR_ARG(reply.message), NULL);
	return 0;
}

size_t memory_keep(struct memory *m, struct flow *flow, const struct new_memory *memories,
	size_t count, struct str session_id, struct str project)
{
	int size = embedder_size(m->embedder);
	struct memory_record *records;
	float *vectors;
	long first = -1;

	if (count == 0) /* EC-48 */
		return 0;
	if (m->chroma) {
		if (!chroma_connect(m->chroma, flow))
			return 0;
		first = chroma_next_index(m->chroma, flow, session_id);
		if (first < 0)
			return 0;
	}
	records = make_records(flow, memories, count, session_id, project, first);
	vectors = arena_array(&flow->arena, count * (size_t)size, sizeof(float));
	for (size_t i = 0; i < count; i++)
		make_vector(m, memories[i].content, vectors + i * (size_t)size);
	if (!m->chroma)
		return keep_in_store(m, flow, records, vectors, count);
	return chroma_add(m->chroma, flow, records, vectors, count) ? count : 0;
}

/* ---- finding ---- */

static bool find(struct memory *m, struct flow *flow, struct str text, int results,
	struct str project, struct memory_hits *hits)
{
	float vector[EMBEDDING_MAX];
	struct memory_search search;
	struct bus_reply reply;

	if (m->chroma && !chroma_connect(m->chroma, flow))
		return false;
	make_vector(m, text, vector);
	if (m->chroma)
		return chroma_query(m->chroma, flow, vector, results, project, hits);
	search = (struct memory_search){.embedder = str_of(embedder_name(m->embedder)),
		.embedding = encode_vector(flow, vector, embedder_size(m->embedder)),
		.text = text,
		.count = results,
		.has_count = true,
		.project = project};
	m->kept_by_store = ask(flow, METHOD_MEMORY_SEARCH, &search, hits, &reply) == 0;
	if (!m->kept_by_store)
		log_warn("memories not searched", "error", "%.*s", STR_ARG(reply.message),
			NULL);
	return m->kept_by_store;
}

struct memory_hits memory_find(struct memory *m, struct flow *flow, struct str text,
	int results, struct str project)
{
	struct memory_hits hits = {0};
	struct metric_labels labels = {.len = 0};
	bool done = find(m, flow, text, results, project, &hits);

	if (!done)
		hits = (struct memory_hits){0};
	metric_label(&labels, "outcome",
		!done		      ? "failed"
		: hits.memories.count ? "found"
				      : "nothing");
	metric_add(METRIC_MEMORY_SEARCHES, &labels, 1);
	return hits;
}

/* chroma.c - a Chroma server (chroma.h), by version 2 of its API. */
#include "workers/llm/memory/chroma.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CONNECT_MS 3000
#define OPERATION_MS 15000
#define ANSWER_MAX_BYTES (32u * 1024 * 1024)
#define BATCH_DEFAULT 1000
#define ID_SIZE 64
#define COLLECTIONS                                                                      \
	"/api/v2/tenants/default_tenant/databases/default_database/collections"

struct chroma {
	const char *url, *embedder;
	int size;
	atomic_bool available;
	bool told_unavailable; /* one warning for one outage */
	pthread_mutex_t lock;  /* guards what follows, and told_unavailable */
	char id[ID_SIZE];
	size_t batch;
};

struct chroma *chroma_new(const char *url, const char *embedder, int size)
{
	struct chroma *c = xcalloc(1, sizeof(*c));

	c->url = url;
	c->embedder = embedder;
	c->size = size;
	c->batch = BATCH_DEFAULT;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

bool chroma_available(const struct chroma *c)
{
	return atomic_load(&c->available);
}

/* ---- requests ---- */

/*
 * Sends a request and parses the answer's JSON. The document is kept by the flow. NULL
 * unless the server answered with a status of 200 or 201 and JSON; *status tells, 0 for
 * no answer.
 */
static yyjson_val *request(struct chroma *c, struct flow *flow, const char *method,
	struct str path, struct str body, int64_t timeout_ms, int *status)
{
	static const char *const headers[] = {"content-type: application/json", NULL};
	struct http_request message = {.method = method,
		.url = arena_printf(&flow->arena, "%s%.*s", c->url, STR_ARG(path)).ptr,
		.headers = headers,
		.body = body,
		.timeout_ms = timeout_ms,
		.max_bytes = ANSWER_MAX_BYTES,
		.cancelled = flow_cancelled(flow)};
	struct http_response response = {0};
	yyjson_doc *doc = NULL;

	http_perform(flow->http, &message, &response);
	*status = response.outcome == HTTP_ANSWERED ? response.status : 0;
	if (*status == 200 || *status == 201)
		doc = yyjson_read(response.body.data ? response.body.data : "",
			response.body.len, 0);
	http_response_fini(&response);
	if (!doc)
		return NULL;
	flow_keep_document(flow, doc);
	return yyjson_doc_get_root(doc);
}

/* The server did not do what was asked: it counts as away until it is found again. */
static void lose(struct chroma *c, const char *operation, int status)
{
	pthread_mutex_lock(&c->lock);
	c->id[0] = '\0';
	pthread_mutex_unlock(&c->lock);
	atomic_store(&c->available, false);
	log_warn("ChromaDB operation failed, memories are left out", "operation", "%s",
		operation, "status", "%d", status, NULL);
}

static struct str collection_path(struct chroma *c, struct flow *flow, const char *verb)
{
	struct str path;

	pthread_mutex_lock(&c->lock);
	path = arena_printf(&flow->arena, COLLECTIONS "/%s/%s", c->id, verb);
	pthread_mutex_unlock(&c->lock);
	return path;
}

/* ---- connecting ---- */

static bool take_collection(struct chroma *c, yyjson_val *answer)
{
	const char *id = yyjson_get_str(yyjson_obj_get(answer, "id"));
	yyjson_val *dimension = yyjson_obj_get(answer, "dimension");
	yyjson_val *embedder =
		yyjson_obj_get(yyjson_obj_get(answer, "metadata"), "embedder");
	bool other =
		(yyjson_is_int(dimension) && yyjson_get_int(dimension) != c->size) ||
		(yyjson_is_str(embedder) && !yyjson_equals_str(embedder, c->embedder));

	if (!id || strlen(id) >= ID_SIZE)
		return false;
	if (other) {
		log_warn("ChromaDB's collection was made with another embedder, memories "
			 "are left out",
			"collection", "%s", CHROMA_COLLECTION, "embedder", "%s",
			yyjson_is_str(embedder) ? yyjson_get_str(embedder) : "unknown",
			"dimension", "%lld", (long long)yyjson_get_sint(dimension),
			"ours", "%s", c->embedder, "our_dimension", "%d", c->size, NULL);
		return false;
	}
	pthread_mutex_lock(&c->lock);
	snprintf(c->id, sizeof(c->id), "%s", id);
	pthread_mutex_unlock(&c->lock);
	return true;
}

static void learn_batch_size(struct chroma *c, struct flow *flow)
{
	int status;
	yyjson_val *answer = request(c, flow, "GET", STR_LIT("/api/v2/pre-flight-checks"),
		(struct str){NULL, 0}, CONNECT_MS, &status);
	yyjson_val *size = yyjson_obj_get(answer, "max_batch_size");

	pthread_mutex_lock(&c->lock);
	c->batch =
		yyjson_get_uint(size) > 0 ? (size_t)yyjson_get_uint(size) : BATCH_DEFAULT;
	pthread_mutex_unlock(&c->lock);
}

static void tell(struct chroma *c, bool available)
{
	bool told;

	pthread_mutex_lock(&c->lock);
	told = c->told_unavailable;
	c->told_unavailable = !available;
	pthread_mutex_unlock(&c->lock);
	if (available) {
		log_info("ChromaDB connected \xE2\x80\x94 collection " CHROMA_COLLECTION
			 " ready",
			"url", "%s", c->url, NULL);
	} else if (!told) {
		AUTO_BUF text = {0};

		buf_printf(&text,
			"ChromaDB unavailable at %s \xE2\x80\x94 memory features "
			"disabled",
			c->url);
		buf_add_char(&text, '\0');
		log_warn(text.data, NULL);
	}
}

bool chroma_connect(struct chroma *c, struct flow *flow)
{
	AUTO_BUF body = {0};
	yyjson_val *answer;
	bool ok;
	int status;

	if (chroma_available(c))
		return true;
	buf_printf(&body,
		"{\"name\":\"" CHROMA_COLLECTION
		"\",\"get_or_create\":true,\"configuration\":{\"hnsw\":"
		"{\"space\":\"cosine\"}},\"metadata\":{\"embedder\":\"%s\",\"dimension\":"
		"%d}}",
		c->embedder, c->size);
	answer = request(c, flow, "POST", STR_LIT(COLLECTIONS), buf_str(&body),
		CONNECT_MS, &status);
	ok = answer && take_collection(c, answer);
	if (ok) {
		learn_batch_size(c, flow);
		atomic_store(&c->available, true);
	}
	tell(c, ok);
	return ok;
}

/* ---- operations ---- */

long chroma_next_index(struct chroma *c, struct flow *flow, struct str session_id)
{
	AUTO_BUF body = {0};
	size_t i, max;
	yyjson_val *answer, *id;
	long next = 0;
	int status;

	buf_add_str(&body, STR_LIT("{\"where\":{\"session_id\":"));
	buf_add_json_string(&body, session_id);
	buf_add_str(&body, STR_LIT("},\"include\":[]}"));
	answer = request(c, flow, "POST", collection_path(c, flow, "get"), buf_str(&body),
		OPERATION_MS, &status);
	if (!answer) {
		lose(c, "get", status);
		return -1;
	}
	yyjson_arr_foreach(yyjson_obj_get(answer, "ids"), i, max, id)
	{
		const char *text = yyjson_get_str(id),
			   *last = text ? strrchr(text, '_') : NULL;
		long index = last ? strtol(last + 1, NULL, 10) : -1;

		if (index >= next)
			next = index + 1;
	}
	return next;
}

static void add_vector(struct buf *body, const float *vector, int size)
{
	buf_add_char(body, '[');
	for (int i = 0; i < size; i++)
		buf_printf(body, "%s%.7g", i ? "," : "", (double)vector[i]);
	buf_add_char(body, ']');
}

static void add_metadata(struct buf *body, const struct memory_record *r)
{
	const struct {
		const char *name;
		struct str value;
	} entries[] = {
		{"session_id", r->session_id},
		{"project", r->project},
		{"created_at", r->created_at},
		{"importance", r->importance},
		{"tags", r->tags},
	};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		buf_printf(body, "%c\"%s\":", i ? ',' : '{', entries[i].name);
		buf_add_json_string(body, entries[i].value);
	}
	buf_add_char(body, '}');
}

static void build_add(struct chroma *c, struct buf *body,
	const struct memory_record *records, const float *vectors, size_t count)
{
	buf_add_str(body, STR_LIT("{\"ids\":["));
	for (size_t i = 0; i < count; i++) {
		buf_add_str(body, i ? STR_LIT(",") : STR_LIT(""));
		buf_add_json_string(body, records[i].id);
	}
	buf_add_str(body, STR_LIT("],\"embeddings\":["));
	for (size_t i = 0; i < count; i++) {
		buf_add_str(body, i ? STR_LIT(",") : STR_LIT(""));
		add_vector(body, vectors + i * (size_t)c->size, c->size);
	}
	buf_add_str(body, STR_LIT("],\"documents\":["));
	for (size_t i = 0; i < count; i++) {
		buf_add_str(body, i ? STR_LIT(",") : STR_LIT(""));
		buf_add_json_string(body, records[i].content);
	}
	buf_add_str(body, STR_LIT("],\"metadatas\":["));
	for (size_t i = 0; i < count; i++) {
		buf_add_str(body, i ? STR_LIT(",") : STR_LIT(""));
		add_metadata(body, &records[i]);
	}
	buf_add_str(body, STR_LIT("]}"));
}

bool chroma_add(struct chroma *c, struct flow *flow, const struct memory_record *records,
	const float *vectors, size_t count)
{
	size_t batch;

	pthread_mutex_lock(&c->lock);
	batch = c->batch;
	pthread_mutex_unlock(&c->lock);
	for (size_t done = 0; done < count; done += batch) {
		size_t n = count - done < batch ? count - done : batch;
		AUTO_BUF body = {0};
		yyjson_val *answer;
		int status;

		build_add(c, &body, records + done, vectors + done * (size_t)c->size, n);
		answer = request(c, flow, "POST", collection_path(c, flow, "add"),
			buf_str(&body), OPERATION_MS, &status);
		if (!answer) {
			lose(c, "add", status);
			return false;
		}
	}
	return true;
}

static void take_hits(struct flow *flow, yyjson_val *answer, struct memory_hits *hits)
{
	yyjson_val *ids = yyjson_arr_get_first(yyjson_obj_get(answer, "ids"));
	yyjson_val *documents = yyjson_arr_get_first(yyjson_obj_get(answer, "documents"));
	yyjson_val *metadatas = yyjson_arr_get_first(yyjson_obj_get(answer, "metadatas"));
	yyjson_val *distances = yyjson_arr_get_first(yyjson_obj_get(answer, "distances"));
	size_t count = yyjson_arr_size(ids);

	hits->memories.items =
		arena_array(&flow->arena, count + 1, sizeof(*hits->memories.items));
	hits->memories.count = 0;
	for (size_t i = 0; i < count; i++) {
		yyjson_val *id = yyjson_arr_get(ids, i),
			   *document = yyjson_arr_get(documents, i);
		yyjson_val *metadata = yyjson_arr_get(metadatas, i);

		/* What others put into the collection without a text is no memory of
		 * ours. */
		if (!yyjson_is_str(id) || !yyjson_is_str(document) ||
			!yyjson_is_obj(metadata))
			continue;
		hits->memories.items[hits->memories.count++] = (struct memory_hit){
			.id = {yyjson_get_str(id), yyjson_get_len(id)},
			.content = {yyjson_get_str(document), yyjson_get_len(document)},
			.metadata = {.val = metadata},
			.distance = yyjson_get_num(yyjson_arr_get(distances, i)),
			.has_distance = true};
	}
}

bool chroma_query(struct chroma *c, struct flow *flow, const float *vector, int results,
	struct str project, struct memory_hits *hits)
{
	AUTO_BUF body = {0};
	yyjson_val *answer;
	int status;

	buf_add_str(&body, STR_LIT("{\"query_embeddings\":["));
	add_vector(&body, vector, c->size);
	buf_printf(&body, "],\"n_results\":%d,", results);
	if (project.ptr) {
		buf_add_str(&body, STR_LIT("\"where\":{\"project\":"));
		buf_add_json_string(&body, project);
		buf_add_str(&body, STR_LIT("},"));
	}
	buf_add_str(&body,
		STR_LIT("\"include\":[\"documents\",\"metadatas\",\"distances\"]}"));
	answer = request(c, flow, "POST", collection_path(c, flow, "query"),
		buf_str(&body), OPERATION_MS, &status);
	if (!answer) {
		lose(c, "query", status);
		return false;
	}
	take_hits(flow, answer, hits);
	return true;
}

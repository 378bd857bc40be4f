/* weights.c - the weights of a TensorFlow.js model (weights.h). */
#include "workers/llm/memory/weights.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "workers/llm/memory/tokenizer.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yyjson.h>

#define MAX_BYTES (64u << 20)
#define MAX_SHARDS 16

struct weights {
	yyjson_doc *manifest;
	char *base;   /* MAX_BYTES of address space, the shards at its beginning */
	size_t bytes; /* in the shards */
};

static yyjson_doc *read_json(const char *dir, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return NULL;
	return yyjson_read_file(path, 0, NULL, NULL);
}

/* Maps one shard behind those before it. All but the last fill whole pages. */
static int map_shard(struct weights *w, const char *dir, const char *name)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[4096];
	struct stat st;
	AUTO_FD fd = -1;
	void *at;

	if (strchr(name, '/') ||
		snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
		w->bytes % page != 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || st.st_size <= 0 ||
		(size_t)st.st_size > MAX_BYTES - w->bytes)
		return -1;
	at = mmap(w->base + w->bytes, (size_t)st.st_size, PROT_READ,
		MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (at == MAP_FAILED)
		return -1;
	w->bytes += (size_t)st.st_size;
	return 0;
}

static int map_shards(struct weights *w, const char *dir)
{
	yyjson_val *group = yyjson_arr_get_first(
		yyjson_obj_get(yyjson_doc_get_root(w->manifest), "weightsManifest"));
	yyjson_val *paths = yyjson_obj_get(group, "paths"), *path;
	size_t i, max;

	if (yyjson_arr_size(paths) == 0 || yyjson_arr_size(paths) > MAX_SHARDS)
		return -1;
	yyjson_arr_foreach(paths, i, max,
		path) if (!yyjson_is_str(path) ||
			  map_shard(w, dir, yyjson_get_str(path)) < 0) return -1;
	return 0;
}

struct weights *weights_open(const char *dir, const char **reason)
{
	struct weights *w = xcalloc(1, sizeof(*w));

	w->manifest = read_json(dir, "model.json");
	if (!w->manifest) {
		*reason = "model.json is missing or not JSON";
		goto fail;
	}
	w->base = mmap(NULL, MAX_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->base == MAP_FAILED) {
		w->base = NULL;
		*reason = "no address space for the weights";
		goto fail;
	}
	if (map_shards(w, dir) < 0) {
		*reason = "a file of weights is missing or has the wrong size";
		goto fail;
	}
	return w;
fail:
	weights_close(w);
	return NULL;
}

void weights_close(struct weights *w)
{
	if (!w)
		return;
	yyjson_doc_free(w->manifest);
	if (w->base)
		munmap(w->base, MAX_BYTES);
	free(w);
}

static size_t tensor_count(yyjson_val *tensor)
{
	size_t i, max, count = 1;
	yyjson_val *n;

	yyjson_arr_foreach(yyjson_obj_get(tensor, "shape"), i, max, n)
	{
		uint64_t size = yyjson_get_uint(n);

		if (size == 0 || count > MAX_BYTES / size)
			return 0;
		count *= (size_t)size;
	}
	return count;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n >= m && strcmp(name + n - m, suffix) == 0;
}

const float *weights_find(const struct weights *w, const char *suffix, size_t count)
{
	yyjson_val *group = yyjson_arr_get_first(
		yyjson_obj_get(yyjson_doc_get_root(w->manifest), "weightsManifest"));
	size_t i, max, offset = 0;
	yyjson_val *tensor;

	yyjson_arr_foreach(yyjson_obj_get(group, "weights"), i, max, tensor)
	{
		const char *name = yyjson_get_str(yyjson_obj_get(tensor, "name"));
		size_t n = tensor_count(tensor);

		if (!name || n == 0 || n * sizeof(float) > w->bytes - offset)
			return NULL;
		if (ends_in(name, suffix))
			return n >= count
				       ? (const float *)(const void *)(w->base + offset)
				       : NULL;
		offset += n * sizeof(float); /* integers, too, take four bytes */
	}
	return NULL;
}

struct tokenizer *weights_vocabulary(const char *dir)
{
	yyjson_doc *doc = read_json(dir, "vocab.json");
	struct tokenizer *tokenizer = NULL;
	size_t len;
	AUTO_FREE char *text = NULL;

	if (!doc)
		return NULL;
	text = yyjson_write(doc, 0, &len);
	yyjson_doc_free(doc);
	if (text)
		tokenizer = tokenizer_new((struct str){text, len});
	return tokenizer;
}

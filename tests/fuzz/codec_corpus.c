/* codec_corpus.c - writes the seed corpus of fuzz_codec into a directory: one sample of
 * every type. */
#include "proto/codec/messages.h"
#include "tests/unit/proto/sample.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int write_sample(const char *dir, size_t index)
{
	struct rng rng = {.state = index};
	struct buf out = {0};
	char path[4096];
	FILE *file;
	int result = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, message_types[index]()->name);
	buf_add_char(&out, (char)(index & 0xFF));
	buf_add_char(&out, (char)(index >> 8 << 1));
	sample_add(&rng, message_types[index](), true, &out);
	file = fopen(path, "we");
	if (!file || fwrite(out.data, 1, out.len, file) != out.len)
		result = -errno;
	if (file && fclose(file) != 0)
		result = -errno;
	if (result < 0)
		fprintf(stderr, "codec_corpus: %s: %s\n", path, strerror(-result));
	buf_free(&out);
	return result;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: codec_corpus DIR\n", stderr);
		return 2;
	}
	if (mkdir(argv[1], 0755) < 0 && errno != EEXIST) {
		fprintf(stderr, "codec_corpus: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	for (size_t i = 0; i < message_type_count; i++)
		if (write_sample(argv[1], i) < 0)
			return 1;
	return 0;
}

/*
 * fuzz_codec.c - libFuzzer target: whatever arrives is refused with a text or round
 * trips.
 *
 * The first byte chooses the type, the second the mode, the rest is the text. Built with
 * -Dfuzz=true and clang; the seed corpus is one sample of every type (codec_corpus.c).
 */
#include "common/base/utf8.h"
#include "proto/codec/messages.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_codec: %s\n", what);
	abort();
}

/* Decodes and encodes; false when the text was refused. */
static bool recode(
	const struct type *type, struct str text, enum decode_mode mode, struct buf *out)
{
	struct proto_error error = {{0}};
	yyjson_doc *doc = proto_parse(text, &error);
	struct arena arena = {0};
	void *message = malloc(type->size);
	bool taken = false;

	must(message != NULL, "out of memory");
	if (doc)
		taken = proto_decode(type, yyjson_doc_get_root(doc), "payload", mode,
				&arena, message, &error) == 0;
	if (taken)
		proto_encode(type, message, out);
	else
		must(error.text[0] && utf8_valid(str_of(error.text)),
			"an error without a proper text");
	free(message);
	arena_free(&arena);
	yyjson_doc_free(doc);
	return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct type *type;
	enum decode_mode mode;
	struct buf once = {0}, twice = {0};

	if (size < 2)
		return 0;
	type = message_types[((size_t)data[0] | (size_t)(data[1] >> 1) << 8) %
			     message_type_count]();
	mode = data[1] & 1 ? DECODE_STRICT : DECODE_LENIENT;
	buf_add_json_string(&once, (struct str){(const char *)data + 2, size - 2});
	must(utf8_valid(buf_str(&once)), "an encoded string is not UTF-8");
	buf_clear(&once);
	if (recode(type, (struct str){(const char *)data + 2, size - 2}, mode, &once)) {
		must(recode(type, buf_str(&once), DECODE_STRICT, &twice),
			"what was written is refused");
		must(str_eq(buf_str(&once), buf_str(&twice)),
			"what was written is written differently");
	}
	buf_free(&once);
	buf_free(&twice);
	return 0;
}

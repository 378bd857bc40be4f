/* errors.c - the table behind errors.h. */
#include "proto/tables/errors.h"

const struct error_code_info error_code_infos[ERROR_CODE_COUNT] = {
#define ERROR_CODE(symbol, status, doc_)                                                 \
	[ERROR_##symbol] = {.name = #symbol, .http_status = status, .doc = doc_},
#include "proto/catalogue/errors.def"
#undef ERROR_CODE
};

int error_code_by_name(struct str name)
{
	for (int i = 0; i < ERROR_CODE_COUNT; i++)
		if (str_is(name, error_code_infos[i].name))
			return i;
	return -1;
}

/* query.c - see query.h. */
#include "workers/gateway/web/query.h"
#include <string.h>

struct str query_value(struct str query, const char *name)
{
	size_t n = strlen(name);

	while (query.len > 0) {
		const char *amp = memchr(query.ptr, '&', query.len);
		size_t len = amp ? (size_t)(amp - query.ptr) : query.len;

		if (len > n && memcmp(query.ptr, name, n) == 0 && query.ptr[n] == '=')
			return (struct str){query.ptr + n + 1, len - n - 1};
		query.ptr += len + (amp ? 1 : 0);
		query.len -= len + (amp ? 1 : 0);
	}
	return (struct str){NULL, 0};
}

bool query_is_number(struct str value)
{
	for (size_t i = 0; i < value.len; i++)
		if (value.ptr[i] < '0' || value.ptr[i] > '9')
			return false;
	return value.len > 0 && value.len < 16 && (value.len == 1 || value.ptr[0] != '0');
}

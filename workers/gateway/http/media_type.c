/* media_type.c - see media_type.h. */
#include "workers/gateway/http/media_type.h"
#include "workers/gateway/http/access.h"
#include <strings.h>

/* An element without its parameters. */
static struct str bare(struct str element)
{
	const char *semicolon = memchr(element.ptr, ';', element.len);

	if (semicolon)
		element.len = (size_t)(semicolon - element.ptr);
	while (element.len > 0 && (element.ptr[element.len - 1] == ' ' ||
					  element.ptr[element.len - 1] == '\t'))
		element.len--;
	return element;
}

/* Whether the weight is zero: ;q=0, ;q=0.0, ... */
static bool refused(struct str element)
{
	const char *p = element.ptr, *end = element.ptr + element.len;

	while ((p = memchr(p, ';', (size_t)(end - p)))) {
		p++;
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (end - p < 3 || (*p != 'q' && *p != 'Q') || p[1] != '=')
			continue;
		for (p += 2; p < end && (*p == '0' || *p == '.'); p++)
			;
		return p == end || *p == ' ' || *p == ';';
	}
	return false;
}

bool media_type_is(struct str content_type, const char *type)
{
	return content_type.ptr && str_is_nocase(bare(content_type), type);
}

bool media_type_named(struct str accept, const char *type)
{
	struct str element;

	while (accept.ptr && list_next(&accept, &element))
		if (str_is_nocase(bare(element), type))
			return !refused(element);
	return false;
}

bool media_type_accepted(struct str accept, const char *type)
{
	const char *slash = strchr(type, '/');
	size_t group = slash ? (size_t)(slash - type) + 1 : 0;
	struct str element, list = accept;

	if (!accept.ptr || accept.len == 0)
		return true;
	while (list_next(&list, &element)) {
		struct str range = bare(element);
		bool matches = str_is_nocase(range, type) || str_is(range, "*/*") ||
			       (range.len == group + 1 && range.ptr[group] == '*' &&
				       strncasecmp(range.ptr, type, group) == 0);

		if (matches && !refused(element))
			return true;
	}
	return false;
}

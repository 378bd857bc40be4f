/* log_json.c - see log_json.h. Called by command_logs.c. */
#include "supervisor/paigectl/logs/log_json.h"

#include <string.h>

static void advance(struct str *rest, size_t n)
{
	rest->ptr += n;
	rest->len -= n;
}

/* Behind the opening quote. One that was cut off has no closing one. */
static void take_quoted(struct str *rest, struct buf *value)
{
	while (rest->len > 0 && *rest->ptr != '"') {
		char c = *rest->ptr;

		if (c == '\\' && rest->len > 1 && strchr("\"\\n", rest->ptr[1])) {
			advance(rest, 1);
			c = *rest->ptr == 'n' ? '\n' : *rest->ptr;
		}
		buf_add_char(value, c);
		advance(rest, 1);
	}
	if (rest->len > 0)
		advance(rest, 1);
}

/* Takes "name=value" and the blank behind it. */
static bool take_field(struct str *rest, struct str *name, struct buf *value)
{
	size_t n = 0;

	while (n < rest->len && !strchr("= \"", rest->ptr[n]))
		n++;
	if (n == 0 || n == rest->len || rest->ptr[n] != '=')
		return false;
	*name = (struct str){rest->ptr, n};
	advance(rest, n + 1);
	if (rest->len > 0 && *rest->ptr == '"') {
		advance(rest, 1);
		take_quoted(rest, value);
	} else {
		for (; rest->len > 0 && *rest->ptr != ' '; advance(rest, 1))
			buf_add_char(value, *rest->ptr);
	}
	if (rest->len > 0 && *rest->ptr != ' ')
		return false;
	if (rest->len > 0)
		advance(rest, 1);
	return true;
}

void log_json_line(struct str line, struct buf *out)
{
	const size_t begin = out->len;
	struct str rest = line, name;
	AUTO_BUF value = {0};
	bool fields = str_starts(line, "ts=");

	while (fields && rest.len > 0) {
		buf_clear(&value);
		fields = take_field(&rest, &name, &value);
		buf_add_char(out, out->len == begin ? '{' : ',');
		buf_add_json_string(out, name);
		buf_add_char(out, ':');
		buf_add_json_string(out, value.len ? buf_str(&value) : STR_LIT(""));
	}
	if (!fields) {
		out->len = begin;
		buf_add_str(out, STR_LIT("{\"text\":"));
		buf_add_json_string(out, line);
	}
	buf_add_char(out, '}');
}

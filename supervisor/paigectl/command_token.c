/* command_token.c - paigectl token. */
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include "supervisor/shared/token.h"
#include <errno.h>
#include <stdio.h>

/* Longer than the supervisor itself waits for the gateway. */
#define ROTATE_MS 200000

/* By the daemon when it runs: it tells the gateway. */
static int rotate(const struct daemon_place *place)
{
	char token[TOKEN_SIZE];
	AUTO_DOC *doc = NULL;
	int error;

	if (place->pid)
		return client_ask(place, STR_LIT("{\"command\":\"rotate_token\"}"),
			ROTATE_MS, &doc);
	error = token_make(place->data_dir, token);
	if (error)
		return paigectl_fail(PAIGECTL_FAILED, "cannot write %s/token: %s",
			place->data_dir, strerror(-error));
	return PAIGECTL_DONE;
}

static int print(const struct options *o, const struct daemon_place *place)
{
	char token[TOKEN_SIZE];
	int error = token_read(place->data_dir, token);

	if (error == -ENOENT)
		return paigectl_fail(PAIGECTL_FAILED,
			"there is no token in %s yet; the daemon makes one at its first "
			"start",
			place->data_dir);
	if (error == -EPERM || error == -EINVAL)
		return paigectl_fail(PAIGECTL_FAILED,
			"%s/token %s; make a new one with `paigectl token --rotate`",
			place->data_dir,
			error == -EPERM ? "can be read by others, or is another user's"
					: "holds no token");
	if (error)
		return paigectl_fail(PAIGECTL_FAILED, "cannot read %s/token: %s",
			place->data_dir, strerror(-error));
	if (options_get(o, "json"))
		return paigectl_print_message(paigectl_token_type(),
			&(struct paigectl_token){.token = str_of(token)});
	puts(token);
	return PAIGECTL_DONE;
}

int paigectl_token(const struct options *o)
{
	AUTO_PLACE place = {0};
	int code = place_find(o, &place);

	if (code == 0 && options_get(o, "rotate"))
		code = rotate(&place);
	if (code == 0)
		code = print(o, &place);
	return code;
}

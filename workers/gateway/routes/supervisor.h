/*
 * supervisor.h - what only the supervisor can tell or do, for windows of whoever runs the
 * daemon: status:request, status:follow, settings:request, worker:restart, worker:log,
 * doctor:request.
 *
 * Decides which windows may ask; daemon/supervisor_ask.h asks. Called by routes.c.
 */
#pragma once

#include <stdbool.h>

struct ws_message;

void supervisor_on_message(const struct ws_message *message);
/* For status:follow. Answers NOT_ALLOWED when not. From now on the supervisor is asked once
 * a second, as long as a window follows. */
bool supervisor_may_follow(const struct ws_message *message);

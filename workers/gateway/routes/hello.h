/*
 * hello.h - connection:hello: who is there, and what a window needs to begin or to go on
 * (FR-053).
 *
 * connection:init comes first. A window that resumes is then sent the broadcasts it
 * missed; every other one the tree, and the state of the session when it asked to resume
 * something that is no longer kept.
 */
#pragma once

struct ws_message;

#define HELLO_PROTOCOL_VERSION 1

void hello_on_message(const struct ws_message *message);

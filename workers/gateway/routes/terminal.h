/* terminal.h - the size of a window's terminal, kept with its connection (P5.24). */
#pragma once

struct ws_message;

void terminal_on_size(const struct ws_message *message);

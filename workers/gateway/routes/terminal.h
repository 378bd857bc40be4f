/* terminal.h - the size of a window's terminal, kept with its connection (P5.24). */
#ifndef PAIGE_GATEWAY_ROUTES_TERMINAL_H
#define PAIGE_GATEWAY_ROUTES_TERMINAL_H

struct ws_message;

void terminal_on_size(const struct ws_message *message);

#endif

/*
 * costs.h - GET /cost?days=N: what calls to Claude cost, as cost:request tells windows; for paigectl.
 */
#pragma once

struct gateway;
struct http_request;

/* Answers a cost_totals; 400 when `days` is no number, or out of its range. */
void costs_handle(struct gateway *g, struct http_request *request);

/* health.h - GET /health and GET /ready (FR-004). */
#pragma once

struct gateway;
struct http_request;

void health_answer(struct gateway *g, struct http_request *request);
void health_answer_ready(struct gateway *g, struct http_request *request);

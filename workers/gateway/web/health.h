/* health.h - GET /health and GET /ready (FR-004). */
#ifndef PAIGE_GATEWAY_WEB_HEALTH_H
#define PAIGE_GATEWAY_WEB_HEALTH_H

struct gateway;
struct http_request;

void health_answer(struct gateway *g, struct http_request *request);
void health_answer_ready(struct gateway *g, struct http_request *request);

#endif

/*
 * mirror_request.h - GET /mirror: whether the learner has agreed that what they do is carried to PostgreSQL; POST /mirror
 * {"allow": true or false}: they decide. For paigectl.
 */
#pragma once

struct gateway;
struct http_request;

/* Answers a mirror_consent; 400 for a body that is no mirror_decision. */
void mirror_request_handle(struct gateway *g, struct http_request *request);

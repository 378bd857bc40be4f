/*
 * agents.h - /agent: clients of the agent worker, over WebSocket.
 *
 * Forwards messages unread: a client's message is a call to the worker, a message to the
 * client an event agent/<connectionId>. When events were missed, or the worker was
 * restarted, its clients are closed with AGENTS_CODE_RESTART: a client that reconnects
 * gets the history.
 */
#pragma once

struct gateway;
struct http_request;

#define AGENTS_CODE_RESTART 1012

/* Nothing without AGENT_COMMAND. Called by main.c before the loop runs. */
void agents_start(struct gateway *g);
void agents_upgrade(struct gateway *g, struct http_request *request);

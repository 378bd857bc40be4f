/*
 * metrics.h - what the gateway counts, and GET /metrics in Prometheus text format.
 *
 * Counters are plain fields that the parts increase. The table METRICS is the one list of
 * them. Others are asked for what they count: each worker that is up (common/worker/metrics.h), and the supervisor, which
 * knows memory and disk. The answer waits for them for a second at most, and goes out without those that did not come.
 */
#ifndef PAIGE_GATEWAY_HTTP_METRICS_H
#define PAIGE_GATEWAY_HTTP_METRICS_H

#include <stdint.h>

struct gateway;
struct http_request;

/* METRIC(member, kind, name, help) */
#define METRICS(METRIC)                                                                  \
	METRIC(http_requests, "counter", "paige_http_requests_total",                    \
		"HTTP requests answered.")                                               \
	METRIC(http_refused, "counter", "paige_http_refused_total",                      \
		"Requests refused by the access rules.")                                 \
	METRIC(http_connections, "gauge", "paige_http_connections",                      \
		"HTTP connections that have sent something.")                            \
	METRIC(http_slow, "counter", "paige_http_slow_total",                            \
		"Connections cut because a request came too slowly, or an answer was "   \
		"not read.")                                                             \
	METRIC(ws_clients, "gauge", "paige_ws_clients", "Editor windows connected.")     \
	METRIC(ws_received, "counter", "paige_ws_messages_received_total",               \
		"Messages received from windows.")                                       \
	METRIC(ws_sent, "counter", "paige_ws_messages_sent_total",                       \
		"Messages sent to windows.")                                             \
	METRIC(ws_broadcasts, "counter", "paige_ws_broadcasts_total",                    \
		"Messages meant for every window.")                                      \
	METRIC(ws_slow, "counter", "paige_ws_slow_total",                                \
		"Windows closed because they did not read.")                             \
	METRIC(ws_invalid, "counter", "paige_ws_invalid_total",                          \
		"Messages answered with INVALID_MESSAGE.")                               \
	METRIC(ws_unknown, "counter", "paige_ws_unknown_total",                          \
		"Messages of an unknown type.")                                          \
	METRIC(ws_resumed, "counter", "paige_ws_resumed_total", "Windows that resumed.") \
	METRIC(mcp_requests, "counter", "paige_mcp_requests_total",                      \
		"MCP messages received.")                                                \
	METRIC(mcp_tool_calls, "counter", "paige_mcp_tool_calls_total",                  \
		"MCP tools called.")                                                     \
	METRIC(mcp_tool_errors, "counter", "paige_mcp_tool_errors_total",                \
		"MCP tool calls that failed.")                                           \
	METRIC(mcp_sessions, "gauge", "paige_mcp_sessions", "MCP sessions in memory.")   \
	METRIC(mcp_streams, "gauge", "paige_mcp_streams", "MCP event streams open.")

struct gateway_metrics {
#define METRIC(member, kind, name, help) uint64_t member;
	METRICS(METRIC)
#undef METRIC
};

void metrics_answer(struct gateway *g, struct http_request *request);

#endif

/* health.c - see health.h; what is said is in fleet_view.c. */
#include "workers/gateway/web/health.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"

void health_answer(struct gateway *g, struct http_request *request)
{
	AUTO_BUF out = {0};
	int status = fleet_view_health(&g->fleet, clock_mono(), &out);

	http_reply(request, status, "application/json", buf_str(&out));
}

void health_answer_ready(struct gateway *g, struct http_request *request)
{
	if (fleet_view_ready(&g->fleet))
		http_reply(request, 200, "application/json", STR_LIT("{\"ready\":true}"));
	else
		http_reply(
			request, 503, "application/json", STR_LIT("{\"ready\":false}"));
}

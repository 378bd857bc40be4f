/* costs.c - see costs.h. */
#include "workers/gateway/web/costs.h"
#include "common/base/buf.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_call.h"
#include "workers/gateway/web/query.h"

void costs_handle(struct gateway *g, struct http_request *request)
{
	struct str days = query_value(request->query, "days");
	AUTO_BUF body = {0};

	if (days.ptr && !query_is_number(days)) {
		http_reply_error(request, 400,
			"days: expected a whole number, got \"%.*s\"", STR_ARG(days));
		return;
	}
	if (days.ptr)
		buf_printf(&body, "{\"days\":%.*s}", STR_ARG(days));
	else
		buf_add_str(&body, STR_LIT("{}"));
	http_call(g, request, METHOD_API_CALL_COSTS, &body, 200);
}

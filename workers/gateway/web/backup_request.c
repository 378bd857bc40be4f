/* backup_request.c - see backup_request.h. */
#include "workers/gateway/web/backup_request.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_call.h"

void backup_request_handle(struct gateway *g, struct http_request *request)
{
	AUTO_BUF body = {0};

	if (!http_call_may_post(request))
		return;
	buf_add_str(&body, STR_LIT("{}"));
	http_call(g, request, METHOD_STORE_BACKUP, &body, 200);
}

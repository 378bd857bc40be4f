/* backup.c - see backup.h. */
#include "workers/gateway/web/backup.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_call.h"

void backup_handle(struct gateway *g, struct http_request *request)
{
	if (http_call_may_post(request))
		http_call(g, request, METHOD_STORE_BACKUP, STR_LIT("{}"), 200);
}

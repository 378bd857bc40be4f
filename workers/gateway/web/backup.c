/* backup.c - see backup.h. */
#include "workers/gateway/backup.h"
#include "workers/gateway/http.h"
#include "workers/gateway/http_call.h"

void backup_handle(struct gateway *g, struct http_request *request)
{
	if (http_call_may_post(request))
		http_call(g, request, METHOD_STORE_BACKUP, STR_LIT("{}"), 200);
}

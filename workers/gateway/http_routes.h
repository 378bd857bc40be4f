/* http_routes.h - the table of paths (contract section 3). */
#ifndef PAIGE_GATEWAY_HTTP_ROUTES_H
#define PAIGE_GATEWAY_HTTP_ROUTES_H

#include "workers/gateway/http.h"

struct http_route {
	const char *path;
	bool prefix;	  /* everything below it too */
	unsigned methods; /* enum evhttp_cmd_type, or-ed */
	const char *allow;
	enum access_rules rules;
	void (*handle)(struct gateway *g, struct http_request *request);
};

/* NULL: 404. */
const struct http_route *http_route_of(struct str path);

#endif

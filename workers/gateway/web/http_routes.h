/* http_routes.h - the table of paths. */
#ifndef PAIGE_GATEWAY_WEB_HTTP_ROUTES_H
#define PAIGE_GATEWAY_WEB_HTTP_ROUTES_H

#include "workers/gateway/http/http.h"

extern const struct http_site http_site;

#endif

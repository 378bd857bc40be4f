/* http_routes.h - the table of paths. */
#pragma once

#include "workers/gateway/http/http.h"

extern const struct http_site http_site;

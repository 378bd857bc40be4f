/* no_proxy.h - what is reached without a proxy, for CURLOPT_NOPROXY. */
#pragma once

#include "common/base/buf.h"

/* Appends what no_proxy or else NO_PROXY names, and this machine: a proxy elsewhere
 * cannot reach it, and has no business with what is meant for it. */
void no_proxy_list(struct buf *out);

/*
 * services.h - the handlers of services.def, declared.
 */
#ifndef PAIGE_STORE_SERVICE_SERVICES_H
#define PAIGE_STORE_SERVICE_SERVICES_H

struct store;
struct call;

#define SERVICE(method, handler, flags)                                                  \
	int handler(struct store *store, struct call *call);
#include "workers/store/service/services.def"
#undef SERVICE

#endif

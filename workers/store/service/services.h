/*
 * services.h - the handlers of services.def, declared.
 */
#ifndef PAIGE_STORE_SERVICES_H
#define PAIGE_STORE_SERVICES_H

struct store;
struct call;

#define SERVICE(method, handler, flags)                                                  \
	int handler(struct store *store, struct call *call);
#include "workers/store/services.def"
#undef SERVICE

#endif

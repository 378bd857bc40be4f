/* services.c - the table of services (store.h). */
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

const struct service services[] = {
#define STORE_METHOD(symbol, name, handler_, service, ...)                               \
	{.method = METHOD_##symbol, .handler = handler_, .flags = service},
#include "proto/catalogue/methods.def"
};

const size_t services_count = sizeof(services) / sizeof(services[0]);

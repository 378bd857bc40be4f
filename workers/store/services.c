/* services.c - the table of services.def. */
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

const struct service services[] = {
#define SERVICE(method_, handler_, flags_)                                               \
	{.method = METHOD_##method_, .handler = handler_, .flags = flags_},
#include "workers/store/service/services.def"
#undef SERVICE
};

const size_t services_count = sizeof(services) / sizeof(services[0]);

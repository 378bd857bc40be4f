/*
 * confine_gaps.c - what this kernel's Landlock leaves open (confine.h). Apart from
 * confine.c because the supervisor, which confines nobody, tells it in the status.
 */
#include "common/confine/confine.h"
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_RULESET_VERSION 1u

int confine_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

const char *confine_gap(int abi, bool broker, size_t n)
{
	static const struct {
		int closed_by;
		bool by_broker;
		const char *what;
	} gaps[] = {
#define GAP(abi_, release, broker_, what_, attacks) {abi_, broker_, what_},
#include "common/confine/confine_gaps.def"
#undef GAP
	};

	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++)
		if (gaps[i].closed_by > abi && !(broker && gaps[i].by_broker) && n-- == 0)
			return gaps[i].what;
	return NULL;
}
